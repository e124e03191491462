/** The step that closes the Nodes: Karpenter's taint and label, and the wish to hear of their pods, in one write. */
import { describe, expect, it } from 'vitest';
import { taintNodes } from '../../../../functions/finalizer/termination/taint.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import { createStepWorld, type StepWorldOptions } from './step-world.ts';

const OTHER = { key: 'example.com/gpu', effect: 'NoSchedule' };
const OURS = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' };

const LABEL = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'karpenter' };
const WATCHED = { 'curfew.dev/watch-pods': 'finalizer' };

describe('a Node that is terminated', () => {
  it('is tainted and excluded from load balancers, and its pods are watched', async () => {
    const world = createStepWorld({ node: { spec: { taints: [OTHER] } } });
    expect(await taintNodes.run(world.startRun()())).toEqual({ kind: 'progressed', because: 'Nodes were tainted' });
    const { metadata, spec } = world.node();
    expect(spec?.['taints']).toEqual([OTHER, OURS]);
    expect(metadata.labels).toMatchObject(LABEL);
    expect(metadata.annotations).toMatchObject(WATCHED);
    expect(await taintNodes.run(world.startRun()())).toEqual({ kind: 'done' });
  });

  it.each<[string, StepWorldOptions['node'], readonly object[]]>([
    ['keeps the value of such a taint', { spec: { taints: [{ ...OURS, value: 'x' }] } }, [{ ...OURS, value: 'x' }]],
    [
      'loses one of that key with another effect',
      { spec: { taints: [{ ...OURS, effect: 'NoExecute' }, OTHER] } },
      [OTHER, OURS],
    ],
  ])('%s', async (_, node, taints) => {
    const world = createStepWorld({ node });
    await taintNodes.run(world.startRun()());
    expect(world.node().spec?.['taints']).toEqual(taints);
  });

  it.each<[string, StepWorldOptions['node']]>([
    ['taint', { metadata: { labels: LABEL, annotations: WATCHED } }],
    ['label', { metadata: { annotations: WATCHED }, spec: { taints: [OURS] } }],
    ['annotation', { metadata: { labels: LABEL }, spec: { taints: [OURS] } }],
  ])('gets its %s where that alone is missing', async (_, node) => {
    const world = createStepWorld({ node });
    await taintNodes.run(world.startRun()());
    const { metadata, spec } = world.node();
    expect(spec?.['taints']).toEqual([OURS]);
    expect(metadata.labels).toMatchObject(LABEL);
    expect(metadata.annotations).toMatchObject(WATCHED);
  });

  it('keeps those who watch its pods already', async () => {
    const world = createStepWorld({ node: { metadata: { annotations: { 'curfew.dev/watch-pods': 'drain' } } } });
    await taintNodes.run(world.startRun()());
    expect(world.node().metadata.annotations).toMatchObject({ 'curfew.dev/watch-pods': 'drain,finalizer' });
  });

  it('is looked at again if somebody else was first', async () => {
    const world = createStepWorld();
    const context = world.startRun()();
    world.core.patch(
      { type: RESOURCES.Node, name: 'n1' },
      { type: 'merge', body: { metadata: { labels: { by: 'somebody' } } } },
      { user: 'somebody' },
    );
    expect(await taintNodes.run(context)).toEqual({ kind: 'progressed', because: 'it changed in between' });
    expect(world.node().spec?.['taints']).toBeUndefined();
  });
});

it('a Node that lives is left alone', async () => {
  const world = createStepWorld();
  const context = world.startRun()();
  const nodes = context.observed.nodes.map(node => {
    const { deletionTimestamp: _, ...metadata } = node.metadata;
    return { ...node, metadata };
  });
  expect(await taintNodes.run({ ...context, observed: { ...context.observed, nodes } })).toEqual({ kind: 'done' });
  expect(world.node().spec?.['taints']).toBeUndefined();
});
