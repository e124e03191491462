/** Two NodeClaims of one instance that are deleted together: the instance ends once, in the termination of one of them. */
import { describe, expect, it } from 'vitest';
import { failuresOf } from '../../../builders/scenario.ts';

const ID = '"aws:///us-west-2a/i-1"';
const poolOf = (name: string): string => `{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: ${name} } }`;
const policyOf = (hooks: string): string =>
  `{ apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: all }, spec: { termination: { finalizerName: example.com/custom${hooks} } } }`;
const HOOKS =
  ', hooks: [{ name: before, at: before-drain, lambda: { functionName: before } }, { name: after, at: after-terminate, lambda: { functionName: after } }]';
const claimOf = (name: string, uid: string, pool = 'default', spec = '{}'): string =>
  `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: ${name}, uid: ${uid}, labels: { karpenter.sh/nodepool: ${pool} } }, spec: ${spec}, status: { providerID: ${ID}, nodeName: n1 } }`;
const NODE = `{ apiVersion: v1, kind: Node, metadata: { name: n1, labels: { karpenter.sh/nodepool: default } }, spec: { providerID: ${ID} }, status: { conditions: [{ type: Ready, status: "True" }] } }`;
const podOf = (annotations = ''): string =>
  `{ apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: p1${annotations} }, spec: { nodeName: n1 }, status: { phase: Running } }`;
const PROTECTED = podOf(', annotations: { karpenter.sh/do-not-disrupt: 10m }');
const deleted = (name: string): string => `{ at: 1m, delete: { resource: nodeclaims, name: ${name} } }`;
const called = (hook: string): string => `{ write: { verb: invoke, resource: hooks, name: ${hook} }, times: 1 }`;
const ENDED_ONCE = [
  '{ write: { verb: terminate }, times: 1 }',
  '{ event: { reason: FinalizerStripped }, times: 0 }',
  '{ final: { resource: nodeclaims, name: c1, exists: false } }',
  '{ final: { resource: nodeclaims, name: c2, exists: false } }',
  `{ final: { instance: ${ID}, state: terminated } }`,
];
const GONE = '{ final: { resource: nodes, name: n1, exists: false } }';
const EVICTED_ONCE = '{ write: { verb: evict }, times: 1 }';

