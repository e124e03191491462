/** What a change of a Node costs the functions that it does not concern: a cluster in which nodes fall ill must not be read four times. */
import { describe, expect, it } from 'vitest';
import { runScenario } from '../../simulator/run.ts';
import { scenarioOf } from '../builders/scenario.ts';

const scenarioWith = (step: string): string => `
apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: one-change }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 2m
  actors: []
  objects:
    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default }, spec: {} }
    - apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: { name: claim-1, labels: { karpenter.sh/nodepool: default } }
      status: { providerID: "aws:///us-west-2a/i-1", nodeName: node-1 }
    - apiVersion: v1
      kind: Node
      metadata: { name: node-1, labels: { karpenter.sh/nodepool: default } }
      spec: { providerID: "aws:///us-west-2a/i-1" }
      status: { conditions: [{ type: Ready, status: "True", reason: Test, lastTransitionTime: "2024-11-01T14:00:00Z" }] }
  steps: [${step}]
  expect: []
`;

/** Reads of the API server by function. */
async function readsOf(step: string): Promise<Readonly<Record<string, number>>> {
  const reads: Record<string, number> = {};
  const onPermissionUsed = (part: string, permission: string): void => {
    if (/^(get|list) /.test(permission)) reads[part] = (reads[part] ?? 0) + 1;
  };
  await runScenario(scenarioOf(scenarioWith(step)), { onPermissionUsed });
  return reads;
}

async function costOf(step: string): Promise<Readonly<Record<string, number>>> {
  const [before, after] = [await readsOf(''), await readsOf(step)];
  const names = ['drain', 'finalizer', 'grace-period', 'repair'];
  return Object.fromEntries(names.map(name => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
}

const NEW_NODE = `{ at: 30s, apply: { apiVersion: v1, kind: Node, metadata: { name: node-2 }, spec: { providerID: x } } }`;

const patch = (kind: string, name: string, body: string): string => {
  return `{ at: 30s, patch: { resource: ${kind.toLowerCase()}s, name: ${name}, merge: ${body} } }`;
};

describe('a change of a healthy node', () => {
  it('is read by nobody for its sake who keeps nothing about the node', async () => {
    const labelled = await costOf(patch('Node', 'node-1', '{ metadata: { labels: { karpenter.sh/x: y } } }'));
    expect(labelled).toMatchObject({ drain: 0, 'grace-period': 0 });
    const tainted = patch('Node', 'node-1', '{ spec: { taints: [{ key: a, value: b, effect: NoSchedule }] } }');
    expect(await costOf(tainted)).toEqual({ drain: 0, finalizer: 1, 'grace-period': 0, repair: 0 });
  });

  it('is not read by drain and grace-period when the node is gone, nor by drain when it comes', async () => {
    const gone = await costOf('{ at: 30s, delete: { resource: nodes, name: node-1 } }');
    expect(gone).toMatchObject({ drain: 0, 'grace-period': 0, repair: 0 });
    const came = await costOf(NEW_NODE);
    expect(came).toMatchObject({ drain: 0 });
    expect(came['grace-period']).toBeGreaterThan(0);
  });

  it('is not looked at by the finalizer when its NodeClaim is gone, and nothing was under way', async () => {
    expect(await costOf('{ at: 30s, delete: { resource: nodeclaims, name: claim-1 } }')).toMatchObject({
      finalizer: 0,
    });
  });

  it('is looked at by whom it concerns', async () => {
    const asked = patch('Node', 'node-1', '{ metadata: { annotations: { curfew.dev/drain-requested: id-1 } } }');
    expect((await costOf(asked))['drain']).toBeGreaterThan(0);
    const ill = patch(
      'Node',
      'node-1',
      '{ status: { conditions: [{ type: Ready, status: "False", reason: Test, lastTransitionTime: "2024-11-01T15:00:30Z" }] } }',
    );
    const cost = await costOf(ill);
    expect(cost).toMatchObject({ drain: 0, finalizer: 1, 'grace-period': 0 });
    expect(cost['repair']).toBeGreaterThan(0);
  });

  it('is not looked at by repair when the finalizers of its NodeClaim change', async () => {
    const held = patch('NodeClaim', 'claim-1', '{ metadata: { finalizers: [example.com/x] } }');
    expect(await costOf(held)).toMatchObject({ repair: 0, drain: 0, 'grace-period': 0 });
  });
});
