/** What is counted of repairs, by condition and pool. */
import { expect, it } from 'vitest';
import { minutes, seconds } from '../../../shared/domain/time.ts';
import { createRepairWorld, seedPool } from '../../fakes/repair-world.ts';

async function counted(unhealthy: readonly string[]) {
  const world = createRepairWorld();
  seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5'], { defaultTolerationDuration: '10m' });
  for (const name of unhealthy) world.setCondition(name, 'NetworkUnavailable', 'True');
  world.advance(minutes(10));
  await world.look('n1');
  return world.counted;
}

it('counts an action by condition, pool and action', async () => {
  const pool = { nodePool: 'default' };
  const lines = await counted(['n1']);
  expect(lines).toContainEqual({
    name: 'RepairStarted',
    value: 1,
    ...pool,
    condition: 'NetworkUnavailable',
    action: 'Terminate',
  });
  expect(lines).toContainEqual({ name: 'RepairDecision', value: 1, ...pool, decision: 'repair' });
  expect(lines).toContainEqual({ name: 'RepairsUnderWay', value: 1, ...pool });
});

it('counts what is blocked by pool and reason', async () => {
  const lines = await counted(['n1', 'n2']);
  expect(lines).toContainEqual({ name: 'RepairHeld', value: 2, nodePool: 'default', reason: 'UnhealthyThreshold' });
  expect(lines.map(({ name }) => name)).not.toContain('RepairStarted');
});

it('counts a node whose action EC2 refuses as blocked, like the record of its pool', async () => {
  const world = createRepairWorld();
  const repair = { defaultTolerationDuration: '10m', actions: [{ type: 'Reboot', timeout: '30m' }] };
  seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5'], repair);
  world.setCondition('n1', 'NetworkUnavailable', 'True');
  world.advance(minutes(10));
  world.cloud.outcome = { kind: 'refused', reason: 'IncorrectInstanceState', message: 'it is stopped' };
  await world.look('n1');
  await world.run(seconds(20));
  const pool = world.store.all().find(({ id }) => id.startsWith('pool/'));
  expect(pool?.state['counts']).toMatchObject({ held: 1 });
  expect(world.counted).toContainEqual({ name: 'RepairHeld', value: 1, nodePool: 'default', reason: 'ActionRefused' });
});
