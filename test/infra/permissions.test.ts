import { describe, expect, it } from 'vitest';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { FORWARDER_ACCOUNT } from '../../shared/contract/permissions.ts';
import { toConstructId } from '../../packages/curfew-cdk/src/construct-id.ts';
import { roleStatements, synthesize } from './synthesized.ts';

const { functionsTemplate: template } = synthesize();
const statements = roleStatements(template);
const actionsOf = (role: RegExp) =>
  statements.filter(({ role: id }) => role.test(id)).flatMap(({ statement }) => statement.Action);

describe('permissions', () => {
  it('name no wildcard action, and no wildcard resource but where EC2 knows no other', () => {
    for (const { statement } of statements) {
      const { Action, Resource, Condition } = statement;
      expect(JSON.stringify(Action)).not.toContain('*');
      const actions = [Action].flat().map(String);
      if (actions.every(action => /^ec2:DescribeInstance(s|Status)$/.test(action))) expect(Resource).toBe('*');
      else if (/^(ec2|autoscaling):/.test(String(Action)))
        expect(JSON.stringify(Condition)).toMatch(
          /^\{"StringEquals":\{"aws:ResourceTag\/eks:(eks-)?cluster-name":"prod"\}\}$/,
        );
      else expect(JSON.stringify(Resource)).not.toContain('*');
    }
  });

  it('come without managed policies', () => {
    for (const { Properties } of Object.values(template.findResources('AWS::IAM::Role'))) {
      expect(Properties.ManagedPolicyArns).toBeUndefined();
    }
  });

  it.each(FUNCTION_NAMES)('let %s touch its own records only', name => {
    const role = new RegExp(`^${toConstructId(name)}Role`);
    const records = statements.filter(
      ({ role: id, statement }) => role.test(id) && JSON.stringify(statement.Action).includes('dynamodb:PutItem'),
    );
    expect(records.map(({ statement }) => statement)).toMatchObject([
      {
        Action: ['dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:PutItem'],
        Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${name}/*`] } },
      },
    ]);
  });

  it('let nobody but the timer query, and it the due index only', () => {
    const queries = statements.filter(({ statement }) => JSON.stringify(statement.Action).includes('dynamodb:Query'));
    expect(queries.map(({ role, statement }) => [role.replace(/Role.*/, ''), statement.Action])).toEqual([
      ['Timer', 'dynamodb:Query'],
    ]);
    expect(JSON.stringify(queries[0]?.statement.Resource)).toContain('/index/due');
  });

  it('let the timer wake every other function but publish nothing', () => {
    const actions = actionsOf(/^TimerRole/);
    expect(actions).toContain('sqs:SendMessage');
    expect(actions).not.toContain('events:PutEvents');
  });

  it('let each part publish under its own source only, and no other part', () => {
    const sources = statements
      .filter(({ statement }) => statement.Action === 'events:PutEvents')
      .map(({ role, statement }) => [role.replace(/Role.*/, ''), statement.Condition]);
    // The key has many values, so that it needs a set operator; without a value, `ForAllValues` alone would hold.
    const only = (...values: string[]) => ({
      'ForAllValues:StringEquals': { 'events:source': values },
      Null: { 'events:source': 'false' },
    });
    expect(sources).toEqual([
      ['Finalizer', only('curfew.finalizer')],
      ['Drain', only('curfew.drain')],
      ['Repair', only('curfew.repair')],
      ['ClusterAccessForwarder', only('curfew.forwarder')],
    ]);
  });

  it('give the forwarder nothing but PutEvents', () => {
    expect(actionsOf(/Forwarder/)).toEqual(['events:PutEvents']);
  });
});

describe('cluster access', () => {
  it('maps each function that uses the cluster to a Kubernetes group of its own, without access policies', () => {
    const entries = Object.values(template.findResources('AWS::EKS::AccessEntry')).map(({ Properties }) => Properties);
    expect(entries.map(({ KubernetesGroups }) => KubernetesGroups)).toEqual(
      FUNCTION_NAMES.filter(name => name !== 'timer').map(name => [`curfew:${name}`]),
    );
    for (const entry of entries) expect(entry).toMatchObject({ ClusterName: 'prod', Type: 'STANDARD' });
    for (const entry of entries) expect(entry.AccessPolicies).toBeUndefined();
    expect(new Set(entries.map(({ PrincipalArn }) => JSON.stringify(PrincipalArn))).size).toBe(entries.length);
  });

  it("gives the forwarder's service account its role by Pod Identity", () => {
    template.hasResourceProperties('AWS::EKS::PodIdentityAssociation', {
      ClusterName: 'prod',
      Namespace: FORWARDER_ACCOUNT.namespace,
      ServiceAccount: FORWARDER_ACCOUNT.name,
    });
  });

  it('lets no other service account, namespace or cluster take that role, no matter who associates it', () => {
    const [trust] = Object.values(template.findResources('AWS::IAM::Role'))
      .map(({ Properties }) => Properties.AssumeRolePolicyDocument.Statement)
      .filter(statements => JSON.stringify(statements).includes('pods.eks.amazonaws.com'));
    const cluster = [
      'arn:',
      { Ref: 'AWS::Partition' },
      ':eks:',
      { Ref: 'AWS::Region' },
      ':',
      { Ref: 'AWS::AccountId' },
    ];
    expect(trust).toEqual([
      {
        Effect: 'Allow',
        Action: ['sts:AssumeRole', 'sts:TagSession'],
        Principal: { Service: 'pods.eks.amazonaws.com' },
        Condition: {
          StringEquals: {
            'aws:RequestTag/eks-cluster-arn': { 'Fn::Join': ['', [...cluster, ':cluster/prod']] },
            'aws:RequestTag/kubernetes-namespace': 'curfew',
            'aws:RequestTag/kubernetes-service-account': 'curfew-forwarder',
          },
        },
      },
    ]);
  });
});
