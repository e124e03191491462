import { describe, expect, it } from 'vitest';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { minutes } from '../../../shared/domain/time.ts';
import { matchRepairConditions } from '../../../shared/domain/repair-policy.ts';
import { clusterNodesOf, repairBlockInForce } from '../../../functions/repair/common/settings.ts';
import { aPoolNode, SICK } from '../../builders/repair.ts';
import { readPolicies } from '../../../shared/policies/policy-set.ts';

function anObject(kind: string, name: string, spec: JsonObject, labels: Record<string, string> = {}): KubernetesObject {
  const metadata = { name, uid: name, resourceVersion: '1', creationTimestamp: '2024-01-01T00:00:00Z', labels };
  return { apiVersion: 'v1', kind, metadata, spec };
}
const policy = (name: string, spec: JsonObject): KubernetesObject => anObject('NodeLifecyclePolicy', name, spec);
const pool = anObject('NodePool', 'web', {}, { team: 'web', tier: 'gold' });
const poolWithBlock = anObject('NodePool', 'own', { repair: { defaultTolerationDuration: '1m' } }, { team: 'web' });
const block = (toleration: string): JsonObject => ({ repair: { defaultTolerationDuration: toleration } });

function tolerationFor(nodePool: KubernetesObject | undefined, ...policies: readonly KubernetesObject[]): unknown {
  const { settings } = repairBlockInForce(nodePool, readPolicies(policies));
  return settings === undefined || 'invalid' in settings ? settings : settings.defaultToleration;
}
const select = (nodePoolSelector: JsonObject, toleration = '5m'): KubernetesObject =>
  policy('selecting', { nodePoolSelector, ...block(toleration) });

describe('precedence', () => {
  it('the own block of a NodePool comes before every policy, as a whole', () => {
    expect(tolerationFor(poolWithBlock, policy('a', block('9m')))).toBe(minutes(1));
    const bare = anObject('NodePool', 'bare', { repair: {} });
    expect(
      repairBlockInForce(bare, readPolicies([policy('a', { repair: { maxUnhealthy: 3 } })])).settings,
    ).toMatchObject({
      maxUnhealthy: { percent: 20 },
    });
  });

  it('more requirements come before fewer, then the name decides', () => {
    const two = policy('z', { nodePoolSelector: { matchLabels: { team: 'web', tier: 'gold' } }, ...block('2m') });
    const one = policy('a', { nodePoolSelector: { matchLabels: { team: 'web' } }, ...block('3m') });
    const other = policy('b', {
      nodePoolSelector: { matchExpressions: [{ key: 'team', operator: 'Exists' }] },
      ...block('4m'),
    });
    expect(tolerationFor(pool, policy('0', block('9m')), one, two)).toBe(minutes(2));
    expect(tolerationFor(pool, other, one)).toBe(minutes(3));
  });

  it('a policy without a repair block leaves repair to the next one, and still sets the mode', () => {
    const observing = policy('a', { nodePoolSelector: { matchLabels: { team: 'web' } }, mode: 'Observe' });
    expect(repairBlockInForce(pool, readPolicies([observing, policy('z', block('9m'))]))).toMatchObject({
      mode: 'Observe',
      source: 'NodeLifecyclePolicy z',
    });
  });

  it('a policy about something else does not put into force what another one observes', () => {
    const observing = policy('default', { mode: 'Observe', ...block('9m') });
    const another = policy('batch', { protection: { maxDuration: '1h' } });
    expect(repairBlockInForce(pool, readPolicies([observing, another]))).toMatchObject({
      mode: 'Observe',
      source: 'NodeLifecyclePolicy default',
    });
    expect(repairBlockInForce(poolWithBlock, readPolicies([observing, another]))).toMatchObject({
      mode: 'Observe',
      source: 'NodePool own',
    });
  });

  it('a node without a NodePool is reached by an empty selector alone', () => {
    expect(
      tolerationFor(undefined, select({ matchExpressions: [{ key: 'x', operator: 'DoesNotExist' }] })),
    ).toBeUndefined();
    expect(tolerationFor(undefined, select({}))).toBe(minutes(5));
    expect(tolerationFor(undefined, policy('none', block('5m')))).toBe(minutes(5));
  });
});

