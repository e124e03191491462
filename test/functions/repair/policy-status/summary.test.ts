import { describe, expect, it } from 'vitest';
import { summarize } from '../../../../functions/repair/policy-status/rule/summary.ts';
import { type ClusterFacts, observedPolicy } from '../../../../functions/repair/policy-status/observe.ts';
import type { JsonObject, KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { readPolicies } from '../../../../shared/policies/policy-set.ts';
import { APPLIED_POLICIES } from '../../../fixtures/unstated-reach-manifests.ts';

type ReadPolicy = Parameters<typeof observedPolicy>[0];

const metadata = (name: string, labels: Record<string, string> = {}) => ({
  name,
  uid: `uid-${name}`,
  labels,
  generation: 3,
  resourceVersion: '1',
  creationTimestamp: '2024-11-01T15:00:00Z',
});
const asWritten = (name: string, spec: JsonObject): KubernetesObject => ({
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'NodeLifecyclePolicy',
  metadata: metadata(name),
  spec,
});
/** States where and how. */
const policy = (name: string, spec: JsonObject): KubernetesObject =>
  asWritten(name, { nodePoolSelector: {}, mode: 'Enforce', ...spec });
const pool = (name: string, spec: JsonObject = {}): KubernetesObject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: metadata(name, { team: name }),
  spec,
});
const facts = (policies: readonly KubernetesObject[], overrides: Partial<ClusterFacts> = {}): ClusterFacts => ({
  gateOpen: true,
  policySet: readPolicies(policies),
  pools: [
    { pool: undefined, nodes: 2, repairs: { blocked: 1, repairing: 0 }, claimsWithKarpenterFinalizer: 0 },
    { pool: pool('web'), nodes: 5, repairs: { blocked: 2, repairing: 1 }, claimsWithKarpenterFinalizer: 0 },
    { pool: pool('db'), nodes: 3, repairs: { blocked: 0, repairing: 1 }, claimsWithKarpenterFinalizer: 0 },
  ],
  templates: ['reboot'],
  ...overrides,
});
const of = (object: KubernetesObject, overrides: Partial<ReadPolicy> = {}): ReadPolicy => ({
  object,
  fault: undefined,
  acceptedGeneration: 3,
  ...overrides,
});
const selecting = (team: string, spec: JsonObject): JsonObject => ({
  nodePoolSelector: { matchLabels: { team } },
  ...spec,
});
const summarized = (about: ReadPolicy, cluster: ClusterFacts) => summarize(observedPolicy(about, cluster));
/** `Active=False Overridden`. */
const conditionsOf = (about: ReadPolicy, cluster: ClusterFacts): readonly string[] =>
  summarized(about, cluster).conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

describe('the counts of a policy', () => {
  it('without a selector are those of all pools and of the nodes without one', () => {
    const all = policy('all', { repair: {} });
    expect(summarized(of(all), facts([all]))).toMatchObject({
      nodePools: 2,
      nodes: 10,
      held: 3,
      repairing: 2,
      pools: [
        { name: '', nodes: 2 },
        { name: 'web', nodes: 5, held: 2, repairing: 1 },
        { name: 'db', nodes: 3 },
      ],
    });
  });

  it('are zero by name where another block is in force', () => {
    const all = policy('all', { drain: { maxConcurrent: 1 } });
    expect(summarized(of(all), facts([all])).pools[1]).toEqual({ name: 'web', nodes: 5, held: 0, repairing: 0 });
  });

  it('leave out the repairs of pools for which another block is in force', () => {
    const all = policy('all', { repair: {} });
    const web = policy('web', selecting('web', { repair: {} }));
    const cluster = facts([all, web]);
    expect(summarized(of(all), cluster)).toMatchObject({ nodes: 10, held: 1, repairing: 1 });
    expect(summarized(of(web), cluster)).toMatchObject({ nodePools: 1, nodes: 5, held: 2, repairing: 1 });
  });

  it('list a hundred pools, and count all', () => {
    const all = policy('all', { repair: {} });
    const pools = Array.from({ length: 120 }, (_, index) => ({
      pool: pool(`p${index}`),
      nodes: 1,
      repairs: { blocked: 1, repairing: 0 },
      claimsWithKarpenterFinalizer: 0,
    }));
    const summary = summarized(of(all), facts([all], { pools }));
    expect(summary.pools).toHaveLength(100);
    expect(summary).toMatchObject({ nodePools: 120, nodes: 120, held: 120 });
  });

  it('name the pools that a newer version counts, and count the others', () => {
    const all = policy('all', { repair: {} });
    const [loose, web, db] = facts([all]).pools;
    const pools = [loose, web, db]
      .flatMap(each => each ?? [])
      .map((each, index) => (index === 2 ? each : { ...each, repairs: undefined }));
    const summary = summarized(of(all), facts([all], { pools }));
    expect(summary).toMatchObject({ nodes: 10, held: 0, repairing: 1 });
    expect(summary.pools).toEqual([
      { name: '', nodes: 2 },
      { name: 'web', nodes: 5 },
      { name: 'db', nodes: 3, held: 0, repairing: 1 },
    ]);
    expect(summary.conditions.at(-1)).toEqual({
      type: 'Warning',
      status: 'True',
      reason: 'NotCounted',
      message: 'held and repairing leave out the nodes without a NodePool, NodePool web: a newer version counts there',
    });
    const own = pools.map(each => ({ ...each, pool: pool('own', { repair: {} }) }));
    expect(conditionsOf(of(all), facts([all], { pools: own }))).not.toContain('Warning=True NotCounted');
  });
});

