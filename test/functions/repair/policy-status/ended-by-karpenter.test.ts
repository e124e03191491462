/** What a policy is warned of while Karpenter ends the instances that its termination block is about. */
import { describe, expect, it } from 'vitest';
import { type ClusterFacts, observedPolicy } from '../../../../functions/repair/policy-status/observe.ts';
import type { PoolCounts } from '../../../../functions/repair/policy-status/settings.ts';
import type { JsonObject, KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { readPolicies } from '../../../../shared/policies/policy-set.ts';

const metadata = (name: string) => ({
  name,
  uid: `uid-${name}`,
  labels: { team: name },
  generation: 3,
  resourceVersion: '1',
  creationTimestamp: '2024-11-01T15:00:00Z',
});
const policy = (name: string, spec: JsonObject): KubernetesObject => ({
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'NodeLifecyclePolicy',
  metadata: metadata(name),
  spec: { nodePoolSelector: {}, mode: 'Enforce', ...spec },
});
/** A NodePool, or the nodes without one; of its NodeClaims so many carry Karpenter's finalizer. */
const pool = (name: string | undefined, claimsWithKarpenterFinalizer: number): PoolCounts => ({
  pool: name === undefined ? undefined : { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: metadata(name) },
  nodes: 5,
  repairs: { blocked: 0, repairing: 0 },
  claimsWithKarpenterFinalizer,
});
const hook = (name: string, point: string) => ({ name, at: point, lambda: { functionName: 'f' } });
const REPLACE = { termination: { builtin: 'Replace' } };
const BACKUP = { termination: { hooks: [hook('backup', 'before-terminate')] } };

/** Reasons and messages of what a policy is warned of. It is the only one, and a NodeClaim of NodePool `web` carries the finalizer, unless `cluster` differs. */
function warnings(object: KubernetesObject, cluster: Partial<ClusterFacts> = {}): readonly (readonly string[])[] {
  const policySet = readPolicies([object]);
  const facts = { gateOpen: true, policySet, pools: [pool('web', 1)], templates: [], ...cluster };
  const observed = observedPolicy({ object, fault: undefined, acceptedGeneration: 3 }, facts);
  return observed.warnings.map(({ reason, message }) => [reason, message]);
}

describe('a policy beside the finalizer of Karpenter', () => {
  it('is warned that Replace is not in force, and what puts it in force', () => {
    expect(warnings(policy('a', REPLACE))).toEqual([
      [
        'ReplaceNotInForce',
        'spec.termination.builtin: Replace is not in force in NodePool web: NodeClaims there carry karpenter.sh/termination, and Karpenter terminates them; apply what "curfew policies admission" prints (Kubernetes 1.36), and NodeClaims change with their next update',
      ],
    ]);
  });

  it('is warned which of its hooks hold nothing', () => {
    const hooks = [hook('backup', 'before-terminate'), hook('report', 'after-terminate'), hook('mail', 'before-drain')];
    expect(warnings(policy('a', { termination: { hooks } }))).toEqual([
      [
        'HooksDoNotHold',
        'spec.termination.hooks[0] (backup), spec.termination.hooks[2] (mail) cannot hold anything beside Karpenter, which drains and ends instances by itself under builtin: Keep; only after-terminate holds there, and every hook under builtin: Replace (NodePool web)',
      ],
    ]);
  });

  it('is warned of the NodePools by name, in order, and only those with such NodeClaims', () => {
    const pools = [pool('web', 1), pool('idle', 0), pool(undefined, 1), pool('db', 2)];
    expect(warnings(policy('a', REPLACE), { pools })).toEqual([
      ['ReplaceNotInForce', expect.stringContaining('not in force in NodePool db, web: NodeClaims there')],
    ]);
  });

  it('is warned of nothing in a NodePool where the block of another policy is in force', () => {
    const all = policy('all', BACKUP);
    const web = policy('own', { nodePoolSelector: { matchLabels: { team: 'web' } }, ...REPLACE });
    const cluster = { policySet: readPolicies([all, web]), pools: [pool('web', 1), pool('db', 1)] };
    expect(warnings(all, cluster)).toEqual([['HooksDoNotHold', expect.stringMatching(/ \(NodePool db\)$/)]]);
    expect(warnings(web, cluster)).toEqual([['ReplaceNotInForce', expect.stringContaining(' in NodePool web: ')]]);
  });

  it.each<[string, JsonObject, Partial<ClusterFacts>]>([
    ['no NodeClaim carries it', REPLACE, { pools: [pool('web', 0)] }],
    ['only NodeClaims without a NodePool carry it', REPLACE, { pools: [pool(undefined, 1)] }],
    ['it has hooks, and no NodeClaim carries it', BACKUP, { pools: [pool('web', 0)] }],
    ['it has no hook', { termination: {} }, {}],
    ['its hooks come after the end', { termination: { hooks: [hook('report', 'after-terminate')] } }, {}],
    ['it has no termination block', { repair: {} }, {}],
  ])('is warned of nothing where %s', (_, spec, cluster) => {
    expect(warnings(policy('a', spec), cluster)).toEqual([]);
  });
});

describe('a policy of which an earlier termination block is in force, beside the finalizer of Karpenter', () => {
  const earlier = { policySet: readPolicies([policy('a', REPLACE)]) };
  const { spec: _, ...specless } = policy('a', {});

  it.each<[string, KubernetesObject]>([
    ['its block is refused', policy('a', { termination: { builtin: 'Remove' } })],
    ['its block is taken out', policy('a', { repair: {} })],
    ['it has no spec any more', specless],
  ])('is warned of nothing while %s', (__, object) => {
    expect(warnings(object, earlier)).toEqual([]);
  });
});