describe('nodePoolSelector', () => {
  it.each([
    [{ matchLabels: { team: 'web' } }, true],
    [{ matchLabels: { team: 'web', tier: 'silver' } }, false],
    [{ matchExpressions: [{ key: 'tier', operator: 'In', values: ['silver', 'gold'] }] }, true],
    [{ matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['gold'] }] }, false],
    [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, true],
    [{ matchExpressions: [{ key: 'team', operator: 'Exists' }] }, true],
    [{ matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }, false],
    [{ matchLabels: { team: 'web' }, matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, false],
    [{ matchLabels: {}, matchExpressions: [] }, true],
  ])('%j: %s', (selector, selected) => {
    expect(tolerationFor(pool, select(selector))).toBe(selected ? minutes(5) : undefined);
  });
});

describe('a policy that cannot be read', () => {
  const general = policy('general', block('9m'));

  it.each([
    ['its mode', { nodePoolSelector: { matchLabels: { team: 'web' } }, mode: 'observe' }, /spec\.mode/],
    ['a misspelt block', { nodePoolSelector: { matchLabels: { team: 'web' } }, repiar: {} }, /"repiar"/],
    [
      'its block',
      { nodePoolSelector: { matchLabels: { team: 'web' } }, repair: { maxUnhealthy: '150%' } },
      /maxUnhealthy/,
    ],
  ])('keeps the nodes it selects from being repaired by what others say: %s', (_, spec, message) => {
    expect(tolerationFor(pool, policy('broken', spec), general)).toEqual({ invalid: expect.stringMatching(message) });
    const elsewhere = anObject('NodePool', 'db', {}, { team: 'db' });
    expect(tolerationFor(elsewhere, policy('broken', spec), general)).toBe(minutes(9));
  });

  it('turns nothing on', () => {
    expect(tolerationFor(pool, policy('broken', { mode: 'observe' }))).toBeUndefined();
  });

  it.each([
    [{ matchLabel: { team: 'web' } }],
    [{ matchExpressions: [{ key: 'team', operator: 'Is', values: ['web'] }] }],
    [{ matchExpressions: [{ key: 'team', operator: 'NotIn' }] }],
    [{ matchExpressions: [{ key: 'team', operator: 'Exists', values: ['web'] }] }],
    ['team=web'],
  ])('selects nothing when its selector %j cannot be read', nodePoolSelector => {
    expect(tolerationFor(pool, policy('broken', { nodePoolSelector, ...block('2m') }), general)).toBe(minutes(9));
    expect(tolerationFor(pool, policy('broken', { nodePoolSelector, ...block('2m') }))).toBeUndefined();
  });
});

describe('the nodes of another pool count', () => {
  const tried = (mode: string, toleration: string): KubernetesObject => {
    const selector = { nodePoolSelector: { matchLabels: { team: 'web' } } };
    return policy('tried', { ...selector, mode, repair: { policies: [{ conditionType: 'Ready', toleration }] } });
  };
  const node = aPoolNode('n1', SICK, { labels: { 'karpenter.sh/nodepool': 'web' } });
  const counts = (
    mode: 'Enforce' | 'Observe',
    nodePool: KubernetesObject,
    ...policies: KubernetesObject[]
  ): boolean => {
    const pools = new Map([['web', nodePool]]);
    const sources = { policies: readPolicies(policies), mode };
    const cluster = clusterNodesOf({ nodes: [node], claims: undefined, pools }, sources);
    return matchRepairConditions(node, cluster.repairConditionsOf(node)).length > 0;
  };
  const own = anObject('NodePool', 'web', { repair: { policies: [{ conditionType: 'Ready', toleration: 'Never' }] } });

  it.each<[string, boolean, ...Parameters<typeof counts>]>([
    ['by the provider without a block', true, 'Enforce', pool],
    ['by a block that is enforced', false, 'Enforce', pool, tried('Enforce', 'Never')],
    ['not by one that is only observed', true, 'Enforce', pool, tried('Observe', 'Never')],
    ['by the one below it', false, 'Enforce', pool, tried('Observe', '1h'), tried('Enforce', 'Never')],
    [
      'by the own block of the NodePool, though a policy makes it observed',
      false,
      'Enforce',
      own,
      tried('Observe', '1h'),
    ],
    ['by the own block under the brake', false, 'Enforce', own, policy('brake', { mode: 'Observe' })],
    ['by all blocks for a pool that itself is only observed', false, 'Observe', pool, tried('Observe', 'Never')],
  ])('%s', (_, expected, ...given) => {
    expect(counts(...given)).toBe(expected);
  });
});