/** `In force` has no reason of its own in the message: which blocks are, and in which mode, is what it says. */
describe('the condition Active says', () => {
  const activeOf = (about: ReadPolicy, cluster: ClusterFacts) =>
    summarized(about, cluster).conditions.find(({ type }) => type === 'Active');
  const own = (name: string) => ({
    pool: pool(name, { repair: {} }),
    nodes: 1,
    repairs: undefined,
    claimsWithKarpenterFinalizer: 0,
  });
  const limits = { repairLimits: { maxConcurrentRepairsPerCluster: 2 } };
  const drain = { drain: { maxConcurrent: 1 } };
  const held = 'it has no block: repairs, terminations and drains that would begin in its NodePools are held, except by a policy at least as specific that has the block; protection is not affected'; // prettier-ignore

  it.each<[string, JsonObject, Partial<ClusterFacts>, string, string]>([
    ['its blocks', { repair: {}, ...drain }, {}, 'InForce', 'in force: repair, drain'],
    ['its mode', { mode: 'Observe', repair: {} }, {}, 'Observing', 'in force, in mode Observe: repair'],
    ['that it has none', {}, {}, 'NoBlock', 'it has none of repair, repairLimits, drain, termination, protection'],
    ['that it holds what would begin', { mode: 'Observe' }, {}, 'Observing', held],
    ['that it selects nothing', selecting('nobody', { repair: {} }), {}, 'SelectsNothing', 'it selects no NodePool'],
    [
      'that the pools have blocks of their own',
      selecting('web', { repair: {} }),
      { pools: [own('web')] },
      'Overridden',
      'every NodePool that it selects has a repair block of its own',
    ],
    [
      'that the gate is closed',
      { repair: {}, ...limits },
      { gateOpen: false },
      'GateOff',
      'featureGates.nodeRepair is off in ConfigMap curfew/curfew-config',
    ],
    ['nothing of the gate where another block is in force', { repair: {}, ...drain }, { gateOpen: false }, 'InForce', 'in force: repair, drain'], // prettier-ignore
    ['that it is in force where no NodePool is', { repair: {} }, { pools: [] }, 'Overridden', 'a more specific policy, or the first by name, comes before it everywhere'], // prettier-ignore
  ])('%s', (_, spec, cluster, reason, message) => {
    const object = policy('a', spec);
    expect(activeOf(of(object), facts([object], cluster))).toMatchObject({ reason, message });
  });

  it('that another policy comes before it, whatever the block', () => {
    for (const block of [{ repair: {} }, drain, { termination: { hooks: [] } }]) {
      const [a, b] = [policy('a', block), policy('b', block)];
      expect(activeOf(of(b), facts([a, b]))).toMatchObject({
        reason: 'Overridden',
        message: 'a more specific policy, or the first by name, comes before it everywhere',
      });
      expect(activeOf(of(a), facts([a, b]))).toMatchObject({ reason: 'InForce' });
    }
  });

  it('that a policy is in force where it comes first in one of its NodePools', () => {
    const [all, web] = [policy('all', drain), policy('web', selecting('web', drain))];
    expect(activeOf(of(all), facts([all, web]))).toMatchObject({ reason: 'InForce' });
    expect(activeOf(of(web), facts([all, web]))).toMatchObject({ reason: 'InForce' });
  });

  it('of a protection that is only observed that it is looked at beside the one in force', () => {
    const block = { protection: { compatibility: 'Karpenter' } };
    const [first, second] = [policy('a', { mode: 'Observe', ...block }), policy('b', block)];
    const third = policy('c', block);
    const cluster = facts([first, second, third]);
    expect(activeOf(of(first), cluster)).toMatchObject({ reason: 'Observing' });
    expect(activeOf(of(second), cluster)).toMatchObject({ reason: 'InForce' });
    expect(activeOf(of(third), cluster)).toMatchObject({ reason: 'Overridden' });
  });

  it('that it was never accepted', () => {
    const object = policy('a', { repair: {} });
    const about = of(object, { fault: 'spec.repair: bad', acceptedGeneration: undefined });
    const [accepted, active] = summarized(about, facts([object])).conditions;
    expect(accepted?.message).toBe('spec.repair: bad; no generation of it was ever accepted');
    expect(active).toMatchObject({
      status: 'False',
      reason: 'NotAccepted',
      message: 'it cannot be read, and no generation of it was ever accepted',
    });
    expect(activeOf(of(object, { acceptedGeneration: undefined }), facts([object]))?.reason).toBe('InForce');
    expect(activeOf(of(object), facts([policy('b', { repair: {} })]))?.reason).toBe('NotAccepted');
  });
});

