/** I12: a run that dies between any two calls does not take with it that a guard had blocked repairs. */
import { expect, it } from 'vitest';
import { minutes } from '../../../shared/domain/time.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { type Crash, createRepairWorld, type RepairWorld, seedPool } from '../../fakes/repair-world.ts';

const UNHEALTHY = ['n1', 'n2', 'n3'];
const REPAIR = { policies: [{ conditionType: 'NetworkUnavailable', toleration: '10m' }] };

/** Three nodes of five are unhealthy, which the threshold blocked until now. */
async function heldWorld(): Promise<RepairWorld> {
  const world = createRepairWorld();
  seedPool(world, [...UNHEALTHY, 'n4', 'n5'], REPAIR);
  for (const name of UNHEALTHY) world.setCondition(name, 'NetworkUnavailable', 'True');
  await world.look('n1');
  world.advance(minutes(10));
  await world.look('n1');
  const body = { spec: { repair: { ...REPAIR, maxUnhealthy: '100%' } } };
  world.core.patch({ type: RESOURCES.NodePool, name: 'default' }, { type: 'merge', body }, { user: 'somebody' });
  world.advance(minutes(1));
  return world;
}

const deleted = (world: RepairWorld): number =>
  world.core.list(RESOURCES.NodeClaim).items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;

/** How many repairs each of two looks begins, a minute apart. @param crash the first one dies there */
async function begunBy(crash: Crash | undefined): Promise<{ readonly calls: number; readonly begun: number[] }> {
  const world = await heldWorld();
  const calls = await world.look('n1', crash);
  const first = deleted(world);
  world.advance(minutes(1));
  await world.look('n1');
  return { calls, begun: [first, deleted(world) - first] };
}

it('begins again with one repair, wherever the run before it ended', async () => {
  const { calls, begun } = await begunBy(undefined);
  expect(begun).toEqual([1, 2]);
  for (let call = 1; call <= calls; call++) {
    for (const side of ['before', 'after'] as const) {
      const [first = 0, second = 0] = (await begunBy({ call, side })).begun;
      expect(`${call} ${side}: ${first === 0 && second > 1 ? 'all at once' : 'slowly'}`).toBe(
        `${call} ${side}: slowly`,
      );
    }
  }
});
