/** Who may speak to Curfew inside of the account, and whose key encrypts what it keeps. */
import { describe, expect, it } from 'vitest';
import { toConstructId } from '../../packages/curfew-cdk/src/construct-id.ts';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { PERMISSIONS } from '../../shared/contract/permissions.ts';
import { roleStatements, synthesize, type Synthesized } from './synthesized.ts';

const MONITOR = 'arn:aws:iam::123456789012:role/monitor';
const ON_CALL = 'arn:aws:iam::123456789012:role/on-call*';
const KEY = 'arn:aws:kms:eu-west-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e';
const plain = synthesize();
const closed = synthesize({ operatorPrincipals: [ON_CALL], drainPrincipals: [MONITOR], drainSources: ['nvsentinel'] });

interface Deny {
  readonly Sid?: string;
  readonly Condition: {
    readonly ArnNotLike: { readonly 'aws:PrincipalArn': readonly (string | { readonly 'Fn::GetAtt': string[] })[] };
  };
}
/** `TimerRole…` → `Timer`; a pattern as it is. */
const nameOf = (principal: string | { readonly 'Fn::GetAtt': string[] }): string =>
  typeof principal === 'string' ? principal : (principal['Fn::GetAtt'][0] ?? '').replace(/Role[0-9A-F]{8}$/, '');
const sparedBy = ({ Condition }: Deny): readonly string[] =>
  Condition.ArnNotLike['aws:PrincipalArn'].map(nameOf).toSorted();

/** The statements that close inboxes, by the function whose it is. */
function denials({ functionsTemplate }: Synthesized): Readonly<Record<string, Deny>> {
  return Object.fromEntries(
    Object.values(functionsTemplate.findResources('AWS::SQS::QueuePolicy')).flatMap(({ Properties }) => {
      const owner = String(Properties.Queues[0].Ref).replace(/Inbox[0-9A-F]{8}$/, '');
      const own = Properties.PolicyDocument.Statement.find(({ Sid }: Deny) => Sid === 'OnlyCurfew');
      return own === undefined ? [] : [[owner, own]];
    }),
  );
}

describe('an inbox', () => {
  it.each(FUNCTION_NAMES)('of %s takes messages from nobody in the account but those that send to it', name => {
    const deny = denials(plain)[toConstructId(name)];
    expect(deny).toMatchObject({
      Effect: 'Deny',
      Action: 'sqs:SendMessage',
      Principal: { AWS: '*' },
      // Rules deliver as a service of AWS.
      Condition: { Bool: { 'aws:PrincipalIsAWSService': 'false' } },
    });
    const wakes = FUNCTION_NAMES.filter(each => each === name || PERMISSIONS[each].wakes.includes(name));
    expect(deny && sparedBy(deny)).toEqual([...wakes.map(toConstructId), 'Scheduler'].toSorted());
  });

  it('takes them from operators that the deployment names', () => {
    for (const deny of Object.values(denials(closed))) expect(sparedBy(deny)).toContain(ON_CALL);
    expect(Object.keys(denials(closed))).toHaveLength(FUNCTION_NAMES.length);
  });
});

