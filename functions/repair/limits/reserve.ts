/**
 * How a pass takes part in the limits of zone and cluster. What it grants is reserved in the record of all pools before its own record
 * has the attempts, and what its own record says after the pass replaces that: a run that dies in between leaves a place taken until
 * the next pass of its pool, never one too many. Only while some policy has `repairLimits`; otherwise the record is not even read.
 *
 * ```
 *   load (count all pools again if nobody has) ──▶ decide ──▶ reserve ──▶ the pool's record ──▶ acts ──▶ the pool's record ──▶ settle
 * ```
 */
import { isDeepStrictEqual } from 'node:util';
import { fewAtATime } from '../../../shared/cluster/in-parallel.ts';
import { NODE_POOL_LABEL } from '../../../shared/domain/node-claim.ts';
import { ZONE_LABEL } from '../../../shared/domain/node.ts';
import { openRecord } from '../../../shared/lifecycle/timed-record.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import type { ClusterView } from '../observe.ts';
import { createGate } from '../pass/gate.ts';
import type { PassDecision } from '../pass/decision.ts';
import type { RepairAttempt } from '../pass/pool.ts';
import { poolCodec, poolRecordId } from '../record.ts';
import {
  isEmpty,
  noneCounted,
  reservationOf,
  timerOf,
  withShare,
  type ConcurrentRepairs,
  type LimitsInForce,
  type Reservation,
} from './concurrent.ts';
import { CONCURRENT_REPAIRS, CONCURRENT_REPAIRS_ID, concurrentRepairsCodec } from './record.ts';

export type LimitDeps = Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>;

type Decided = Pick<PassDecision, 'underWay' | 'awaited'>;

/** What one pass has to do with the record of all pools. */
export interface Share {
  /** As the pass counts it. */
  readonly concurrent: ConcurrentRepairs;
  /** Something stands there for the pool: its own record stays until it is given back. */
  readonly isHeld: boolean;
  /** Reserves what the pass grants. False: others took the places; the pass has to look again. */
  reserve(decided: Decided, granted: readonly RepairAttempt[]): Promise<boolean>;
  /** Gives back what the pool does not need any more, and says what it waits for. @param underWay by the pool's record after the pass */
  settle(decided: Decided, underWay: readonly RepairAttempt[]): Promise<void>;
}

export interface PassPlace {
  readonly pool: string | undefined;
  readonly limits: LimitsInForce;
  readonly isObserving: boolean;
  readonly cluster: ClusterView;
}

/** Other passes write at the same time; each try reads what they wrote. */
const MAX_TRIES = 10;

/** `newer`: a newer version of this function keeps the record, and is to make the pass. */
export async function openShare(deps: LimitDeps, place: PassPlace): Promise<Share | 'newer'> {
  const { pool, limits, isObserving, cluster } = place;
  const { nodes } = cluster;
  const record = openRecord(deps, concurrentRepairsCodec, CONCURRENT_REPAIRS_ID);
  const held = await record.load();
  if (held.kind === 'newer') return 'newer';
  let current = held.kind === 'held' ? held.value : undefined;
  const concurrent = current?.basis === limits.basis ? current : await countAnew(deps, place, current);
  const reservationsOf = createReservations(pool, cluster);

  /** Answers whether nobody else wrote first; what they wrote is `current` then. */
  const write = async (value: ConcurrentRepairs): Promise<boolean> => {
    const { written } = await record.save({ subject: CONCURRENT_REPAIRS, value, ...timerOf(value, deps.clock.now()) });
    const other = written ? undefined : await record.load();
    current = other === undefined ? value : other.kind === 'held' ? other.value : undefined;
    return written;
  };

  const { reservations, waiting } = concurrent;
  return {
    concurrent,
    isHeld: [...reservations, ...waiting].some(each => each.pool === pool),
    async reserve({ underWay, awaited }, granted) {
      const added = reservationsOf(granted);
      const known = new Set(underWay.map(({ node }) => node.uid));
      const begun = new Set(granted.map(({ node }) => node.uid).filter(uid => !known.has(uid)));
      let base = concurrent;
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const now = deps.clock.now();
        // What a run that died has reserved stays until the pool's record says that it is not needed.
        const before = base.reservations.filter(each => each.pool === pool);
        const own = byNode([...before, ...reservationsOf(underWay), ...added]);
        if (await write(withShare(base, { pool, reservations: own, awaits: awaited, isObserving }, now))) return true;
        if (current?.basis !== limits.basis) return false;
        base = current;
        const gate = createGate({ limits, concurrent: base }, { now, pool, isObserving, nodes, own: underWay });
        const places = nodes.filter(({ uid }) => begun.has(uid));
        for (const node of places) gate.take(node);
        if (!gate.isKept(places)) return false;
      }
      return false;
    },
    async settle({ awaited }, underWay) {
      const share = { pool, reservations: reservationsOf(underWay), awaits: awaited, isObserving };
      let base = current ?? concurrent;
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const next = withShare(base, share, deps.clock.now());
        // What was full when the pass looked may have a free place by now: the pool is to look again.
        const missed = tries === 0 ? [] : Object.keys(awaited);
        const value = { ...next, freed: [...new Set([...next.freed, ...missed])].toSorted() };
        if (current === undefined ? isEmpty(value) : isDeepStrictEqual(value, current)) return;
        if (await write(value)) return;
        // The next pass that needs it counts again from the records of the pools.
        if (current === undefined) return;
        base = current;
      }
    },
  };
}

/** The reservations of a pool's attempts: at nodes that are there. */
function createReservations(pool: string | undefined, { nodes }: ClusterView) {
  const zones = new Map(nodes.map(({ uid, labels }) => [uid, labels[ZONE_LABEL]]));
  return (attempts: readonly RepairAttempt[], of = pool): readonly Reservation[] =>
    attempts
      .filter(({ node }) => zones.has(node.uid))
      .map(attempt => reservationOf(attempt, of, zones.get(attempt.node.uid)));
}

const byNode = (list: readonly Reservation[]): readonly Reservation[] => [
  ...new Map(list.map(each => [each.uid, each])).values(),
];

/**
 * All that is under way by the records of the pools: there was no limit until now, or nothing was under way. A pass that began without
 * a limit and reserves while this one counts calls its attempts off (`pass/carry-out.ts`).
 */
async function countAnew(
  deps: LimitDeps,
  { limits: { basis }, pool: own, cluster }: PassPlace,
  before: ConcurrentRepairs | undefined,
): Promise<ConcurrentRepairs> {
  const empty = noneCounted(basis, deps.clock.now());
  const known = before?.reservations ?? [];
  const labels = [...cluster.nodes, ...cluster.claims].map(object => object.labels[NODE_POOL_LABEL]);
  const pools = new Set([undefined, ...labels, ...known.map(({ pool }) => pool)]);
  pools.delete(own);
  const reservationsOf = createReservations(undefined, cluster);
  const found: Reservation[] = [];
  await fewAtATime([...pools], async pool => {
    found.push(...reservationsOf(await attemptsOf(deps, pool), pool));
  });
  const waits = before && { waiting: before.waiting, freed: before.freed };
  return { ...empty, ...waits, reservations: byNode([...known, ...found]) };
}

/** What the pool's record says is under way. */
export async function attemptsOf(deps: LimitDeps, pool: string | undefined): Promise<readonly RepairAttempt[]> {
  const held = await openRecord(deps, poolCodec, poolRecordId(pool)).load();
  return held.kind === 'held' ? held.value.attempts : [];
}
