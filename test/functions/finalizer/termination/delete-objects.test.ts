/** Whichever of NodeClaim and Node was deleted, the other follows, and no Node goes before its pods have. */
import { describe, expect, it } from 'vitest';
import { failuresOf } from '../../../builders/scenario.ts';

const ID = '"aws:///us-west-2a/i-1"';
const POOL = '{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default } }';
const policyOf = (scope: string): string =>
  `{ apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: all }, spec: { termination: { finalizerName: example.com/custom, scope: ${scope} } } }`;
const claimOf = (metadata: string): string =>
  `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: c1, labels: { karpenter.sh/nodepool: default }, ${metadata} }, status: { providerID: ${ID}, nodeName: n1, conditions: [{ type: Registered, status: "True" }] } }`;
const nodeOf = (metadata: string): string =>
  `{ apiVersion: v1, kind: Node, metadata: { name: n1, labels: { karpenter.sh/nodepool: default }, ${metadata} }, spec: { providerID: ${ID} }, status: { conditions: [{ type: Ready, status: "True" }] } }`;
const protectedFor = (time: string): string =>
  `{ apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: p1, annotations: { karpenter.sh/do-not-disrupt: "${time}" } }, spec: { nodeName: n1, terminationGracePeriodSeconds: 30 }, status: { phase: Running } }`;

const MARK = 'annotations: { curfew.dev/termination-finalizer: example.com/custom }';
const HELD = `finalizers: [example.com/custom], ${MARK}`;
const UNREGISTERED = `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: c1, labels: { karpenter.sh/nodepool: default } }, status: { providerID: ${ID} } }`;
const GOING = 'deletionTimestamp: "2024-11-01T15:00:00Z"';

const DRAINED_FIRST = [
  '{ before: 13m, write: { verb: evict, resource: pods, namespace: ml, name: p1 }, times: 0 }',
  '{ before: 13m, write: { verb: terminate, resource: instances }, times: 0 }',
  '{ at: 13m, within: 5s, write: { verb: evict, resource: pods, namespace: ml, name: p1 }, times: 1 }',
  '{ write: { verb: terminate, resource: instances }, times: 1 }',
  '{ final: { resource: nodes, name: n1, exists: false } }',
  '{ final: { resource: nodeclaims, name: c1, exists: false } }',
];

describe('a Node without a finalizer, whose NodeClaim is ours and is being deleted', () => {
  it('gets ours before it is deleted, and its protected pod its time (I2)', async () => {
    const objects = [
      POOL,
      policyOf('NodeClaimAndNode'),
      claimOf(`${HELD}, ${GOING}`),
      nodeOf('annotations: {}'),
      protectedFor('13m'),
    ];
    expect(await failuresOf({ duration: '20m', objects, steps: [], expect: DRAINED_FIRST })).toEqual([]);
  });

  it.for([
    ['is not in scope any more', `{ at: 1m, apply: ${policyOf('None')} }`],
    ['has no policy any more', '{ at: 1m, delete: { resource: nodelifecyclepolicies, name: all } }'],
  ] as const)('also when it %s', async ([, change]) => {
    const steps = [
      change,
      `{ at: 2m, apply: ${claimOf('annotations: {}')} }`,
      `{ at: 2m, apply: ${nodeOf('annotations: {}')} }`,
      `{ at: 3m, apply: ${protectedFor('10m')} }`,
      '{ at: 4m, delete: { resource: nodeclaims, name: c1 } }',
    ];
    const objects = [POOL, policyOf('NodeClaimAndNode'), UNREGISTERED];
    expect(await failuresOf({ duration: '20m', objects, steps, expect: DRAINED_FIRST })).toEqual([]);
  });
});