describe('the bus', () => {
  it('takes events from whoever has the permission, unless the deployment names who may', () => {
    plain.functionsTemplate.resourceCountIs('AWS::Events::EventBusPolicy', 0);
    const [policy] = Object.values(closed.functionsTemplate.findResources('AWS::Events::EventBusPolicy'));
    expect(policy?.['Properties'].Statement).toMatchObject({
      Effect: 'Deny',
      Principal: '*',
      Action: 'events:PutEvents',
      Condition: { Bool: { 'aws:PrincipalIsAWSService': 'false' } },
    });
    const publishing = FUNCTION_NAMES.filter(name => PERMISSIONS[name].publishesAs.length > 0).map(toConstructId);
    expect(sparedBy(policy?.['Properties'].Statement)).toEqual(
      ['ClusterAccessForwarder', ...publishing, MONITOR].toSorted(),
    );
  });

  it('routes requests to drain from any source, or from those alone that the deployment names and from repair', () => {
    const patternOf = ({ functionsTemplate }: Synthesized) =>
      Object.entries(functionsTemplate.findResources('AWS::Events::Rule')).find(([id]) =>
        id.startsWith('RequestsToDrain'),
      )?.[1]['Properties'].EventPattern;
    expect(patternOf(plain)).not.toHaveProperty('source');
    expect(patternOf(closed)).toMatchObject({ source: ['nvsentinel', 'curfew.repair'] });
    const others = ({ functionsTemplate }: Synthesized) =>
      Object.entries(functionsTemplate.findResources('AWS::Events::Rule'))
        .filter(([id]) => !id.startsWith('RequestsToDrain'))
        .map(([, { Properties }]) => Properties.EventPattern.source);
    expect(others(closed)).toEqual(others(plain));
  });
});

it('one role sends what schedules send, and may do nothing else', () => {
  const { functionsTemplate } = plain;
  const roles = Object.entries(functionsTemplate.findResources('AWS::IAM::Role')).filter(([, { Properties }]) =>
    JSON.stringify(Properties.AssumeRolePolicyDocument).includes('scheduler.amazonaws.com'),
  );
  expect(roles).toHaveLength(1);
  const [id = ''] = roles[0] ?? [];
  for (const { Properties } of Object.values(functionsTemplate.findResources('AWS::Scheduler::Schedule'))) {
    expect(Properties.Target.RoleArn).toEqual({ 'Fn::GetAtt': [id, 'Arn'] });
  }
  const statements = roleStatements(functionsTemplate).filter(({ role }) => role === id);
  expect(statements.map(({ statement }) => statement.Action)).toEqual(['sqs:SendMessage']);
  expect(statements[0]?.statement.Resource).toHaveLength(FUNCTION_NAMES.length);
});

describe('with a KMS key of the deployment', () => {
  const env = { account: '123456789012', region: 'eu-west-1' };
  const encrypted = synthesize({ env, encryptionKeyArn: KEY });
  const all = (type: string): readonly unknown[] =>
    [encrypted.stateTemplate, encrypted.functionsTemplate].flatMap(template =>
      Object.values(template.findResources(type)).map(({ Properties }) => Properties),
    );

  it.each([
    ['AWS::SQS::Queue', 11, { KmsMasterKeyId: KEY }],
    ['AWS::Logs::LogGroup', 5, { KmsKeyId: KEY }],
    ['AWS::Lambda::Function', 5, { KmsKeyArn: KEY }],
    ['AWS::DynamoDB::GlobalTable', 1, { SSESpecification: { SSEEnabled: true, SSEType: 'KMS' } }],
  ])('%s is encrypted by it', (type, count, expected) => {
    expect(all(type)).toHaveLength(count);
    for (const each of all(type)) expect(each).toMatchObject(expected);
    expect(JSON.stringify(all('AWS::DynamoDB::GlobalTable'))).toContain(KEY);
  });

  it('each function and the schedules may use it, through the services that keep things', () => {
    const users = roleStatements(encrypted.functionsTemplate).filter(({ statement }) =>
      JSON.stringify(statement.Action).includes('kms:'),
    );
    expect(new Set(users.map(({ role }) => role.replace(/Role[0-9A-F]{8}$/, '')))).toEqual(
      new Set([...FUNCTION_NAMES.map(toConstructId), 'Scheduler']),
    );
    const own = users.filter(({ statement }) => statement.Condition !== undefined);
    expect(own).toHaveLength(FUNCTION_NAMES.length + 1);
    for (const { statement } of own) {
      expect(statement.Resource).toBe(KEY);
      expect(JSON.stringify(statement.Condition)).toContain('kms:ViaService');
    }
  });

  it('nothing names a key without it', () => {
    expect(JSON.stringify([plain.stateTemplate.toJSON(), plain.functionsTemplate.toJSON()])).not.toMatch(/kms/i);
  });
});