describe('the conditions of a policy', () => {
  const block = { repair: {} };
  const own = [
    {
      pool: pool('web', { repair: {} }),
      nodes: 1,
      repairs: { blocked: 0, repairing: 0 },
      claimsWithKarpenterFinalizer: 0,
    },
  ];
  it.each<[string, JsonObject, Partial<ReadPolicy>, Partial<ClusterFacts>, readonly string[]]>([
    ['in force', block, {}, {}, ['Accepted=True Valid', 'Active=True InForce']],
    ['in mode Observe', { mode: 'Observe', ...block }, {}, {}, ['Accepted=True Valid', 'Active=True Observing']],
    ['without a block', {}, {}, {}, ['Accepted=True Valid', 'Active=False NoBlock']],
    [
      'that selects nothing',
      selecting('nobody', block),
      {},
      {},
      ['Accepted=True Valid', 'Active=False SelectsNothing'],
    ],
    ['while the gate is closed', block, {}, { gateOpen: false }, ['Accepted=True Valid', 'Active=False GateOff']],
    [
      'whose pools have blocks of their own',
      selecting('web', block),
      {},
      { pools: own },
      ['Accepted=True Valid', 'Active=False Overridden'],
    ],
    [
      'with a fault, of which an earlier generation is in force',
      block,
      { fault: 'spec.repair: bad', acceptedGeneration: 2 },
      {},
      ['Accepted=False Invalid', 'Active=True InForce'],
    ],
    [
      'with a fault from the beginning',
      block,
      { fault: 'spec.repair: bad', acceptedGeneration: undefined },
      {},
      ['Accepted=False Invalid', 'Active=False NotAccepted'],
    ],
    [
      'that names a condition type that nothing watches',
      { repair: { policies: [{ conditionType: 'Redy', toleration: '5m' }] } },
      {},
      {},
      ['Accepted=True Valid', 'Active=True InForce', 'Warning=True UnknownConditionType'],
    ],
    [
      'that names a template that is not there',
      { repair: { actions: [{ type: 'CustomResource', template: 'wipe' }] } },
      {},
      {},
      ['Accepted=True Valid', 'Active=True InForce', 'Warning=True NoTemplate'],
    ],
    [
      'that names one that is',
      { repair: { actions: [{ type: 'CustomResource', template: 'reboot' }] } },
      {},
      {},
      ['Accepted=True Valid', 'Active=True InForce'],
    ],
  ])('%s', (_, spec, about, cluster, expected) => {
    const object = policy('a', spec);
    expect(conditionsOf(of(object, about), facts([object], cluster))).toEqual(expected);
  });

  it('limits hold beside those of every other policy, and beside blocks of the pools themselves', () => {
    const limits = { repairLimits: { maxConcurrentRepairsPerCluster: 2 } };
    const [a, b] = [policy('a', { ...block, ...limits }), policy('b', limits)];
    const inForce = ['Accepted=True Valid', 'Active=True InForce'];
    const cluster = facts([a, b], { pools: own });
    expect([conditionsOf(of(a), cluster), conditionsOf(of(b), cluster)]).toEqual([inForce, inForce]);
    const off = facts([b], { gateOpen: false });
    expect(conditionsOf(of(b), off)).toEqual(['Accepted=True Valid', 'Active=False GateOff']);
  });

  it('of two that select the same pools the later by name is overridden, and warned', () => {
    const [a, b] = [policy('a', block), policy('b', block)];
    const cluster = facts([a, b]);
    expect(conditionsOf(of(a), cluster)).toEqual(['Accepted=True Valid', 'Active=True InForce']);
    expect(conditionsOf(of(b), cluster)).toEqual([
      'Accepted=True Valid',
      'Active=False Overridden',
      'Warning=True PolicyConflict',
    ]);
  });

  it.each(APPLIED_POLICIES)('warn of $manifest.metadata.name as the admission policy does', ({ spec, warning }) => {
    const object = asWritten('a', spec);
    const { conditions } = summarized(of(object), facts([object]));
    expect(conditions.filter(({ type }) => type === 'Warning')).toEqual(
      warning === undefined ? [] : [{ type: 'Warning', status: 'True', reason: 'ReachNotStated', message: warning }],
    );
  });

  it('say no reach of what is refused, and say it after what has no effect', () => {
    const refused = asWritten('a', { repair: {}, nodePoolSelector: 'all' });
    const fault = 'spec.nodePoolSelector: bad';
    expect(conditionsOf(of(refused, { fault, acceptedGeneration: undefined }), facts([refused]))).toEqual([
      'Accepted=False Invalid',
      'Active=False NotAccepted',
    ]);
    const typo = asWritten('a', { repair: { actions: [{ type: 'CustomResource', template: 'wipe' }] } });
    const { conditions } = summarized(of(typo), facts([typo]));
    expect(conditions.at(-1)).toMatchObject({
      reason: 'NoTemplate',
      message: expect.stringMatching(
        /no key "wipe"; enforces on all NodePools \(no nodePoolSelector, no mode\): state both$/,
      ),
    });
  });

  it('name a template that is missing wherever it is named', () => {
    const action = (template: string) => ({ type: 'CustomResource', template });
    const block = {
      repair: {
        actions: [{ type: 'Reboot' }, action('own')],
        policies: [{ conditionType: 'Ready', toleration: '5m', actions: [action('of-ready')] }],
        conditions: [{ type: 'Slow', status: 'True', toleration: '5m', actions: [action('of-slow')] }],
      },
      termination: {
        hooks: [{ name: 'a', at: 'after-terminate', customResource: { template: 'of-hook', conditionType: 'Done' } }],
      },
    };
    const object = asWritten('a', { mode: 'Enforce', nodePoolSelector: { matchLabels: { a: 'b' } }, ...block });
    expect(summarized(of(object), facts([object])).conditions.at(-1)).toMatchObject({
      reason: 'NoTemplate',
      message: [
        ['repair.actions.1.template', 'own'],
        ['repair.policies.0.actions.0.template', 'of-ready'],
        ['repair.conditions.0.actions.0.template', 'of-slow'],
        ['termination.hooks.0.customResource.template', 'of-hook'],
      ]
        .map(([path, key]) => `spec.${path}: ConfigMap curfew/curfew-config has no key "${key}"`)
        .join('; '),
    });
  });

  it('say the fault, and which generation is in force', () => {
    const object = policy('a', block);
    const { conditions } = summarized(
      of(object, { fault: 'spec.repair: bad', acceptedGeneration: 2 }),
      facts([object]),
    );
    expect(conditions[0]?.message).toBe('spec.repair: bad; generation 2, which was accepted last, stays in force');
  });

  it('say that the other blocks are in force, where a block of another function has a fault', () => {
    const object = policy('a', block);
    const acceptedGeneration = object.metadata.generation;
    const { conditions } = summarized(of(object, { fault: 'spec.drain: bad', acceptedGeneration }), facts([object]));
    expect(conditions[0]?.message).toBe(
      'spec.drain: bad; the other blocks are in force, and a block with a fault as it could be read last',
    );
  });
});
