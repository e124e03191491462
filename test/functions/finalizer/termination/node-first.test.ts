/** A Node that ends in a termination of its own before a NodeClaim of its instance does: the hooks were called for the instance (I4). */
import { expect, it } from 'vitest';
import { failuresOf } from '../../../builders/scenario.ts';

const LABELS = 'labels: { karpenter.sh/nodepool: default }';
const HELD = 'finalizers: [example.com/custom]';
const ID = '"aws:///us-west-2a/i-1"';
const SETTINGS = [
  '{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default } }',
  '{ apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: all }, spec: { termination: { finalizerName: example.com/custom, hooks: [{ name: announce, at: before-terminate, lambda: { functionName: f } }] } } }',
];
const NODE = `{ apiVersion: v1, kind: Node, metadata: { name: n1, ${LABELS}, ${HELD} }, spec: { providerID: ${ID} }, status: { conditions: [{ type: Ready, status: Unknown }] } }`;
const claimOf = (name: string): string =>
  `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: ${name}, ${LABELS} }, spec: {}, status: { providerID: ${ID}, nodeName: n1 } }`;

const NODE_ENDS = [
  `{ at: 30s, cloud: { providerID: ${ID}, state: terminated } }`,
  '{ at: 1m, delete: { resource: nodes, name: n1 } }',
];
const call = '{ write: { verb: invoke, resource: hooks, name: announce }, times: 1 }';
const CALLED_FOR_NODE = [call, call.replace('{ write', '{ before: 2m, write')];
const gone = (resource: string, name: string): string =>
  `{ final: { resource: ${resource}, name: ${name}, exists: false } }`;

it('calls them for all NodeClaims that have its instance, whenever those are deleted', async () => {
  const objects = [...SETTINGS, claimOf('c1'), claimOf('c2'), NODE];
  const steps = [
    ...NODE_ENDS,
    '{ at: 20m, delete: { resource: nodeclaims, name: c1 } }',
    // Its record was looked at meanwhile.
    '{ at: 30h, delete: { resource: nodeclaims, name: c2 } }',
  ];
  const expectations = [...CALLED_FOR_NODE, gone('nodes', 'n1'), gone('nodeclaims', 'c1'), gone('nodeclaims', 'c2')];
  expect(await failuresOf({ duration: '31h', objects, steps, expect: expectations })).toEqual([]);
});

// From the call of the hook until the Node is released.
it.each(['1m13s', '1m14s', '1m15s', '1m16s'])('calls them for a NodeClaim that comes at %s', async at => {
  const steps = [
    ...NODE_ENDS,
    `{ at: ${at}, apply: ${claimOf('c1')} }`,
    '{ at: 20m, delete: { resource: nodeclaims, name: c1 } }',
  ];
  const expectations = [...CALLED_FOR_NODE, gone('nodes', 'n1'), gone('nodeclaims', 'c1')];
  const rest = '  callDuration: 500ms\n';
  const objects = [...SETTINGS, NODE];
  expect(await failuresOf({ duration: '40m', rest, objects, steps, expect: expectations })).toEqual([]);
});
