import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { minutes, seconds } from '../../../shared/domain/time.ts';
import { createRepairWorld, type RepairWorld, seedPool } from '../../fakes/repair-world.ts';

/** A pool of five with one that is unhealthy. */
function sickWorld(type = 'NetworkUnavailable', status = 'True'): RepairWorld {
  const world = createRepairWorld();
  seedPool(world, ['n1', 'n2', 'n3', 'n4', 'n5']);
  world.setCondition('n1', type, status);
  return world;
}

/** The old incident is over, and another one has begun that is due sooner. */
function changeIncident(world: RepairWorld): void {
  world.setCondition('n1', 'KernelReady', 'True');
  world.setCondition('n1', 'NetworkUnavailable', 'True');
}

const poolRecordOf = (world: RepairWorld) => world.store.all().find(isOfPool);
const isOfPool = ({ id }: { readonly id: string }): boolean => id.startsWith('pool/');

// One pass of a pool runs at a time, until one is taken for dead that is not. Which of the two writes first says nothing about which of them
// looked last, so the one that loses looks again: the other's timer may be too late, or there is none.
describe('two passes of one pool', () => {
  it('leave a timer when one closes the old incident while the other opens the next one', async () => {
    const world = sickWorld('KernelReady', 'False');
    await world.look('n1');
    world.advance(seconds(30));
    changeIncident(world);
    const since = world.now();
    // It saw the node healthy, between the two changes.
    world.beforeNextPut(async () => {
      const { version = 0, id = '' } = poolRecordOf(world) ?? {};
      await world.store.delete({ owner: 'repair', id }, version);
    }, isOfPool);
    await world.look('n1');
    expect(poolRecordOf(world)).toBeUndefined();
    await world.run(minutes(2));
    expect(poolRecordOf(world)?.nextWakeTime).toBe(since + minutes(10));
  });

  it('leave the timer of the settings in force when the other read the old ones', async () => {
    const world = sickWorld();
    const since = world.now();
    await world.look('n1');
    const stale = poolRecordOf(world);
    const pool = { type: RESOURCES.NodePool, name: 'default' };
    const policies = [{ conditionType: 'NetworkUnavailable', toleration: '5m' }];
    world.core.patch(pool, { type: 'merge', body: { spec: { repair: { policies } } } }, { user: 'somebody' });
    world.advance(seconds(2));
    world.beforeNextPut(async () => {
      if (stale !== undefined) await world.store.put(stale, stale.version);
    }, isOfPool);
    await world.look('n1');
    expect(poolRecordOf(world)?.nextWakeTime).toBe(since + minutes(10));
    await world.run(minutes(2));
    expect(poolRecordOf(world)?.nextWakeTime).toBe(since + minutes(5));
  });

  it('leave one repair when both find the node due', async () => {
    const world = sickWorld();
    await world.look('n1');
    world.advance(minutes(10));
    world.beforeNextPut(() => world.look('n1'));
    await world.look('n1');
    const deletes = world.writes.filter(({ verb }) => verb === 'delete');
    expect(deletes).toHaveLength(1);
    const { uid } = world.node('n1').metadata;
    const node = world.store.all().find(({ id }) => id === `node/${uid}`);
    expect(Object.keys(poolRecordOf(world)?.state['inFlight'] ?? {})).toEqual([uid]);
    expect(node?.state).toMatchObject({ attempt: { number: 1, phase: 'accepted' } });
  });

  it('leave one repair when one of them was taken for dead while it reserved', async () => {
    const world = sickWorld();
    await world.look('n1');
    world.advance(minutes(10));
    world.beforeNextPut(async () => {
      world.advance(seconds(61));
      await world.look('n1');
    }, isOfPool);
    await world.look('n1');
    await world.run(minutes(5));
    expect(world.writes.filter(({ verb }) => verb === 'delete')).toHaveLength(1);
  });

  it('give the message back when others keep writing', async () => {
    const world = sickWorld('KernelReady', 'False');
    await world.look('n1');
    changeIncident(world);
    const touch = async (): Promise<void> => {
      world.beforeNextPut(touch, isOfPool);
      const record = poolRecordOf(world);
      if (record !== undefined) await world.store.put(record, record.version);
    };
    world.beforeNextPut(touch, isOfPool);
    world.advance(seconds(2));
    const { uid } = world.node('n1').metadata;
    const subject = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid };
    const run = world.reconcile({ kind: 'wakeUp', owner: 'repair', subject, wakeTime: world.now() });
    await expect(run).rejects.toThrow('another pass of the pool is at work');
  });
});
