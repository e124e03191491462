/** A slot in zone and cluster that is given back, or is nobody's any more, and what earlier versions had reserved. */
import { describe, expect, it } from 'vitest';
import {
  checkReservations,
  giveBack,
  isReservations,
  type Reservation,
  RESERVATIONS_CODEC,
} from '../../../functions/repair/reservation-record.ts';
import { openReservations } from '../../../functions/repair/reservations.ts';
import { addDuration, hours } from '../../../shared/domain/time.ts';
import { aWorld, BASIS, ID, NODES, NOW, of, opened, ours, SUBJECT, type World } from '../../builders/slots.ts';

describe('what is given back', () => {
  it('ends the record with the last slot, and is no write where nothing changes', async () => {
    const world = aWorld();
    await world.shared([of('n1', 'default', 0, 'a')]);
    const reserved = await opened(world);
    await reserved.release(ours());
    expect(await world.record()).toBeUndefined();
    await (await opened(world)).release(ours());
    expect(await world.record()).toBeUndefined();
  });

  it('is no write where nothing changes, also of nodes without zone and pool', async () => {
    const world = aWorld();
    await world.shared([of('x1', undefined, -600)]);
    await world.pool(undefined, 'x1');
    // The timer is no later than the one that would be set.
    await world.clock.advance(-1000);
    const before = await world.record();
    await (await opened(world)).release(ours());
    const own = { pool: undefined, pools: [], nodes: NODES, limits: { policyGenerations: BASIS, binding: [] } };
    const reserved = await openReservations(world.deps, own);
    if (reserved === 'newer') throw new Error('a newer version has it');
    await reserved.release(ours('x1'));
    expect(await world.record()).toEqual(before);
  });

  it('leaves what another pass has taken meanwhile', async () => {
    const world = aWorld();
    await world.shared([of('n1', 'default', -300, 'a'), of('n2', 'default', -300, 'b')]);
    const reserved = await opened(world);
    await world.shared([of('g1', 'gpu', 0), of('n1', 'default', -300, 'a'), of('n2', 'default', -300, 'b')]);
    await reserved.release(ours('n2'));
    expect(world.stored()).toEqual([of('g1', 'gpu', 0), of('n2', 'default', -300, 'b')]);
  });

  it('without limits are the slots of the pool that it does not have in flight', async () => {
    const world = aWorld();
    await world.shared([of('g1', 'gpu', -600), of('n1', 'default', -600), of('n2', 'default', 0)]);
    await giveBack(world.deps, 'default', { inFlight: { 'uid-n1': NOW } });
    expect(world.stored()).toEqual([of('g1', 'gpu', -600), of('n1', 'default', -600)]);
    expect(await world.record()).toMatchObject({ subject: SUBJECT, nextWakeTime: addDuration(NOW, hours(1)) });
    expect((await world.record())?.hasOwnMessage).toBeUndefined();
    const { version } = (await world.record()) ?? {};
    // Also once the timer is due, which has a wake-up of its own.
    await world.clock.advance(hours(2));
    await giveBack(world.deps, 'default', { inFlight: { 'uid-n1': NOW } });
    expect((await world.record())?.version).toBe(version);
    await giveBack(world.deps, 'gpu', { inFlight: {} });
    await giveBack(world.deps, 'default', { inFlight: {} });
    expect(await world.record()).toBeUndefined();
    await giveBack(world.deps, 'default', { inFlight: {} });
    expect(await world.record()).toBeUndefined();
  });

  it('I6 is nothing while a newer version keeps the record', async () => {
    const world = aWorld();
    await world.newer(ID);
    await giveBack(world.deps, 'default', { inFlight: {} });
    await checkReservations(world.deps);
    expect((await world.record())?.state).toEqual({ schemaVersion: 99 });
  });
});

describe('once an hour, a slot', () => {
  it.each<[string, boolean, Reservation, (world: World) => Promise<unknown>]>([
    ['stays while its pool has it in flight', true, of('g1', 'gpu', -6000), world => world.pool('gpu', 'g1')],
    ['stays while the run that took it may be at work', true, of('g1', 'gpu', -59), async () => {}],
    ['I6 stays while a newer version keeps its pool', true, of('g1', 'gpu', -6000), world => world.newer('pool/gpu')],
    ['stays for the nodes without a pool', true, of('x1', undefined, -6000), world => world.pool(undefined, 'x1')],
    ['goes once that run is over', false, of('g1', 'gpu', -60), async () => {}],
    ['goes once its pool has others in flight', false, of('g1', 'gpu', -6000), world => world.pool('gpu', 'g2')],
  ])('%s', async (_, expected, reservation, before) => {
    const world = aWorld();
    await world.shared([reservation]);
    await before(world);
    await checkReservations(world.deps);
    expect(world.stored()).toEqual(expected ? [reservation] : undefined);
    // The timer is set anew also where nothing changes: it was due.
    if (expected) expect(await world.record()).toMatchObject({ nextWakeTime: addDuration(NOW, hours(1)) });
    expect(world.sent).toEqual([]);
  });

  it('goes by itself: the others stay', async () => {
    const world = aWorld();
    await world.shared([of('g1', 'gpu', -6000), of('g2', 'gpu', -6000), of('n1', 'default', -6000)]);
    await world.pool('gpu', 'g2');
    await checkReservations(world.deps);
    expect(world.stored()).toEqual([of('g2', 'gpu', -6000)]);
  });
});

it('a wake-up is about the slots by kind and name', () => {
  expect(isReservations(SUBJECT)).toBe(true);
  expect(isReservations({ ...SUBJECT, name: 'default' })).toBe(false);
  expect(isReservations({ ...SUBJECT, kind: 'NodePool' })).toBe(false);
});

describe('a record of an earlier version', () => {
  const parse = (reservations: unknown) =>
    RESERVATIONS_CODEC.parse(
      JSON.parse(JSON.stringify({ basis: BASIS, ...(reservations !== undefined && { reservations }) })),
    );

  it('counts nothing that was reserved in mode Observe', () => {
    const plain = JSON.parse(
      JSON.stringify(RESERVATIONS_CODEC.toState({ policyGenerations: BASIS, reservations: [of('g1', 'gpu', 0)] })),
    );
    const [one] = plain.reservations;
    const observed = [
      { ...one, uid: 'uid-g3', observed: true },
      { ...one, uid: 'uid-g2', observed: false },
    ];
    expect(parse([...observed, one]).reservations).toEqual([of('g2', 'gpu', 0), of('g1', 'gpu', 0)]);
    expect(parse(undefined).reservations).toEqual([]);
  });

  it('is refused where it has no shape', () => {
    expect(() => parse(['uid-g1'])).toThrow('expected object, received string');
  });
});
