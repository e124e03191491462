/** Mode Observe: what is only observed stays so while nobody can say what the mode is by now (I6). */
import { expect, it } from 'vitest';
import { failuresOf } from '../../../builders/scenario.ts';

const LABELS = 'labels: { karpenter.sh/nodepool: default }';
const HELD = 'finalizers: [example.com/custom], annotations: { curfew.dev/termination-finalizer: example.com/custom }';
const ID = '"aws:///us-west-2a/i-1"';

const objectsIn = (mode: 'Enforce' | 'Observe'): readonly string[] => [
  '{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default } }',
  `{ apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: all }, spec: { mode: ${mode}, termination: { finalizerName: example.com/custom, hooks: [{ name: h, at: before-drain, lambda: { functionName: f }, deadline: 1h, onTimeout: Abort }] } } }`,
  `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: c1, ${LABELS}, ${HELD} }, spec: { terminationGracePeriod: 20m }, status: { providerID: ${ID}, nodeName: n1, conditions: [{ type: Registered, status: "True" }] } }`,
  `{ apiVersion: v1, kind: Node, metadata: { name: n1, ${LABELS}, ${HELD} }, spec: { providerID: ${ID} } }`,
  '{ apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: p1, annotations: { karpenter.sh/do-not-disrupt: "true" } }, spec: { nodeName: n1, terminationGracePeriodSeconds: 30 }, status: { phase: Running } }',
];

const DELETED = '{ at: 1m, delete: { resource: nodeclaims, name: c1 } }';
const UNSEEN =
  '{ at: 8m, refuse: { verb: list, resource: nodelifecyclepolicies, by: finalizer, status: 403, for: 40m } }';
const RUN_AGAIN = '{ at: 25m, restart: forwarder }';
const NOTHING_ENDS = [
  '{ after: 8m, write: { verb: delete, by: finalizer }, times: 0 }',
  '{ after: 8m, write: { verb: evict, by: finalizer }, times: 0 }',
  `{ final: { instance: ${ID}, state: running } }`,
];

it('one that has begun and was put into mode Observe does not go on while policies cannot be read', async () => {
  const steps = [
    DELETED,
    '{ at: 5m, patch: { resource: nodelifecyclepolicies, name: all, merge: { spec: { mode: Observe } } } }',
    UNSEEN,
    RUN_AGAIN,
  ];
  expect(await failuresOf({ duration: '40m', objects: objectsIn('Enforce'), steps, expect: NOTHING_ENDS })).toEqual([]);
});

it('one that was only observed is not forced by its own deadline while policies cannot be read', async () => {
  const steps = [DELETED, UNSEEN, RUN_AGAIN];
  expect(await failuresOf({ duration: '40m', objects: objectsIn('Observe'), steps, expect: NOTHING_ENDS })).toEqual([]);
});

it('the audit line names the Nodes that go with the NodeClaim', async () => {
  const said = ['{ audit: { function: finalizer, decision: wouldTerminate, details: { nodes: [n1] } }, times: 1 }'];
  expect(await failuresOf({ duration: '5m', objects: objectsIn('Observe'), steps: [DELETED], expect: said })).toEqual(
    [],
  );
});
