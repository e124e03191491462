import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../infra/config.ts';
import { synthesize } from './synthesized.ts';

const readDocument = (name: string): string => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');

/** The properties by which CloudFormation names a resource of a type that the templates have. */
const NAMES_OF_TYPES = [
  'AlarmName',
  'DashboardName',
  'GroupName',
  'LogGroupName',
  'QueueName',
  'RoleName',
  'TableName',
];

describe('configuration', () => {
  it('may leave out everything: the construct has the defaults', () => {
    expect(parseConfig(undefined)).toEqual({ name: 'Curfew' });
    const { functionsTemplate } = synthesize({});
    functionsTemplate.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 180 });
    functionsTemplate.resourceCountIs('AWS::CloudWatch::Dashboard', 1);
  });

  it('may come as JSON text, as the command line passes it', () => {
    expect(parseConfig('{"logRetentionDays": 30}').logRetentionDays).toBe(30);
  });

  it('is refused with the name of each key that is wrong', () => {
    const wrong = {
      cluster: {
        name: 'prod',
        endpoint: 'http://plain',
        certificateAuthority: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==',
      },
      logRetentionDays: 31,
      runbookUrl: 'docs/runbook.md',
      colour: 'red',
    };
    expect(() => parseConfig(wrong)).toThrow(
      /curfew\.cluster\.endpoint: .+\n[^]*curfew\.logRetentionDays: .+\n[^]*curfew\.runbookUrl: .+\n[^]*curfew\.colour: .*/,
    );
  });

  it.each([
    [{ clusters: {} }, /curfew\.clusters: unknown key; there are name, env, cluster, /],
    [
      { cluster: { name: 'prod' } },
      /curfew\.cluster\.endpoint: is missing\n {2}curfew\.cluster\.certificateAuthority: is missing$/,
    ],
    [{ cluster: { endpoint: 'http://plain' } }, /curfew\.cluster\.endpoint: must be a URL that begins with https:\/\//],
    [{ env: { account: '1', region: 'eu-west-1' } }, /curfew\.env\.account: must be the 12 digits of an account/],
    [
      { privateAccess: { vpcId: 'vpc-1' } },
      /curfew\.privateAccess\.vpcId: must be an id such as vpc-0123456789abcdef0/,
    ],
    [{ runbookUrl: 'docs/runbook.md' }, /curfew\.runbookUrl: must be an absolute URL/],
  ])('says of %j what to write instead', (context, message) => {
    expect(() => parseConfig(context)).toThrow(message);
  });

  // Functions would be deployed that trust nobody.
  it.each(['', 'DATA', 'https://ABC.gr7.eu-west-1.eks.amazonaws.com', '-----BEGIN CERTIFICATE-----'])(
    'is refused with %j for the CA of the cluster',
    certificateAuthority => {
      const cluster = { name: 'prod', endpoint: 'https://abc.eks.amazonaws.com', certificateAuthority };
      expect(() => parseConfig({ cluster })).toThrow(
        /curfew\.cluster\.certificateAuthority: must be a certificate in base64, as `aws eks describe-cluster` prints it$/,
      );
    },
  );

  // The manifests in deploy/ have fixed names, so no other account could ever get credentials.
  it('is refused with another service account for the forwarder', () => {
    const forwarder = { namespace: 'curfew', serviceAccount: 'other' };
    expect(() => parseConfig({ forwarder })).toThrow(/curfew\.forwarder: cannot be chosen.*deploy\//);
  });

  // CloudFormation would find each of these in the middle of a deployment, or the CDK without the name of the key.
  it.each([
    [
      'alarmTopics.page',
      { alarmTopics: { page: 'arn:aws:sns:oncall' } },
      /curfew\.alarmTopics\.page: must be the ARN of an SNS topic/,
    ],
    [
      'alarmTopics.ticket',
      {
        env: { account: '123456789012', region: 'eu-west-1' },
        alarmTopics: { ticket: 'arn:aws:sns:us-east-1:123456789012:oncall' },
      },
      /curfew\.alarmTopics\.ticket: must be of eu-west-1/,
    ],
    [
      'encryptionKeyArn',
      { encryptionKeyArn: 'arn:aws:kms:eu-west-1:123456789012:alias/curfew' },
      /curfew\.encryptionKeyArn: must be the ARN of a KMS key, not of an alias/,
    ],
    [
      'encryptionKeyArn, of which the Region must be known',
      { encryptionKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e' },
      /curfew\.encryptionKeyArn: needs env/,
    ],
    [
      'encryptionKeyArn of another Region',
      {
        env: { account: '123456789012', region: 'eu-west-1' },
        encryptionKeyArn: 'arn:aws:kms:us-east-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e',
      },
      /curfew\.encryptionKeyArn: must be of eu-west-1/,
    ],
    [
      'drainPrincipals',
      { drainPrincipals: ['arn:aws:sts::123456789012:assumed-role/monitor/session'] },
      /curfew\.drainPrincipals\.0: must be the ARN of an IAM role or user/,
    ],
    ['recordsTable', { recordsTable: 'a/b' }, /curfew\.recordsTable: must be the name of a table/],
    ['operatorPrincipals', { operatorPrincipals: [] }, /curfew\.operatorPrincipals: /],
    ['drainSources', { drainSources: ['a b'] }, /curfew\.drainSources\.0: must be the source of events/],
    ['alarms', { alarms: 'Few' }, /curfew\.alarms: .*"Full"\|"Essential"/],
    ['terminationsPerHour', { terminationsPerHour: 0 }, /curfew\.terminationsPerHour: .*>=1/],
    ['env.region', { env: { account: '123456789012', region: 'Ireland' } }, /curfew\.env\.region: .*Region/],
    [
      'privateAccess.privateSubnetIds',
      {
        privateAccess: {
          vpcId: 'vpc-0123456789abcdef0',
          clusterSecurityGroupId: 'sg-0123456789abcdef0',
          availabilityZones: ['eu-west-1a', 'eu-west-1b'],
          privateSubnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1', 'subnet-0123456789abcdef2'],
        },
      },
      /curfew\.privateAccess\.privateSubnetIds: must be as many in each of the 2 availabilityZones/,
    ],
  ])('is refused with the name of %s where AWS or the CDK would refuse it', (_, context, message) => {
    expect(() => parseConfig(context)).toThrow(message);
  });

  // `CurfewState` is a stack of the deployment `Curfew`: one would be deployed over the other.
  it.each(['CurfewState', 'State'])(
    'is refused with the name %s, which may be the state stack of another deployment',
    name => {
      expect(() => parseConfig({ name })).toThrow(/curfew\.name: must not end in State/);
    },
  );

  it('is refused with the name of the bus that every account has', () => {
    expect(() => parseConfig({ name: 'default' })).toThrow(/curfew\.name: must not be default/);
  });

  it.each(['Statements', 'CurfewEstate', 'Stateful'])('takes the name %s', name => {
    expect(parseConfig({ name }).name).toBe(name);
  });

  it('takes a topic of the Region that is deployed to, whichever partition it is in', () => {
    for (const [partition, region] of [
      ['aws', 'eu-west-1'],
      ['aws-cn', 'cn-north-1'],
      ['aws-us-gov', 'us-gov-west-1'],
      ['aws-eusc', 'eusc-de-east-1'],
    ]) {
      const alarmTopics = { page: `arn:${partition}:sns:${region}:123456789012:on-call` };
      const env = { account: '123456789012', region };
      expect(parseConfig({ env, alarmTopics }).alarmTopics).toEqual(alarmTopics);
    }
  });

  it('is refused when it is not JSON', () => {
    expect(() => parseConfig('{')).toThrow('curfew: must be JSON');
  });

  it('has parameters without a default for the cluster when the context does not name one', () => {
    const { functionsTemplate } = synthesize({});
    const parameters = functionsTemplate.findParameters('*', { Type: 'String', MinLength: 1 });
    expect(Object.keys(parameters).toSorted()).toEqual([
      'ClusterCertificateAuthority',
      'ClusterEndpoint',
      'ClusterName',
    ]);
    for (const parameter of Object.values(parameters)) expect(parameter).not.toHaveProperty('Default');
  });

  it('refuses parameters that cannot be those of a cluster, before anything is deployed', () => {
    const { functionsTemplate } = synthesize({});
    const taken = (name: string, value: string): boolean =>
      new RegExp(functionsTemplate.findParameters(name)[name]?.['AllowedPattern']).test(value);
    const endpoint = 'https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com';
    for (const [name, good, bad] of [
      ['ClusterName', ['prod', 'my_cluster-2'], ['', '-prod', 'a b', 'arn:aws:eks:eu-west-1:1:cluster/prod']],
      [
        'ClusterEndpoint',
        [endpoint, `${endpoint}/`],
        ['abc.eks.amazonaws.com', 'http://abc', `${endpoint}\n`, 'https://'],
      ],
      [
        'ClusterCertificateAuthority',
        ['LS0tLS1CRUdJTg==', 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=='],
        ['-----BEGIN CERTIFICATE-----', 'Q0E=\nQ0E=', ''],
      ],
    ] as const) {
      expect([name, ...good.map(value => taken(name, value))]).toEqual([name, ...good.map(() => true)]);
      expect([name, ...bad.map(value => taken(name, value))]).toEqual([name, ...bad.map(() => false)]);
    }
  });

  // The CDK CLI compares with the name of the stack, not with its id, and passes over a parameter of another one.
  it('has its parameters given in docs/deploying.md as the CLI looks for them', () => {
    const { functionsStack, functionsTemplate } = synthesize({});
    const given = [...readDocument('deploying.md').matchAll(/--parameters (\w+:\w+)=/g)].map(
      ([, parameter]) => parameter,
    );
    const parameters = Object.keys(functionsTemplate.findParameters('*', { Type: 'String', MinLength: 1 }));
    expect(new Set(given)).toEqual(new Set(parameters.map(name => `${functionsStack.stackName}:${name}`)));
  });

  it('gives no other resource a name, so that CloudFormation makes them unique and short enough, also under the longest name', () => {
    const name = 'A'.repeat(31);
    const { stateTemplate, functionsTemplate } = synthesize({ name });
    const named = [stateTemplate, functionsTemplate].flatMap(template =>
      Object.values(template.toJSON()['Resources']).flatMap(resource => {
        const { Type: type, Properties: properties = {} } = resource as {
          Type: string;
          Properties?: Record<string, unknown>;
        };
        return ['Name', ...NAMES_OF_TYPES].flatMap(key =>
          typeof properties[key] === 'string' ? [[type, properties[key]]] : [],
        );
      }),
    );
    // A saved query has to have a name, which may be of 255 characters.
    expect(named.filter(([type]) => type !== 'AWS::Logs::QueryDefinition')).toEqual([
      ['AWS::Events::EventBus', name],
      ['AWS::CloudWatch::CompositeAlarm', `${name}-Impaired`],
    ]);
    for (const [, value] of named) expect(JSON.stringify(value).length - 2).toBeLessThanOrEqual(64);
  });

  it('lets functions call FIPS endpoints where it says so', () => {
    const variables = (curfew: Record<string, unknown>): unknown[] =>
      Object.values(synthesize(curfew).functionsTemplate.findResources('AWS::Lambda::Function')).map(
        ({ Properties }) => Properties.Environment.Variables['AWS_USE_FIPS_ENDPOINT'],
      );
    expect(new Set(variables({ fipsEndpoints: true }))).toEqual(new Set(['true']));
    expect(new Set(variables({}))).toEqual(new Set([undefined]));
  });

  it('names the stacks and the bus after the deployment, so that two clusters fit into one account', () => {
    const { stateStack, functionsStack, stateTemplate } = synthesize({ name: 'CurfewStaging' });
    expect([stateStack.stackName, functionsStack.stackName]).toEqual(['CurfewStagingState', 'CurfewStaging']);
    const [bus] = Object.values(stateTemplate.findResources('AWS::Events::EventBus'));
    expect(bus?.['Properties'].Name).toBe('CurfewStaging');
  });
});