describe.each([
  ['the first by UID looks first', 'u1', 'u2', 'default'],
  ['the last by UID looks first', 'u2', 'u1', 'default'],
  ['they are of two pools', 'u2', 'u1', 'other'],
])('two NodeClaims of one instance that are deleted together, where %s', (_, first, second, pool) => {
  const pools = [poolOf('default'), poolOf('other')];
  const claims = [claimOf('c1', first), claimOf('c2', second, pool)];
  const bothDeleted = [deleted('c1'), deleted('c2')];

  it('call each hook once', async () => {
    const objects = [...pools, policyOf(HOOKS), ...claims, NODE, podOf()];
    const expectations = [...ENDED_ONCE, GONE, EVICTED_ONCE, called('before'), called('after')];
    expect(await failuresOf({ duration: '30m', objects, steps: bothDeleted, expect: expectations })).toEqual([]);
  });

  it('call each hook once where they have no Node', async () => {
    const objects = [...pools, policyOf(HOOKS), ...claims];
    const expectations = [...ENDED_ONCE, called('before'), called('after')];
    expect(await failuresOf({ duration: '30m', objects, steps: bothDeleted, expect: expectations })).toEqual([]);
  });

  it('empty the Node once and blame nobody', async () => {
    const objects = [...pools, policyOf(''), ...claims, NODE, PROTECTED];
    const expectations = [...ENDED_ONCE, GONE, EVICTED_ONCE, '{ before: 9m, write: { verb: terminate }, times: 0 }'];
    expect(await failuresOf({ duration: '30m', objects, steps: bothDeleted, expect: expectations })).toEqual([]);
  });

  it.each(['c1', 'c2'])('go on with the other one where somebody takes the finalizer off %s', async name => {
    const objects = [...pools, policyOf(HOOKS), ...claims, NODE, PROTECTED];
    const steps = [
      ...bothDeleted,
      `{ at: 5m, patch: { resource: nodeclaims, name: ${name}, merge: { metadata: { finalizers: [] } } } }`,
    ];
    const expectations = [...ENDED_ONCE, GONE, EVICTED_ONCE, called('before'), called('after')];
    expect(await failuresOf({ duration: '40m', objects, steps, expect: expectations })).toEqual([]);
  });

  it.each(['c1', 'c2'])('wait for nothing that somebody else keeps %s for', async name => {
    const objects = [...pools, policyOf(HOOKS), ...claims, NODE, podOf()];
    const keep = `{ at: 30s, patch: { resource: nodeclaims, name: ${name}, merge: { metadata: { finalizers: [example.com/custom, example.com/other] } } } }`;
    const expectations = [
      '{ write: { verb: terminate }, times: 1 }',
      '{ event: { reason: FinalizerStripped }, times: 0 }',
      GONE,
      `{ final: { resource: nodeclaims, name: ${name}, exists: true } }`,
      called('before'),
      called('after'),
    ];
    expect(await failuresOf({ duration: '40m', objects, steps: [keep, ...bothDeleted], expect: expectations })).toEqual(
      [],
    );
  });

  describe.each([
    ['c1', '{ terminationGracePeriod: 5m }', '{}'],
    ['c2', '{}', '{ terminationGracePeriod: 5m }'],
  ])('and of which %s alone has a deadline,', (_name, ofFirst, ofSecond) => {
    const withDeadline = [claimOf('c1', first, 'default', ofFirst), claimOf('c2', second, pool, ofSecond)];

    it('give a protected pod its own grace before it', async () => {
      const objects = [...pools, policyOf(HOOKS), ...withDeadline, NODE, PROTECTED];
      const expectations = [
        ...ENDED_ONCE,
        GONE,
        '{ at: 5m30s, within: 5s, write: { verb: delete, resource: pods, name: p1 }, times: 1 }',
        '{ at: 5m30s, within: 30s, write: { verb: terminate }, times: 1 }',
        called('before'),
        called('after'),
      ];
      expect(await failuresOf({ duration: '40m', objects, steps: bothDeleted, expect: expectations })).toEqual([]);
    });

    it('end the instance by then, although a hook holds', async () => {
      const objects = [...pools, policyOf(HOOKS), ...withDeadline, NODE, podOf()];
      const silent = '{ at: 30s, hook: { name: before, result: silent } }';
      const expectations = [
        ...ENDED_ONCE,
        GONE,
        '{ at: 5m, within: 1m5s, write: { verb: terminate }, times: 1 }',
        called('before'),
        called('after'),
      ];
      const steps = [silent, ...bothDeleted];
      expect(await failuresOf({ duration: '40m', objects, steps, expect: expectations })).toEqual([]);
    });
  });

  it('call each hook once where they have no Node and somebody takes the finalizer off one of them', async () => {
    const objects = [...pools, policyOf(HOOKS.replace('after-terminate', 'before-terminate')), ...claims];
    const steps = [
      '{ at: 30s, hook: { name: after, result: silent } }',
      ...bothDeleted,
      `{ at: 5m, patch: { resource: nodeclaims, name: c1, merge: { metadata: { finalizers: [] } } } }`,
    ];
    const expectations = [...ENDED_ONCE, called('before'), called('after')];
    expect(await failuresOf({ duration: '40m', objects, steps, expect: expectations })).toEqual([]);
  });
});

describe('a NodeClaim whose deadline comes before its hooks were called', () => {
  const holding = '{ at: 30s, hook: { name: before, result: silent } }';
  const forced = (rest: string): string =>
    `{ event: { reason: TerminationForced, kind: NodeClaim, name: c2, message: "the deadline 2024-11-01T15:06:00Z (annotation) has come: pods, volumes and hooks are not waited for${rest}" }, times: 1 }`;
  const finished = (rest: string): string =>
    `{ audit: { decision: release, name: c2, message: "everything is done: example.com/custom is off; ${rest}" } }`;
  const limited = claimOf('c2', 'u2', 'default', '{ terminationGracePeriod: 5m }');

  it('leaves them to the NodeClaim in whose termination the instance ends', async () => {
    const objects = [poolOf('default'), policyOf(HOOKS), claimOf('c1', 'u1'), limited, NODE];
    const expectations = [
      forced('; before, after are left to the termination of NodeClaim c1'),
      finished('hooks before, after were left to the termination of NodeClaim c1'),
      called('before'),
      called('after'),
    ];
    const steps = [holding, deleted('c1'), deleted('c2')];
    expect(await failuresOf({ duration: '40m', objects, steps, expect: expectations })).toEqual([]);
  });

  it('says of none that it is called where the instance is that of a NodeClaim that lives', async () => {
    const overdue = claimOf('c2', 'u2', 'default', '{ terminationGracePeriod: 0s }');
    const objects = [poolOf('default'), policyOf(HOOKS), claimOf('c1', 'u1'), overdue, NODE];
    const expectations = [
      '{ write: { verb: invoke }, times: 0 }',
      '{ event: { reason: TerminationForced, kind: NodeClaim, name: c2, message: "the deadline 2024-11-01T15:01:00Z (NodeClaim) has come: pods, volumes and hooks are not waited for" }, times: 1 }',
      finished('hooks before, after were not called: no instance ended with it'),
    ];
    expect(await failuresOf({ duration: '40m', objects, steps: [deleted('c2')], expect: expectations })).toEqual([]);
  });
});
