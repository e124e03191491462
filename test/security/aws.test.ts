/** What `docs/security.md` says of AWS: who can reach anything of Curfew's, and by what. */
import { describe, expect, it } from 'vitest';
import { ENV } from '../../shared/contract/env.ts';
import { roleStatements, synthesize } from '../infra/synthesized.ts';

const { functionsTemplate, stateTemplate } = synthesize();
const templates = [functionsTemplate, stateTemplate];
const typesOf = templates.flatMap(template => Object.values(template.toJSON()['Resources']).map(typeOf));
const ofType = (type: string) => templates.flatMap(template => Object.values(template.findResources(type)));

function typeOf(resource: unknown): string {
  return String(Reflect.get(Object(resource), 'Type'));
}

interface PolicyStatement {
  readonly Effect: string;
  readonly Principal: unknown;
  readonly Condition?: Readonly<Record<string, unknown>>;
}
const statementsOf = (type: string, document: string): readonly PolicyStatement[] =>
  ofType(type).flatMap(({ Properties }) => Properties[document].Statement);

describe('nobody outside of the account', () => {
  it('reaches anything: there is no URL, no permission and no policy for others', () => {
    const opens = /::(Url|Permission|EventBusPolicy|ResourcePolicy|LayerVersionPermission|ApiDestination|Archive)$/;
    expect(typesOf.length).toBeGreaterThan(100);
    expect(typesOf.filter(type => opens.test(type))).toEqual([]);
    for (const { Properties } of ofType('AWS::DynamoDB::GlobalTable')) {
      expect(JSON.stringify(Properties)).not.toContain('ResourcePolicy');
    }
  });

  it('sends to a queue: EventBridge alone may, for rules of this account', () => {
    const allowed = statementsOf('AWS::SQS::QueuePolicy', 'PolicyDocument').filter(({ Effect }) => Effect === 'Allow');
    expect(allowed.length).toBeGreaterThan(10);
    for (const { Principal, Condition } of allowed) {
      expect(Principal).toEqual({ Service: 'events.amazonaws.com' });
      const sources = Object.values(Condition ?? {}).map(keys => JSON.stringify(keys));
      expect(sources).toHaveLength(1);
      // The rule itself, or an ARN with this account in it.
      expect(sources[0]).toMatch(/^\{"aws:SourceArn":(\{"Fn::GetAtt"|.*"AWS::AccountId")/);
    }
  });

  it('takes a role: only services may, and those that serve everybody by a condition', () => {
    const services = statementsOf('AWS::IAM::Role', 'AssumeRolePolicyDocument').map(({ Principal, Condition }) => {
      const names = JSON.stringify(Principal).match(/"[a-z.]+\.amazonaws\.com"/g);
      return `${names?.join(' ')} ${Condition === undefined ? 'any' : 'with condition'}`;
    });
    expect([...new Set(services)].toSorted()).toEqual([
      '"lambda.amazonaws.com" any',
      '"pods.eks.amazonaws.com" with condition',
      '"scheduler.amazonaws.com" with condition',
    ]);
  });
});

it('functions hold no secret: their variables are names, URLs and the public certificate of the cluster', () => {
  const names = ofType('AWS::Lambda::Function').flatMap(({ Properties }) =>
    Object.keys(Properties.Environment.Variables),
  );
  const known: readonly string[] = Object.values(ENV);
  expect(names.filter(name => !known.includes(name))).toEqual([]);
  expect(JSON.stringify(templates.map(template => template.toJSON()))).not.toMatch(
    /secretsmanager|AWS::SSM::Parameter::Value<Sec|resolve:ssm-secure/,
  );
});

it('no role may change a permission, code, or what others may do', () => {
  const actions = roleStatements(functionsTemplate).flatMap(({ statement }) => statement.Action);
  const services = [...new Set(actions.map(action => action.replace(/:.*/, '')))].toSorted();
  expect(services).toEqual(['autoscaling', 'dynamodb', 'ec2', 'events', 'logs', 'sqs']);
  expect(actions.filter(action => /Policy|Permission|Role|Tag|Create(?!LogStream)/.test(action))).toEqual([]);
});
