/** What becomes of a NodeClaim that changes after the pass has listed it (ADR 0023). */
import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import { minutes, seconds } from '../../../../shared/domain/time.ts';
import { createRepairWorld, seedPool, type RepairWorld } from '../../../fakes/repair-world.ts';

const CLAIM = { type: RESOURCES.NodeClaim, name: 'claim-n1' };
const DEADLINE = 'karpenter.sh/nodeclaim-termination-timestamp';
const VETO = 'curfew.dev/do-not-repair';

const annotate = (world: RepairWorld, annotations: Readonly<Record<string, string>>): void =>
  void world.core.patch(CLAIM, { type: 'merge', body: { metadata: { annotations } } }, { user: 'somebody' });

/** n1 is due; somebody writes these annotations on its NodeClaim between the pass' list and its first write. */
async function lookWith(world: RepairWorld, annotations: Readonly<Record<string, string>>): Promise<number> {
  world.beforeNextIntent(async () => annotate(world, annotations));
  return world.look('n1');
}

function dueWorld(): RepairWorld {
  const world = createRepairWorld();
  seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5']);
  world.setCondition('n1', 'NetworkUnavailable', 'True');
  world.advance(minutes(10));
  return world;
}

const verbs = (world: RepairWorld): string[] => world.writes.map(({ verb }) => verb);

describe('a NodeClaim that changed since the pass has listed it', () => {
  it('is looked at again, and deleted in the same run', async () => {
    const world = dueWorld();
    await lookWith(world, { note: 'nothing of interest' });
    expect(verbs(world)).toEqual(['patch', 'delete']);
  });

  it('is left alone when somebody vetoes', async () => {
    const world = dueWorld();
    await lookWith(world, { [VETO]: 'true' });
    world.advance(seconds(2));
    await world.sweep();
    expect(verbs(world)).toEqual([]);
    expect(world.core.get(CLAIM).metadata.annotations).not.toHaveProperty([DEADLINE]);
  });

  it('is left alone by a veto also where its deadline has passed already, and nothing is to be annotated', async () => {
    const world = dueWorld();
    annotate(world, { [DEADLINE]: '2024-11-01T15:00:00Z' });
    await lookWith(world, { [VETO]: 'true' });
    expect(verbs(world)).toEqual([]);
  });

  it('is deleted once where its deadline has passed already', async () => {
    const world = dueWorld();
    annotate(world, { [DEADLINE]: '2024-11-01T15:00:00Z' });
    await lookWith(world, { note: 'nothing of interest' });
    expect(verbs(world)).toEqual(['delete']);
  });
});

describe('a NodeClaim that did not change', () => {
  it('is not read again: each repair costs one read less', async () => {
    const unchanged = dueWorld();
    const changed = dueWorld();
    const calls = await unchanged.look('n1');
    expect(await lookWith(changed, { note: 'nothing of interest' })).toBeGreaterThan(calls);
  });
});
