import { describe, expect, it } from 'vitest';
import { mayBeSent } from '../src/iam/trust.ts';
import { loadAssembly } from '../src/template.ts';
import { roleOf, writeSampleAssembly } from './sample-assembly.ts';

const SCHEDULER = 'scheduler.amazonaws.com';
const PODS = 'pods.eks.amazonaws.com';
const TICK_GROUP = 'arn:aws:scheduler:us-east-1:000000000000:schedule-group/default';

function load(resources: Readonly<Record<string, unknown>> = {}) {
  using assembly = writeSampleAssembly({
    handler: 'export const handler = async () => {};',
    scheduleExpression: 'rate(1 minute)',
    resources,
  });
  return loadAssembly(assembly.dir, {
    region: 'us-east-1',
    account: '000000000000',
    sqsEndpoint: 'http://127.0.0.1:1',
    environment: { CLUSTER_ENDPOINT: 'http://here' },
  });
}

const policyOf = (role: string, Action: string, Resource: unknown = { 'Fn::GetAtt': ['Inbox', 'Arn'] }) => ({
  Type: 'AWS::IAM::Policy',
  Properties: { Roles: [{ Ref: role }], PolicyDocument: { Statement: [{ Effect: 'Allow', Action, Resource }] } },
});
const identity = {
  Type: 'AWS::EKS::PodIdentityAssociation',
  Properties: { ClusterName: 'c', Namespace: 'n', ServiceAccount: 'a', RoleArn: { 'Fn::GetAtt': ['PodRole', 'Arn'] } },
};

describe('the roles of a template', () => {
  it.each([
    ['another service', roleOf('events.amazonaws.com')],
    ['another account', roleOf(SCHEDULER, { 'aws:SourceAccount': '111111111111' })],
    ['another schedule group', roleOf(SCHEDULER, { 'aws:SourceArn': `${TICK_GROUP}s` })],
    // Scheduler says the group, never the schedule.
    [
      'the schedule in place of its group',
      roleOf(SCHEDULER, { 'aws:SourceArn': 'arn:aws:scheduler:::schedule/default/x' }),
    ],
    ['a condition on what Scheduler does not say', roleOf(SCHEDULER, { 'aws:PrincipalTag/team': 'x' })],
  ])('are refused when the one of a schedule trusts %s', (_, TickRole) => {
    expect(() => load({ TickRole })).toThrow(
      /refuse schedule \S+: .*TickRole gives scheduler\.amazonaws\.com no sts:AssumeRole/,
    );
  });

  it('may trust Scheduler for the group, for the account, or altogether', () => {
    const trusts = [{ 'aws:SourceArn': TICK_GROUP }, { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } }, undefined];
    for (const condition of trusts) expect(load({ TickRole: roleOf(SCHEDULER, condition) }).schedules).toHaveLength(1);
  });

  it('are refused when Lambda may not take the one of a function', () => {
    expect(() => load({ WorkerRole: roleOf(SCHEDULER) })).toThrow(
      /refuse function \S+: .*lambda\.amazonaws\.com no sts:AssumeRole/,
    );
  });

  it('are refused when a function has none', () => {
    expect(() => load({ WorkerRole: { Type: 'AWS::SQS::Queue' } })).toThrow(/refuse function \S+: there is no role/);
  });

  it('are refused when Lambda may not receive from the event source', () => {
    const WorkerPolicy = policyOf('WorkerRole', 'sqs:ReceiveMessage');
    expect(() => load({ WorkerPolicy })).toThrow(/refuse the event source of \S+: \S+ has no sqs:DeleteMessage/);
  });

  it('are refused when Pod Identity may not tag the session of a service account', () => {
    expect(() => load({ PodRole: roleOf(PODS), Identity: identity })).toThrow(/identity of n\/a: .* no sts:TagSession/);
  });

  it('may trust Pod Identity for one service account of one cluster, and no other', () => {
    const podRole = (tags: Readonly<Record<string, string>>) => {
      const role = roleOf(PODS, Object.fromEntries(Object.entries(tags).map(([k, v]) => [`aws:RequestTag/${k}`, v])));
      for (const each of role.Properties.AssumeRolePolicyDocument.Statement) {
        Object.assign(each, { Action: ['sts:AssumeRole', 'sts:TagSession'] });
      }
      return role;
    };
    const tags = {
      'eks-cluster-arn': 'arn:aws:eks:us-east-1:000000000000:cluster/c',
      'eks-cluster-name': 'c',
      'kubernetes-namespace': 'n',
      'kubernetes-service-account': 'a',
    };
    expect(load({ PodRole: podRole(tags), Identity: identity }).podIdentities).toHaveLength(1);
    for (const name of Object.keys(tags)) {
      const other = { PodRole: podRole({ ...tags, [name]: 'x' }), Identity: identity };
      expect(() => load(other)).toThrow(/identity of n\/a: .* no sts:AssumeRole/);
    }
  });

  it('are refused in a form that is not understood', () => {
    const statement = { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { AWS: '*' } };
    const PodRole = { Type: 'AWS::IAM::Role', Properties: { AssumeRolePolicyDocument: { Statement: [statement] } } };
    expect(() => load({ PodRole })).toThrow(/reading AWS::IAM::Role PodRole/);
  });

  it('say what a schedule may send', () => {
    const allowed = load();
    const [tick] = allowed.schedules;
    if (tick === undefined) throw new Error('the sample has a schedule');
    expect(mayBeSent(allowed, tick)).toBe(true);
    expect(mayBeSent(load({ TickPolicy: policyOf('TickRole', 'sqs:ReceiveMessage') }), tick)).toBe(false);
    expect(mayBeSent(load({ TickPolicy: policyOf('TickRole', 'sqs:SendMessage', 'arn:aws:sqs:::x') }), tick)).toBe(
      false,
    );
  });
});
