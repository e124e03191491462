/**
 * Reservations as a pass works with them, for `repairLimits`, which say how many repairs may run in a zone or in the
 * cluster, over all pools. A pass reserves before it writes the intents of its nodes, and releases what has ended. A pass
 * that finds a limit full looks again later.
 */
import {
  createConcurrencyLimits,
  type ConcurrencyLimits,
  type CountedLimits,
  type ZonedNode,
} from './rule/concurrency-limits.ts';
import {
  loadInFlight,
  type Reservation,
  type ReservationDeps,
  type Reservations,
  RESERVATIONS,
  RESERVATIONS_CODEC,
  RESERVATIONS_ID,
  runOverTime,
  writeReservations,
} from './reservation-record.ts';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { ZONE_LABEL } from '../../shared/domain/node.ts';
import { type EpochMs, isDue } from '../../shared/domain/time.ts';
import { DONE, settle } from '../../shared/lifecycle/settle.ts';
import { openRecord } from '../../shared/lifecycle/timed-record.ts';

/** The reservations of all pools, as one pass works with them. `newer`: a later version of this function keeps them. */
export interface OpenReservations {
  /** Limits by all reservations. @param own UIDs of the nodes that the pool has in flight */
  concurrencyLimits(own: ReadonlySet<string>, now: EpochMs): ConcurrencyLimits;
  /** Reserves slots. False: others took them; the pass has to look again. */
  reserve(own: ReadonlySet<string>, granted: readonly ZonedNode[]): Promise<boolean>;
  /** Gives back the slots that the pool does not need any more. */
  release(own: ReadonlySet<string>): Promise<void>;
}

interface ReservationContext extends CountedLimits {
  readonly pool: string | undefined;
  /** Names of the pools that may have something in flight. */
  readonly pools: readonly (string | undefined)[];
}

export async function openReservations(
  deps: ReservationDeps,
  context: ReservationContext,
): Promise<OpenReservations | 'newer'> {
  const { pool, limits, nodes } = context;
  const timedRecord = openRecord(deps, RESERVATIONS_CODEC, RESERVATIONS_ID);
  const loaded = await timedRecord.load();
  if (loaded.kind === 'newer') return 'newer';
  let current = loaded.kind === 'known' ? loaded.value : undefined;
  const reservationOf = createReservations(nodes);
  const othersBefore = await reservationsOfOtherPools(deps, context, current, reservationOf);
  if (othersBefore === 'newer') return othersBefore;
  let others = othersBefore;
  let isStale = false;
  const ofOwn = (uids: Iterable<string>): readonly Reservation[] =>
    [...uids].flatMap(uid => {
      const since = current?.reservations.find(each => each.uid === uid)?.since ?? deps.clock.now();
      return reservationOf(uid, pool, since) ?? [];
    });
  /**
   * Writes the reservations. The first try uses what was read above. `next` is told whether the record still counts by
   * these limits; undefined: nothing is written. Answers whether something was: not if a newer version has the record
   * by now.
   */
  const write = async (next: (isCounted: boolean) => readonly Reservation[] | undefined): Promise<boolean> => {
    let isWritten = false;
    await settle<boolean, readonly Reservation[] | undefined>({
      what: RESERVATIONS,
      async observe() {
        if (!isStale) return { kind: 'here', observation: true };
        const loaded = await timedRecord.load();
        if (loaded.kind === 'newer') return { kind: 'over' };
        current = loaded.kind === 'known' ? loaded.value : undefined;
        const isCounted = current?.policyGenerations === limits.policyGenerations;
        if (isCounted) others = current?.reservations.filter(each => each.pool !== pool) ?? [];
        return { kind: 'here', observation: isCounted };
      },
      decide: next,
      async apply(reservations) {
        if (reservations === undefined) return DONE;
        const value = {
          policyGenerations: limits.policyGenerations,
          reservations: reservations.toSorted((a, b) => (a.uid < b.uid ? -1 : 1)),
        };
        const turn = await writeReservations(deps, timedRecord, value);
        isStale = turn.kind === 'again';
        isWritten = !isStale;
        if (isWritten) current = value;
        return turn;
      },
    });
    return isWritten;
  };
  return {
    concurrencyLimits: (own, now) => createConcurrencyLimits(context, [...others, ...ofOwn(own)], now),
    async reserve(own, granted) {
      const all = new Set([...own, ...granted.map(({ uid }) => uid)]);
      return write(isCounted => {
        if (!isCounted) return undefined;
        const concurrencyLimits = createConcurrencyLimits(context, [...others, ...ofOwn(own)], deps.clock.now());
        for (const node of granted) {
          if (own.has(node.uid)) continue;
          if (concurrencyLimits.blockerOf(node) !== undefined) return undefined;
          concurrencyLimits.take(node);
        }
        return [...others, ...ofOwn(all)];
      });
    },
    release: async own => void (await write(() => [...others, ...ofOwn(own)])),
  };
}

/** Creates a function that makes the reservation of a node; undefined: the node is gone. */
function createReservations(nodes: readonly ZonedNode[]) {
  const zones = new Map(nodes.map(({ uid, labels }) => [uid, labels[ZONE_LABEL]]));
  return (uid: string, pool: string | undefined, since: EpochMs): Reservation | undefined => {
    const zone = zones.get(uid);
    return zones.has(uid)
      ? { uid, ...(zone !== undefined && { zone }), ...(pool !== undefined && { pool }), since }
      : undefined;
  };
}

/**
 * The reservations of other pools. A reservation is dropped if its node is gone, or if its run must be
 * over and no record of a pool names it. Before the first limit nothing was reserved, and all is counted by the records of the pools.
 * `newer`: one of these records cannot be read, and nothing else says what its pool has in flight.
 */
async function reservationsOfOtherPools(
  deps: ReservationDeps,
  { pool, limits, pools }: ReservationContext,
  current: Reservations | undefined,
  reservationOf: ReturnType<typeof createReservations>,
): Promise<readonly Reservation[] | 'newer'> {
  const now = deps.clock.now();
  const recorded = (current?.reservations ?? []).filter(each => each.pool !== pool);
  const isFresh = ({ since }: Reservation): boolean => !isDue(now, runOverTime(since));
  const isWhole = current?.policyGenerations === limits.policyGenerations;
  const unsure = new Set(
    isWhole
      ? recorded.filter(each => !isFresh(each)).map(each => each.pool)
      : [...pools, ...recorded.map(each => each.pool)],
  );
  unsure.delete(pool);
  const byUid = new Map<string, Reservation>(recorded.filter(isFresh).map(each => [each.uid, each]));
  let isUnknown = false;
  await fewAtATime([...unsure], async name => {
    const inFlight = await loadInFlight(deps, name);
    if (inFlight === 'newer') {
      for (const each of recorded.filter(other => other.pool === name)) byUid.set(each.uid, each);
      isUnknown ||= !isWhole;
      return;
    }
    for (const [uid, since] of Object.entries(inFlight)) {
      const made = reservationOf(uid, name, since);
      if (made !== undefined) byUid.set(uid, made);
    }
  });
  return isUnknown ? 'newer' : [...byUid.values()];
}
