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
    cluster: { name: 'prod', endpoint: 'https://a.example', certificateAuthority: 'Q0E=' },
    drainPrincipals: ['arn:aws:iam::123456789012:role/monitor'],
  });
  const types = new Set(
    [stateTemplate, functionsTemplate].flatMap(template =>
      Object.values<{ Type: string }>(template.toJSON()['Resources']).map(({ Type }) => Type),
    ),
  );

  it('is one', () => expect(policies).toHaveLength(1));

  it.each([...types].toSorted())('lets it make %s', type => {
    const actions = policies.flatMap(({ Statement }) => Statement.flatMap(({ Action }) => Action));
    expect(actions.filter(pattern => covers(pattern, MADE_BY[type] ?? 'unknown'))).not.toEqual([]);
  });

  it('hands roles over, and grants no service that is not used', () => {
    const actions = policies.flatMap(({ Statement }) => Statement.flatMap(({ Action }) => Action));
    expect(actions.some(pattern => covers(pattern, 'iam:PassRole'))).toBe(true);
    const used = new Set([...Object.values(MADE_BY), 's3:', 'ssm:'].map(action => action.split(':')[0]));
    expect(actions.filter(action => !used.has(action.split(':')[0]))).toEqual([]);
  });
});
