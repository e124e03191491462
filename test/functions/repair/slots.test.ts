/** The one record of the slots in zone and cluster: whom it counts, and who may write it. */
import { describe, expect, it } from 'vitest';
import type { Reservation } from '../../../functions/repair/reservation-record.ts';
import { openReservations, type OpenReservations } from '../../../functions/repair/reservations.ts';
import { addDuration, hours } from '../../../shared/domain/time.ts';
import type { RecordStore } from '../../../shared/ports/record-store.ts';
import {
  aWorld,
  BASIS,
  ID,
  inZone,
  KEY,
  N1,
  N2,
  NODES,
  NOW,
  of,
  open,
  opened,
  ours,
  SUBJECT,
  type World,
} from '../../builders/slots.ts';

describe('a slot is', () => {
  it.each<[string, (world: World) => Promise<unknown>, 'free' | 'full' | 'newer']>([
    ['free where nothing was reserved and nothing is in flight', async () => {}, 'free'],
    ['taken by a run of another pool that may still be at work', world => world.shared([of('g1', 'gpu', -59)]), 'full'],
    [
      'free once that run is over, and its pool has nothing in flight',
      world => world.shared([of('g1', 'gpu', -60)]),
      'free',
    ],
    [
      'taken while its pool has it in flight, however long that takes',
      async world => {
        await world.shared([of('g1', 'gpu', -6000)]);
        await world.pool('gpu', 'g1');
      },
      'full',
    ],
    [
      'free once its pool has other nodes in flight alone, which are gone',
      async world => {
        await world.shared([of('g1', 'gpu', -6000)]);
        await world.pool('gpu', 'gone');
      },
      'free',
    ],
    [
      'taken while a newer version keeps the record of its pool',
      async world => {
        await world.shared([of('g1', 'gpu', -6000)]);
        await world.newer('pool/gpu');
      },
      'full',
    ],
    [
      'its own where it was reserved by this pool: it counts by what is in flight',
      world => world.shared([of('n1', 'default', 0)]),
      'free',
    ],
    ['taken by what a pool had in flight before the first limit', world => world.pool('gpu', 'g1'), 'full'],
    ['taken by what the nodes without a pool had in flight', world => world.pool(undefined, 'x1'), 'full'],
    ['not taken by what this pool had in flight and has no more', world => world.pool('default', 'n1'), 'free'],
    [
      'taken by what a pool had in flight before the limits changed',
      async world => {
        await world.shared([], 'policy@0');
        await world.pool('gpu', 'g1');
      },
      'full',
    ],
    [
      'taken by a run of before the limits changed, while that may still be at work',
      world => world.shared([of('g1', 'gpu', -59)], 'policy@0'),
      'full',
    ],
    [
      'free once a run of before the limits changed is over',
      world => world.shared([of('g1', 'gpu', -60)], 'policy@0'),
      'free',
    ],
    [
      'taken by a pool that only the record of before the limits changed knows',
      async world => {
        await world.shared([of('g1', 'ghost', -600)], 'policy@0');
        await world.pool('ghost', 'g1');
      },
      'full',
    ],
    ['I6 given by nobody while a newer version keeps the record', world => world.newer(ID), 'newer'],
    [
      'I6 given by nobody where a newer version keeps a pool of which nothing was reserved',
      world => world.newer('pool/gpu'),
      'newer',
    ],
  ])('%s', async (_, before, expected) => {
    const world = aWorld();
    await before(world);
    const reserved = await open(world);
    const found =
      reserved === 'newer' ? reserved : reserved.concurrencyLimits(new Set(), NOW).blockerOf(N1) ? 'full' : 'free';
    expect(found).toBe(expected);
  });

  it('counted in the zone of its node, whether it is reserved or in flight', async () => {
    const zoned = { maxConcurrentRepairsPerZone: { count: 1 } };
    const isFree = (reserved: OpenReservations, own = ours()) =>
      [N1, N2].map(node => reserved.concurrencyLimits(own, NOW).blockerOf(node) === undefined);
    const world = aWorld();
    await world.shared([of('g1', 'gpu', 0, 'a')]);
    expect(isFree(await opened(world, zoned))).toEqual([false, true]);
    const rolledBack = aWorld();
    await rolledBack.shared([of('g1', 'gpu', -6000, 'a'), of('n2', 'ghost', -6000, 'b')]);
    await rolledBack.newer('pool/gpu');
    expect(isFree(await opened(rolledBack, zoned))).toEqual([false, true]);
    const unlimited = aWorld();
    await unlimited.pool('gpu', 'g1');
    const counted = await opened(unlimited, zoned);
    expect(isFree(counted)).toEqual([false, true]);
    expect(isFree(counted, ours('n2'))).toEqual([false, false]);
    expect(isFree(counted, ours('gone'))).toEqual([false, true]);
    const none = aWorld();
    await none.pool(undefined, 'x1');
    expect(isFree(await opened(none, zoned))).toEqual([true, true]);
  });
});

