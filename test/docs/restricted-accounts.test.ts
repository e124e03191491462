/** The policy that docs/deploying.md gives to CloudFormation lets it make each resource of the templates. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { synthesize } from '../infra/synthesized.ts';
import { blocks } from './documents.ts';
import { documentOf } from './observability.ts';

const list = z.union([z.string().transform(one => [one]), z.array(z.string())]);
const policySchema = z.object({
  Version: z.string(),
  Statement: z.array(z.object({ Effect: z.literal('Allow'), Action: list, Resource: list })),
});

/** What the tags of a type are set by, and on what: CloudFormation gives them as it makes the resource. */
const TAGGED_BY: Readonly<Record<string, readonly [action: string, resource: string]>> = {
  'AWS::CloudWatch::Alarm': ['cloudwatch:TagResource', 'cloudwatch:eu-west-1:123456789012:alarm:Curfew-A'],
  'AWS::CloudWatch::CompositeAlarm': ['cloudwatch:TagResource', 'cloudwatch:eu-west-1:123456789012:alarm:CurfewA'],
  'AWS::CloudWatch::Dashboard': ['cloudwatch:TagResource', 'cloudwatch::123456789012:dashboard/Curfew-A'],
  'AWS::DynamoDB::GlobalTable': ['dynamodb:TagResource', 'dynamodb:eu-west-1:123456789012:table/CurfewState-A'],
  'AWS::EKS::AccessEntry': ['eks:TagResource', 'eks:eu-west-1:123456789012:access-entry/prod/role/123456789012/A/1'],
  'AWS::EKS::PodIdentityAssociation': ['eks:TagResource', 'eks:eu-west-1:123456789012:podidentityassociation/prod/a-1'],
  'AWS::Events::EventBus': ['events:TagResource', 'events:eu-west-1:123456789012:event-bus/Curfew'],
  'AWS::Events::Rule': ['events:TagResource', 'events:eu-west-1:123456789012:rule/Curfew/Curfew-A'],
  'AWS::IAM::Role': ['iam:TagRole', 'iam::123456789012:role/Curfew-A'],
  'AWS::Lambda::EventSourceMapping': [
    'lambda:TagResource',
    'lambda:eu-west-1:123456789012:event-source-mapping:0f8fad5b-d9cb-469f-a165-70867728950e',
  ],
  'AWS::Lambda::Function': ['lambda:TagResource', 'lambda:eu-west-1:123456789012:function:Curfew-A'],
  'AWS::Logs::LogGroup': ['logs:TagResource', 'logs:eu-west-1:123456789012:log-group:Curfew-A'],
  'AWS::SQS::Queue': ['sqs:TagQueue', 'sqs:eu-west-1:123456789012:Curfew-A'],
};

/** One call that makes each type. */
const MADE_BY: Readonly<Record<string, string>> = {
  'AWS::CloudWatch::Alarm': 'cloudwatch:PutMetricAlarm',
  'AWS::CloudWatch::CompositeAlarm': 'cloudwatch:PutCompositeAlarm',
  'AWS::CloudWatch::Dashboard': 'cloudwatch:PutDashboard',
  'AWS::DynamoDB::GlobalTable': 'dynamodb:CreateTable',
  'AWS::EKS::AccessEntry': 'eks:CreateAccessEntry',
  'AWS::EKS::PodIdentityAssociation': 'eks:CreatePodIdentityAssociation',
  'AWS::Events::EventBus': 'events:CreateEventBus',
  'AWS::Events::EventBusPolicy': 'events:PutPermission',
  'AWS::Events::Rule': 'events:PutRule',
  'AWS::IAM::Policy': 'iam:PutRolePolicy',
  'AWS::IAM::Role': 'iam:CreateRole',
  'AWS::Lambda::EventSourceMapping': 'lambda:CreateEventSourceMapping',
  'AWS::Lambda::Function': 'lambda:CreateFunction',
  'AWS::Logs::LogGroup': 'logs:CreateLogGroup',
  'AWS::Logs::MetricFilter': 'logs:PutMetricFilter',
  'AWS::Logs::QueryDefinition': 'logs:PutQueryDefinition',
  'AWS::SQS::Queue': 'sqs:CreateQueue',
  'AWS::SQS::QueuePolicy': 'sqs:SetQueueAttributes',
  'AWS::Scheduler::Schedule': 'scheduler:CreateSchedule',
};

const policies = blocks(documentOf('docs/deploying.md')).flatMap(({ language, lines }) => {
  if (language !== 'json') return [];
  const parsed = policySchema.safeParse(JSON.parse(lines.join('\n')));
  return parsed.success ? [parsed.data] : [];
});

const covers = (pattern: string, action: string): boolean =>
  new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 'i').test(action);

describe('docs/deploying.md, the policy for CloudFormation', () => {
  const { stateTemplate, functionsTemplate } = synthesize({
    cluster: {
      name: 'prod',
      endpoint: 'https://a.example',
      certificateAuthority: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==',
    },
    drainPrincipals: ['arn:aws:iam::123456789012:role/monitor'],
  });
  const resources = [stateTemplate, functionsTemplate].flatMap(template =>
    Object.values<{ Type: string; Properties?: object }>(template.toJSON()['Resources']),
  );
  const types = new Set(resources.map(({ Type }) => Type));
  const tagged = new Set(
    resources.filter(({ Properties = {} }) => 'Tags' in Properties || 'Replicas' in Properties).map(({ Type }) => Type),
  );

  it('is one', () => expect(policies).toHaveLength(1));

  it.each([...types].toSorted())('lets it make %s', type => {
    const actions = policies.flatMap(({ Statement }) => Statement.flatMap(({ Action }) => Action));
    expect(actions.filter(pattern => covers(pattern, MADE_BY[type] ?? 'unknown'))).not.toEqual([]);
  });

  it.each([...tagged].toSorted())('lets it tag %s', type => {
    const [action = 'unknown', resource = ''] = TAGGED_BY[type] ?? [];
    const allowing = policies.flatMap(({ Statement }) =>
      Statement.filter(
        ({ Action, Resource }) =>
          Action.some(pattern => covers(pattern, action)) &&
          Resource.some(pattern => covers(pattern, `arn:aws:${resource}`)),
      ),
    );
    expect(allowing).not.toEqual([]);
  });

  it('hands roles over, and grants no service that is not used', () => {
    const actions = policies.flatMap(({ Statement }) => Statement.flatMap(({ Action }) => Action));
    expect(actions.some(pattern => covers(pattern, 'iam:PassRole'))).toBe(true);
    const used = new Set([...Object.values(MADE_BY), 's3:', 'ssm:'].map(action => action.split(':')[0]));
    expect(actions.filter(action => !used.has(action.split(':')[0]))).toEqual([]);
  });
});
