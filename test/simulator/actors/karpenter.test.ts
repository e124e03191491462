import { describe, expect, it } from 'vitest';
import { complaints, nodeObjects, simulate, story } from '../simulate.ts';

const DELETE = '    - { at: 1m, delete: { resource: nodeclaims, name: a } }\n';

describe('karpenter', () => {
  it('removes Node, instance and finalizer 5 s after the NodeClaim is deleted', async () => {
    const result = await simulate(`  objects:
${nodeObjects('a', 'True')}  steps:
${DELETE}  expect:
    - { final: { resource: nodes, name: a, exists: false } }
    - { final: { resource: nodeclaims, name: a, exists: false } }
    - { final: { instance: "aws:///us-west-2a/i-a", state: terminated } }
`);
    expect(complaints(result)).toEqual([]);
    expect(story(result, 'karpenter')).toEqual([
      '15:01:05.000 karpenter delete nodes a',
      '15:01:05.000 karpenter patch nodeclaims a, which is gone with that',
    ]);
  });

  it('takes its own finalizer off the Node and leaves those of others', async () => {
    const finalizers = `    - at: 0s
      patch: { resource: nodes, name: a, merge: { metadata: { finalizers: [karpenter.sh/termination, example.com/mine] } } }
`;
    const result = await simulate(`  objects:
${nodeObjects('a', 'True')}  steps:
${finalizers}${DELETE}  expect:
    - { final: { resource: nodes, name: a, match: { metadata: { finalizers: [example.com/mine] } }, absent: ["metadata.finalizers[1]"] } }
    - { final: { resource: nodeclaims, name: a, exists: false } }
`);
    expect(complaints(result)).toEqual([]);
  });

  it('does nothing for a NodeClaim without its finalizer', async () => {
    const result = await simulate(`  objects:
${nodeObjects('a', 'True').replace('finalizers: [karpenter.sh/termination]', 'finalizers: [example.com/mine]')}  steps:
${DELETE}  expect:
    - { final: { resource: nodes, name: a } }
    - { final: { instance: "aws:///us-west-2a/i-a", state: running } }
`);
    expect(complaints(result)).toEqual([]);
    expect(story(result, 'karpenter')).toEqual([]);
  });

  it('leaves a Node of another instance alone that took over the name', async () => {
    const result = await simulate(`  objects:
${nodeObjects('a', 'True')}  steps:
${DELETE}    - { at: 61s, delete: { resource: nodes, name: a } }
    - { at: 62s, apply: { apiVersion: v1, kind: Node, metadata: { name: a }, spec: { providerID: "aws:///us-west-2a/i-new" } } }
  expect:
    - { final: { resource: nodes, name: a, match: { spec: { providerID: "aws:///us-west-2a/i-new" } } } }
    - { final: { resource: nodeclaims, name: a, exists: false } }
    - { final: { instance: "aws:///us-west-2a/i-new", state: running } }
`);
    expect(complaints(result)).toEqual([]);
  });
});