describe('reserving', () => {
  const two = { maxConcurrentRepairsPerCluster: { count: 2 } };

  it('writes what is in flight and what is granted, with the others, and looks again after an hour without a message', async () => {
    const world = aWorld();
    await world.shared([of('g1', 'gpu', -5, 'a'), of('n1', 'default', -300, 'a'), of('x1', undefined, -5)]);
    const reserved = await opened(world, { maxConcurrentRepairsPerCluster: { count: 4 } });
    expect(await reserved.reserve(ours('n1', 'gone'), [N2])).toBe(true);
    expect(world.stored()).toEqual([
      of('g1', 'gpu', -5, 'a'),
      of('n1', 'default', -300, 'a'),
      of('n2', 'default', 0, 'b'),
      of('x1', undefined, -5),
    ]);
    expect(await world.record()).toMatchObject({ subject: SUBJECT, nextWakeTime: addDuration(NOW, hours(1)) });
    expect((await world.record())?.hasOwnMessage).toBeUndefined();
    expect(world.sent).toEqual([]);
    await reserved.release(ours('n2'));
    expect(world.stored()).toEqual([of('g1', 'gpu', -5, 'a'), of('n2', 'default', 0, 'b'), of('x1', undefined, -5)]);
  });

  it('writes what other pools had in flight before the first limit, with the names of their pools', async () => {
    const world = aWorld();
    await world.pool('gpu', 'g1');
    await world.pool(undefined, 'x1');
    await world.shared([], 'policy@0');
    const reserved = await opened(world, { maxConcurrentRepairsPerCluster: { count: 9 } });
    await reserved.release(ours());
    expect(world.stored()).toEqual([of('g1', 'gpu', -600, 'a'), of('x1', undefined, -600)]);
  });

  it('reads the records of other pools only where the run that took their slots is over', async () => {
    const read: string[] = [];
    const countedBy = async (second: number): Promise<readonly string[]> => {
      const world = aWorld();
      await world.shared([of('g1', 'gpu', second), of('n1', 'default', -6000)]);
      const get: RecordStore['get'] = key => (read.push(key.id), world.records.get(key));
      await opened({ ...world, deps: { ...world.deps, records: { ...world.records, get } } });
      return read.splice(0);
    };
    expect(await countedBy(-59)).toEqual([ID]);
    expect(await countedBy(-60)).toEqual([ID, 'pool/gpu']);
  });

  it('for the nodes without a pool names none', async () => {
    const world = aWorld();
    const reserved = await openReservations(world.deps, {
      pool: undefined,
      pools: [],
      nodes: NODES,
      limits: { policyGenerations: BASIS, binding: [] },
    });
    if (reserved === 'newer') throw new Error('a newer version has it');
    const x1 = inZone('x1');
    expect(await reserved.reserve(ours(), [x1])).toBe(true);
    expect(world.stored()).toEqual([of('x1', undefined, 0)]);
    expect((await world.record())?.state['reservations']).toMatchObject([{ uid: 'uid-x1' }]);
  });

  it('I3 is refused where the slots are taken, and what has a slot keeps it', async () => {
    const world = aWorld();
    await world.shared([of('g1', 'gpu', 0, 'a')]);
    const reserved = await opened(world);
    expect(await reserved.reserve(ours(), [N1])).toBe(false);
    expect(world.stored()).toEqual([of('g1', 'gpu', 0, 'a')]);
    expect(await reserved.reserve(ours('n1'), [N1])).toBe(true);
    const both = await opened(aWorld());
    expect(await both.reserve(ours(), [N1, N2])).toBe(false);
  });

  it.each<[string, (world: World) => Promise<unknown>, boolean, readonly Reservation[] | undefined]>([
    ['the last slot is gone', world => world.shared([of('g1', 'gpu', 0), of('x1', undefined, 0)]), false, undefined],
    [
      'a slot is left',
      world => world.shared([of('g1', 'gpu', 0)]),
      true,
      [of('g1', 'gpu', 0), of('n1', 'default', 0, 'a')],
    ],
    ['the limits have changed', world => world.shared([], 'policy@2'), false, undefined],
    ['the record has ended', world => world.records.delete(KEY, 1), false, undefined],
  ])('looks again where another pass wrote first: %s', async (_, meanwhile, expected, stored) => {
    const world = aWorld();
    await world.shared([of('g1', 'gpu', -5)]);
    const reserved = await opened(world, two);
    await meanwhile(world);
    expect(await reserved.reserve(ours(), [N1])).toBe(expected);
    if (stored !== undefined) expect(world.stored()).toEqual(stored);
  });

  it('I6 is left to a newer version that has the record by now', async () => {
    const world = aWorld();
    await world.shared([]);
    const reserved = await opened(world, two);
    await world.newer(ID);
    expect(await reserved.reserve(ours(), [N1])).toBe(false);
    await reserved.release(ours());
    expect((await world.record())?.state).toEqual({ schemaVersion: 99 });
  });

  it('goes on from what it has written itself', async () => {
    const world = aWorld();
    const reserved = await opened(world, two);
    expect(await reserved.reserve(ours(), [N1])).toBe(true);
    await world.clock.advance(5000);
    expect(await reserved.reserve(ours('n1'), [N2])).toBe(true);
    expect(world.stored()).toEqual([of('n1', 'default', 0, 'a'), of('n2', 'default', 5, 'b')]);
  });
});
