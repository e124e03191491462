/** A NodeClaim that goes while its run has the answer of a worker in hand: the Node goes on with it, for nobody answers twice (I9). */
import { expect, it } from 'vitest';
import { failuresOf } from '../../../builders/scenario.ts';

const LABELS = 'labels: { karpenter.sh/nodepool: default }';
const ID = '"aws:///us-west-2a/i-1"';
const OBJECTS = [
  '{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default } }',
  '{ apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: all }, spec: { termination: { finalizerName: example.com/custom, hooks: [{ name: announce, at: before-drain, event: { detailType: Announce }, deadline: 20m, onTimeout: Abort }] } } }',
  `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: c1, uid: uid-c1, ${LABELS} }, spec: {}, status: { providerID: ${ID}, nodeName: n1 } }`,
  `{ apiVersion: v1, kind: Node, metadata: { name: n1, ${LABELS} }, spec: { providerID: ${ID} }, status: { conditions: [{ type: Ready, status: "True" }] } }`,
  '{ apiVersion: v1, kind: Pod, metadata: { name: web-0, namespace: default }, spec: { nodeName: n1, containers: [{ name: c, image: i }] }, status: { phase: Running } }',
];

// From the read of the record until the NodeClaim is looked at.
it.each(['300ms', '600ms', '900ms', '1100ms'])('counts for its Node where it goes after %s', async after => {
  const steps = [
    '{ at: 30s, hook: { name: announce, result: silent } }',
    '{ at: 1m, delete: { resource: nodeclaims, name: c1 } }',
    '{ at: 3m, busEvent: { source: curfew.worker, detail-type: TerminationHookAnswered, detail: { cluster: simulated, key: uid-c1/announce, result: succeed } } }',
    `{ at: 3m${after}, patch: { resource: nodeclaims, name: c1, merge: { metadata: { finalizers: null } } } }`,
  ];
  const expectations = [
    '{ write: { verb: invoke, resource: hooks, name: announce }, times: 1 }',
    '{ after: 3m, before: 5m, write: { verb: evict, name: web-0 }, times: 1 }',
    '{ final: { resource: nodes, name: n1, exists: false } }',
  ];
  const rest = '  callDuration: 500ms\n';
  expect(await failuresOf({ duration: '30m', rest, objects: OBJECTS, steps, expect: expectations })).toEqual([]);
});
