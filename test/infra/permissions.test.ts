import { describe, expect, it } from 'vitest';
import { DEPLOYED_FUNCTIONS } from '../../shared/contract/routes.ts';
import { roleStatements, synthesize } from './synthesized.ts';

const { functionsTemplate: template } = synthesize();
const statements = roleStatements(template);
const actionsOf = (role: RegExp) =>
  statements.filter(({ role: id }) => role.test(id)).flatMap(({ statement }) => statement.Action);

describe('permissions', () => {
  it('name no wildcard action and no wildcard resource', () => {
    for (const { statement } of statements) {
      expect(JSON.stringify(statement.Action)).not.toContain('*');
      expect(JSON.stringify(statement.Resource)).not.toContain('*');
    }
  });

  it('come without managed policies', () => {
    for (const { Properties } of Object.values(template.findResources('AWS::IAM::Role'))) {
      expect(Properties.ManagedPolicyArns).toBeUndefined();
    }
  });

  it('let repair touch its own records only', () => {
    const records = statements.find(
      ({ role, statement }) => role.startsWith('RepairRole') && JSON.stringify(statement.Action).includes('dynamodb:'),
    );
    expect(records?.statement).toMatchObject({
      Action: ['dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:PutItem'],
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['repair/*'] } },
    });
  });

  it('let the timer read the due index, and touch its own records only', () => {
    const onTable = statements.filter(
      ({ role, statement }) => role.startsWith('TimerRole') && JSON.stringify(statement.Action).includes('dynamodb:'),
    );
    expect(onTable.map(({ statement }) => statement)).toMatchObject([
      {
        Action: ['dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:PutItem'],
        Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['timer/*'] } },
      },
      { Action: 'dynamodb:Query' },
    ]);
  });

  it('let the timer wake every other function but publish nothing', () => {
    const actions = actionsOf(/^TimerRole/);
    expect(actions).toContain('sqs:SendMessage');
    expect(actions).not.toContain('events:PutEvents');
  });

  it('let nobody but the forwarder publish, and it under its own source only', () => {
    const sources = statements
      .filter(({ statement }) => statement.Action === 'events:PutEvents')
      .map(({ role, statement }) => [role.replace(/Role.*/, ''), statement.Condition]);
    expect(sources).toEqual([
      ['Finalizer', { StringEquals: { 'events:source': ['curfew.finalizer'] } }],
      ['ClusterAccessForwarder', { StringEquals: { 'events:source': ['curfew.forwarder'] } }],
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
      DEPLOYED_FUNCTIONS.filter(name => name !== 'timer').map(name => [`curfew:${name}`]),
    );
    for (const entry of entries) expect(entry).toMatchObject({ ClusterName: 'prod', Type: 'STANDARD' });
    for (const entry of entries) expect(entry.AccessPolicies).toBeUndefined();
    expect(new Set(entries.map(({ PrincipalArn }) => JSON.stringify(PrincipalArn))).size).toBe(entries.length);
  });

  it("gives the forwarder's service account its role by Pod Identity", () => {
    template.hasResourceProperties('AWS::EKS::PodIdentityAssociation', {
      ClusterName: 'prod',
      Namespace: 'curfew',
      ServiceAccount: 'curfew-forwarder',
    });
  });
});
