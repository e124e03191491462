/** A NodeClaim that goes before its Nodes: what was promised for it goes along with each of them that is being deleted. */
import { expect, it } from 'vitest';
import { failuresOf } from '../../../builders/scenario.ts';

const LABELS = 'labels: { karpenter.sh/nodepool: default }';
const HELD = 'finalizers: [example.com/custom]';
const ID = '"aws:///us-west-2a/i-1"';
const STRIPPED = '{ patch: { resource: nodeclaims, name: c1, merge: { metadata: { finalizers: null } } }';

const OBJECTS = [
  '{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default } }',
  '{ apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: all }, spec: { termination: { finalizerName: example.com/custom, hooks: [{ name: deregister, at: before-drain, lambda: { functionName: f }, deadline: 10m }] } } }',
  `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: c1, ${LABELS}, ${HELD} }, spec: { terminationGracePeriod: 20m }, status: { providerID: ${ID}, nodeName: n1, conditions: [{ type: Registered, status: "True" }] } }`,
  `{ apiVersion: v1, kind: Node, metadata: { name: n1, ${LABELS}, ${HELD} }, spec: { providerID: ${ID} } }`,
  '{ apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: p1, annotations: { karpenter.sh/do-not-disrupt: "true" } }, spec: { nodeName: n1, terminationGracePeriodSeconds: 30 }, status: { phase: Running } }',
];
const failuresAfter = (steps: readonly string[], expect: readonly string[]): Promise<readonly string[]> =>
  failuresOf({ duration: '30m', objects: OBJECTS, steps, expect });

const deleted = '{ at: 1m, delete: { resource: nodeclaims, name: c1 } }';

it('its Node keeps the deadline, and no hook is called twice', async () => {
  const steps = [deleted, STRIPPED.replace('{ patch', '{ at: 5m, patch') + ' }'];
  const expectations = [
    '{ write: { verb: invoke, resource: hooks, name: deregister }, times: 1 }',
    '{ before: 20m, write: { verb: delete, resource: pods, namespace: ml, name: p1 }, times: 0 }',
    '{ at: 20m30s, within: 5s, write: { verb: delete, resource: pods, namespace: ml, name: p1 }, times: 1 }',
    '{ final: { resource: nodes, name: n1, exists: false } }',
  ];
  expect(await failuresAfter(steps, expectations)).toEqual([]);
});

it('another Node of that name has nothing of it (I10)', async () => {
  const steps = [
    deleted,
    '{ at: 4m, patch: { resource: nodes, name: n1, merge: { metadata: { finalizers: null } } } }',
    `{ at: 4m10s, apply: { apiVersion: v1, kind: Node, metadata: { name: n1, ${LABELS}, ${HELD} }, spec: { providerID: "aws:///us-west-2a/i-2" } } }`,
    STRIPPED.replace('{ patch', '{ at: 5m, patch') + ' }',
    '{ at: 6m, delete: { resource: nodes, name: n1 } }',
  ];
  const expectations = [
    // Its pods wait as long as it takes: the deadline was that of the NodeClaim.
    '{ after: 6m, write: { verb: delete, resource: pods, namespace: ml, name: p1 }, times: 0 }',
    '{ final: { resource: nodes, name: n1, exists: true } }',
  ];
  expect(await failuresAfter(steps, expectations)).toEqual([]);
});

const EC2_FAILS = `{ at: 2m, cloud: { providerID: ${ID}, fail: error } }`;
const BOTH_STRIPPED = [
  STRIPPED.replace('{ patch', '{ at: 5m, patch') + ' }',
  '{ at: 5m, patch: { resource: nodes, name: n1, merge: { metadata: { finalizers: null } } } }',
  '{ at: 5m, delete: { resource: nodes, name: n1 } }',
];

it('nobody asks more and more often whether its instance is left behind while EC2 does not say, and it is said (I5)', async () => {
  const steps = [deleted, EC2_FAILS, ...BOTH_STRIPPED, `{ at: 90m, cloud: { providerID: ${ID}, fail: none } }`];
  const expectations = [
    '{ before: 85m, event: { reason: PossibleOrphan }, times: 0 }',
    '{ after: 5m, before: 30m, event: { type: Warning, reason: InstanceTerminationFailed, name: c1 }, times: 1 }',
    '{ after: 90m, before: 96m, event: { reason: PossibleOrphan, name: c1 }, times: 1 }',
  ];
  expect(await failuresOf({ duration: '3h', objects: OBJECTS, steps, expect: expectations })).toEqual([]);
});

it('a possible orphan that EC2 does not speak of when its day is over is looked at every five minutes', async () => {
  const steps = [
    deleted,
    ...BOTH_STRIPPED,
    `{ at: 23h, cloud: { providerID: ${ID}, fail: error } }`,
    `{ at: 26h, cloud: { providerID: ${ID}, fail: none } }`,
  ];
  const expectations = [
    '{ before: 1h, event: { reason: PossibleOrphan, name: c1 }, times: 1 }',
    '{ after: 26h, before: 26h6m, audit: { function: finalizer, reason: PossibleOrphan }, times: 1 }',
  ];
  expect(await failuresOf({ duration: '27h', objects: OBJECTS, steps, expect: expectations })).toEqual([]);
});
