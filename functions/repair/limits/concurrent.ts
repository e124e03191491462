/**
 * The repairs that are under way in the cluster, in one record that the passes of all pools reserve in. It is there only while some
 * policy has `repairLimits` and something is under way or waits. Pure.
 */
import type { RepairLimits } from '../../../shared/domain/repair-policy.ts';
import { isDue, addDuration, minutes, seconds, type EpochMs } from '../../../shared/domain/time.ts';
import type { RepairAttempt } from '../pass/pool.ts';

/** What one policy says. */
export interface StatedLimits extends RepairLimits {
  /** `NodeLifecyclePolicy edge`. */
  readonly source: string;
}

export interface LimitsInForce {
  /**
   * The policies of the cluster that have limits, each with its generation. Between two times without any limit, and between two
   * with this one, nothing was left uncounted.
   */
  readonly basis: string;
  /** Those that bind the pool. */
  readonly binding: readonly StatedLimits[];
  /** A policy that selects the pool has limits that cannot be read: they might forbid what the others allow (I6). */
  readonly fault?: string | undefined;
}

/** A node whose repair is under way, or about to be: written before the pool's own record has its attempt. */
export interface Reservation {
  readonly uid: string;
  readonly zone?: string | undefined;
  /** undefined: the nodes without a NodePool. */
  readonly pool?: string | undefined;
  readonly since: EpochMs;
  /** Mode `Observe`: stands for a repair that is left out; only passes in that mode count it. */
  readonly observed?: true | undefined;
}

/**
 * What a pool waits for, by what is full (`cluster`, `zone/<name>`): since when the first of its nodes has been due, and the most
 * repairs that its limit allows there.
 */
export type Awaited = Readonly<Record<string, { readonly since: EpochMs; readonly most: number }>>;

/** A pool whose repairs wait for others to end. */
export interface Waiting {
  readonly pool?: string | undefined;
  readonly awaits: Awaited;
  /** When a pass said so last. */
  readonly since: EpochMs;
  readonly observed?: true | undefined;
}

export interface ConcurrentRepairs {
  /** The policies with limits when all repairs were counted (`LimitsInForce.basis`); from then on every pass reserves. */
  readonly basis: string;
  readonly reservations: readonly Reservation[];
  readonly waiting: readonly Waiting[];
  /** Where a repair has ended since the pools that wait were woken. */
  readonly freed: readonly string[];
  /** When the reservations are compared with the records of their pools. */
  readonly checkTime: EpochMs;
}

/** A reservation may be younger than the attempt that it is for: a function runs for 30 s, and clocks differ. */
export const RESERVATION_SETTLES_AFTER = seconds(60);
/** A reservation that no pool has an attempt for is found after this long. */
export const CHECK_EVERY = minutes(2);
/** A pool that has not said for so long that it waits does not come first any more; passes of blocked pools are five minutes apart. */
export const WAITING_COUNTS_FOR = minutes(11);
/** Written again after this long, so that it still counts. */
const SAID_AGAIN_AFTER = minutes(4);

export const CLUSTER = 'cluster';
/** What repairs of a zone take places in. */
export const zoneKey = (zone: string): string => `zone/${zone}`;
/** What a repair of this node takes a place in. */
export const keysOf = ({ zone }: Pick<Reservation, 'zone'>): readonly string[] =>
  zone === undefined ? [CLUSTER] : [CLUSTER, zoneKey(zone)];

/** Before any repair is counted. */
export const noneCounted = (basis: string, now: EpochMs): ConcurrentRepairs => ({
  basis,
  reservations: [],
  waiting: [],
  freed: [],
  checkTime: addDuration(now, CHECK_EVERY),
});

/** @param zone of the node */
export function reservationOf(
  { node: { uid }, intendedTime, phase }: RepairAttempt,
  pool: string | undefined,
  zone: string | undefined,
): Reservation {
  return {
    uid,
    ...(zone !== undefined && { zone }),
    ...(pool !== undefined && { pool }),
    since: intendedTime,
    ...(phase === 'observed' && { observed: true as const }),
  };
}

export interface PoolShare {
  readonly pool: string | undefined;
  /** All that the pool has under way, or is about to. */
  readonly reservations: readonly Reservation[];
  readonly awaits: Awaited;
  readonly isObserving: boolean;
}

/** With what the pool needs in place of what was reserved for it before. */
export function withShare(before: ConcurrentRepairs, share: PoolShare, now: EpochMs): ConcurrentRepairs {
  const { pool, reservations: own, awaits, isObserving } = share;
  const uids = new Set(own.map(({ uid }) => uid));
  const others = before.reservations.filter(each => each.pool !== pool && !uids.has(each.uid));
  const waited = before.waiting.find(each => each.pool === pool);
  const isWaiting = Object.keys(awaits).length > 0;
  const isFresh = waited !== undefined && !isDue(now, addDuration(waited.since, SAID_AGAIN_AFTER));
  const since = isFresh ? waited.since : now;
  const waits = { ...(pool !== undefined && { pool }), awaits, since, ...(isObserving && { observed: true as const }) };
  const after = {
    ...before,
    reservations: [...others, ...own].toSorted((a, b) => (a.uid < b.uid ? -1 : 1)),
    waiting: [...before.waiting.filter(each => each.pool !== pool), ...(isWaiting ? [waits] : [])].toSorted((a, b) =>
      (a.pool ?? '') < (b.pool ?? '') ? -1 : 1,
    ),
  };
  return { ...after, freed: freedIn(before, after) };
}

/** What less is taken or waited for than before, where somebody waits. */
export function freedIn(before: ConcurrentRepairs, after: ConcurrentRepairs): readonly string[] {
  const loads = (state: ConcurrentRepairs): Map<string, number> => {
    const counts = new Map<string, number>();
    const keys = [...state.reservations.flatMap(keysOf), ...state.waiting.flatMap(({ awaits }) => Object.keys(awaits))];
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  };
  const [was, is] = [loads(before), loads(after)];
  const awaited = new Set(after.waiting.flatMap(({ awaits }) => Object.keys(awaits)));
  const freed = [...was].filter(([key, count]) => (is.get(key) ?? 0) < count).map(([key]) => key);
  return [...new Set([...before.freed, ...freed])].filter(key => awaited.has(key)).toSorted();
}

/** The pools that may go on by now. */
export const wokenBy = ({ waiting, freed }: ConcurrentRepairs): readonly (string | undefined)[] =>
  waiting.filter(({ awaits }) => freed.some(key => awaits[key] !== undefined)).map(({ pool }) => pool);

/** Nothing is under way and nobody waits: the record can go. */
export const isEmpty = ({ reservations, waiting }: ConcurrentRepairs): boolean =>
  reservations.length === 0 && waiting.length === 0;

/** When the record is looked at again: at once where somebody is to be woken, else when it is compared, for which the sweep is in time. */
export const timerOf = ({ freed, checkTime }: ConcurrentRepairs, now: EpochMs) =>
  freed.length > 0 ? { wakeTime: now } : { wakeTime: checkTime, punctual: false };
