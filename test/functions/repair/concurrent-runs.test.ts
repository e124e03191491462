import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { minutes, seconds } from '../../../shared/domain/time.ts';
import { createRepairWorld, seedPool, type RepairWorld } from '../../fakes/repair-world.ts';

function sickWorld(): RepairWorld {
  const world = createRepairWorld();
  seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5']);
  world.setCondition('n1', 'NetworkUnavailable', 'True');
  return world;
}

const recordOf = (world: RepairWorld) => world.store.all().find(({ id }) => id.startsWith('node/'));
const poolRecordOf = (world: RepairWorld) => world.store.all().find(({ id }) => id.startsWith('pool/'));

// Two messages about one node are worked on at the same time as a matter of course. Which of two runs writes first says nothing
// about which of them looked last, so the one that loses must look again: the other's timer may be too late, or there is none.
describe('two runs about one node', () => {
  it('leave a timer when one closes the old incident while the other opens the next one', async () => {
    const world = sickWorld();
    await world.look('n1');
    world.advance(seconds(30));
    world.setCondition('n1', 'NetworkUnavailable', 'False');
    world.setCondition('n1', 'KernelReady', 'False');
    // It saw the node healthy, between the two changes.
    world.beforeNextPut(async () => {
      const { version = 0, id = '' } = recordOf(world) ?? {};
      await world.store.delete({ owner: 'repair', id }, version);
    });
    await world.look('n1');
    expect(recordOf(world)?.nextWakeTime).toBe(world.now() + minutes(30));
  });

  it('leave the timer of the settings in force when the other read the old ones', async () => {
    const world = sickWorld();
    await world.look('n1');
    const stale = recordOf(world);
    const pool = { type: RESOURCES.NodePool, name: 'default' };
    const policies = [{ conditionType: 'NetworkUnavailable', toleration: '3m' }];
    world.core.patch(pool, { type: 'merge', body: { spec: { repair: { policies } } } }, { user: 'somebody' });
    world.beforeNextPut(async () => {
      if (stale !== undefined) await world.store.put(stale, stale.version);
    });
    await world.look('n1');
    expect(recordOf(world)?.nextWakeTime).toBe(world.now() + minutes(3));
  });

  it('leave one repair when both find the node due', async () => {
    const world = sickWorld();
    await world.look('n1');
    world.advance(minutes(10));
    world.beforeNextPut(() => world.look('n1'));
    await world.look('n1');
    const deletes = world.writes.filter(({ verb }) => verb === 'delete');
    expect(deletes).toHaveLength(1);
    expect(poolRecordOf(world)?.state).toMatchObject({ attempts: [{ number: 1, phase: 'accepted' }] });
  });

  it('give the message back when others keep writing', async () => {
    const world = sickWorld();
    await world.look('n1');
    world.setCondition('n1', 'NetworkUnavailable', 'False');
    world.setCondition('n1', 'KernelReady', 'False');
    const touch = async (): Promise<void> => {
      world.beforeNextPut(touch);
      const record = recordOf(world);
      if (record !== undefined) await world.store.put(record, record.version);
    };
    world.beforeNextPut(touch);
    const { uid } = world.node('n1').metadata;
    const subject = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid };
    const run = world.reconcile({ kind: 'wakeUp', owner: 'repair', subject, wakeTime: world.now() });
    await expect(run).rejects.toThrow('changed 5 times while it was looked at');
  });
});
