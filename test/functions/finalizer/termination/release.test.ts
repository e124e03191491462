/** The last step: what it takes our finalizer off, in which order, and what goes before. */
import { describe, expect, it } from 'vitest';
import { releaseObjects } from '../../../../functions/finalizer/termination/release.ts';
import { openTermination } from '../../../../functions/finalizer/termination/record.ts';
import type { StepContext } from '../../../../functions/finalizer/termination/context.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { hookProgress } from '../../../builders/hook.ts';
import { createStepWorld, PROVIDER_ID } from './step-world.ts';

const OURS = 'example.com/custom';
const NODE = { type: RESOURCES.Node, name: 'n1' };
const CLAIM = { type: RESOURCES.NodeClaim, name: 'c1' };
const DONE = { kind: 'done' };
const RACE_LOST = { kind: 'progressed', because: 'it changed in between' };

type World = ReturnType<typeof createStepWorld>;
const finalizersOf = ({ metadata }: KubernetesObject): readonly string[] => metadata.finalizers ?? [];
const changedBySomebody = (world: World, ref: typeof NODE): void =>
  void world.core.patch(
    ref,
    { type: 'merge', body: { metadata: { labels: { by: 'somebody' } } } },
    { user: 'somebody' },
  );
const living = (object: KubernetesObject): KubernetesObject => {
  const { deletionTimestamp: _, ...metadata } = object.metadata;
  return { ...object, metadata };
};
const look = (context: StepContext, observed: Partial<StepContext['observed']>): StepContext => ({
  ...context,
  observed: { ...context.observed, ...observed },
});
/** With a finalizer of somebody else's on both, so that they stay when ours is off. */
const keptWorld = (): World => {
  const metadata = {
    finalizers: ['example.com/other', OURS],
    annotations: { 'curfew.dev/termination-finalizer': OURS },
  };
  return createStepWorld({ node: { metadata }, claim: { metadata } });
};

describe('what has our finalizer alone', () => {
  it('is gone once it is released, and a Node counts as accounted for', async () => {
    const world = createStepWorld();
    const context = world.startRun()();
    expect(await releaseObjects.run(context)).toEqual(DONE);
    const { kubernetes } = context.deps;
    expect([await kubernetes.get(NODE), await kubernetes.get(CLAIM)]).toEqual([
      { kind: 'notThere' },
      { kind: 'notThere' },
    ]);
    expect(context.run.releasedNodes).toEqual(new Set([context.observed.nodes[0]?.metadata.uid]));
  });
});

describe('what somebody else holds, too', () => {
  it('keeps their finalizer, and our mark goes with ours', async () => {
    const world = keptWorld();
    expect(await releaseObjects.run(world.startRun()())).toEqual(DONE);
    expect(finalizersOf(world.node())).toEqual(['example.com/other']);
    expect(finalizersOf(world.claim())).toEqual(['example.com/other']);
    expect([world.node(), world.claim()].map(({ metadata }) => metadata.annotations ?? {})).toEqual([{}, {}]);
  });

  it('is not written again once ours is off', async () => {
    const world = keptWorld();
    await releaseObjects.run(world.startRun()());
    const context = world.startRun()();
    const patch = () => Promise.reject(new Error('nothing is to be written'));
    const kubernetes = { ...context.deps.kubernetes, patch };
    expect(await releaseObjects.run({ ...context, deps: { ...context.deps, kubernetes } })).toEqual(DONE);
  });
});

describe('what lives', () => {
  it.each([
    ['a Node keeps ours, for it is of a NodeClaim that never registered or shares its instance', 'node'],
    ['a NodeClaim keeps ours while its Node goes by itself', 'claim'],
  ] as const)('%s', async (_, which) => {
    const world = keptWorld();
    const context = world.startRun()();
    const { claim, nodes } = context.observed;
    const observed = which === 'node' ? { nodes: nodes.map(living) } : { claim: claim && living(claim) };
    expect(await releaseObjects.run(look(context, observed))).toEqual(DONE);
    const held = [world.node(), world.claim()].filter(object => finalizersOf(object).includes(OURS));
    expect(held.map(({ metadata }) => metadata.name)).toEqual([which === 'node' ? 'n1' : 'c1']);
  });
});

describe('a write that comes second', () => {
  it('to the Node leaves the NodeClaim as it is: Nodes go first', async () => {
    const world = keptWorld();
    const context = world.startRun()();
    changedBySomebody(world, NODE);
    expect(await releaseObjects.run(context)).toEqual(RACE_LOST);
    expect(finalizersOf(world.claim())).toContain(OURS);
  });

  it('to the NodeClaim is made in the next turn, and the Node is released by then', async () => {
    const world = keptWorld();
    const context = world.startRun()();
    changedBySomebody(world, CLAIM);
    expect(await releaseObjects.run(context)).toEqual(RACE_LOST);
    expect(finalizersOf(world.node())).not.toContain(OURS);
    expect(finalizersOf(world.claim())).toContain(OURS);
    expect(await releaseObjects.run(world.startRun()())).toEqual(DONE);
    expect(finalizersOf(world.claim())).not.toContain(OURS);
  });
});

describe('hooks that were called', () => {
  const OTHER = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'c2', uid: 'uid-c2' },
    status: { providerID: PROVIDER_ID },
  };
  const HOOKS = { backup: hookProgress('succeeded') };
  const calledWorld = async () => {
    const world = createStepWorld({ others: [OTHER] });
    const context = world.startRun()();
    await context.saveRecord({ hooks: HOOKS });
    return { world, context };
  };

  it('are handed on to another NodeClaim of the instance (I4)', async () => {
    const { context } = await calledWorld();
    expect(await releaseObjects.run(context)).toEqual(DONE);
    const loaded = await openTermination(context.deps, 'NodeClaim', 'uid-c2').load();
    expect(loaded).toMatchObject({ kind: 'known', value: { hooks: HOOKS } });
  });

  it('are handed on before anything is released: a run that loses that race releases nothing', async () => {
    const { world, context } = await calledWorld();
    const records = { ...context.deps.records, put: async () => ({ kind: 'lostRace' }) as const };
    expect(await releaseObjects.run({ ...context, deps: { ...context.deps, records } })).toEqual(RACE_LOST);
    expect(finalizersOf(world.node())).toEqual([OURS]);
  });

  it('stay here while the object lives: its own deletion may call them', async () => {
    const { context } = await calledWorld();
    const { claim, object } = context.observed;
    await releaseObjects.run(look(context, { object: living(object), claim: claim && living(claim) }));
    expect(await openTermination(context.deps, 'NodeClaim', 'uid-c2').load()).toEqual({ kind: 'none' });
  });
});
