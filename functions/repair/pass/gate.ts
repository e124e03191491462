/**
 * Whether a limit of the zone or of the cluster lets one more repair begin. Every limit counts the repairs of all pools; of several that
 * bind a pool the strictest counts. Where a place is free, the pool whose node has been due for longest has it first. Pure.
 */
import { ZONE_LABEL, type NodeView } from '../../../shared/domain/node.ts';
import { resolveNodeCount } from '../../../shared/domain/repair-policy.ts';
import { addDuration, isDue, type EpochMs } from '../../../shared/domain/time.ts';
import { BLOCKED_RETRY, type Hold } from './guards.ts';
import type { RepairAttempt } from './pool.ts';
import {
  CLUSTER,
  keysOf,
  RESERVATION_SETTLES_AFTER,
  WAITING_COUNTS_FOR,
  zoneKey,
  type ConcurrentRepairs,
  type LimitsInForce,
} from '../limits/concurrent.ts';

/** What a pass knows of the repairs of all pools. */
export interface LimitsView {
  readonly limits: LimitsInForce;
  readonly concurrent: ConcurrentRepairs;
}

export interface Surroundings {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly isObserving: boolean;
  /** All nodes of the cluster. */
  readonly nodes: readonly NodeView[];
  /** What the pool itself has under way. */
  readonly own: readonly Pick<RepairAttempt, 'node'>[];
}

export interface Gate {
  /** Undefined: it may begin. */
  hold(node: Pick<NodeView, 'labels'>, dueTime: EpochMs): Hold | undefined;
  /** It begins. */
  take(node: Pick<NodeView, 'labels'>): void;
  /** Whether no limit is passed where these nodes are. */
  isKept(nodes: readonly Pick<NodeView, 'labels'>[]): boolean;
}

/** One record holds the repairs of all pools, and its size is limited. */
const MOST_COUNTED = 1_000;

interface Limit {
  readonly key: string;
  readonly scope: string;
  readonly most: number;
  readonly said: string;
  /** Absent: no policy says so. */
  readonly basis?: { readonly source: string; readonly field: string };
}

/**
 * This pool's own repairs are passed in, for they are newer than the record of all pools. A reservation whose node is
 * gone counts for `RESERVATION_SETTLES_AFTER`.
 */
export function createGate({ limits, concurrent }: LimitsView, surroundings: Surroundings): Gate {
  const { now, pool, isObserving, nodes, own } = surroundings;
  const zones = new Map(nodes.map(({ uid, labels }) => [uid, labels[ZONE_LABEL]]));
  const taken = new Map<string, number>();
  const add = (keys: readonly string[]): void => {
    for (const key of keys) taken.set(key, (taken.get(key) ?? 0) + 1);
  };
  for (const reservation of concurrent.reservations) {
    const { uid, pool: other, since, observed } = reservation;
    const isThere = zones.has(uid) || !isDue(now, addDuration(since, RESERVATION_SETTLES_AFTER));
    if (other !== pool && isThere && (observed === undefined || isObserving)) add(keysOf(reservation));
  }
  for (const { node } of own) if (zones.has(node.uid)) add(keysOf({ zone: zones.get(node.uid) }));

  const before = concurrent.waiting.filter(
    ({ pool: other, since, observed }) =>
      other !== pool && !isDue(now, addDuration(since, WAITING_COUNTS_FOR)) && (observed === undefined || isObserving),
  );
  const first = (key: string, dueTime: EpochMs): number =>
    before.filter(({ awaits, pool: other = '' }) => {
      const { since = dueTime, most = 0 } = awaits[key] ?? {};
      // Who is held by a limit of its own takes no place yet.
      if ((taken.get(key) ?? 0) >= most) return false;
      return since < dueTime || (since === dueTime && other < (pool ?? ''));
    }).length;

  const known = new Map<string | undefined, readonly Limit[]>();
  const limitsAt = ({ labels }: Pick<NodeView, 'labels'>): readonly Limit[] => {
    const zone = labels[ZONE_LABEL];
    const found = known.get(zone) ?? strictest(limits, zone, nodes);
    known.set(zone, found);
    return found;
  };
  return {
    hold(node, dueTime) {
      for (const limit of limitsAt(node)) {
        const count = taken.get(limit.key) ?? 0;
        const others = first(limit.key, dueTime);
        if (count + others >= limit.most) return holdBy(limit, count, others, now);
      }
      return undefined;
    },
    take: ({ labels }) => add(keysOf({ zone: labels[ZONE_LABEL] })),
    isKept: list => list.every(node => limitsAt(node).every(({ key, most }) => (taken.get(key) ?? 0) <= most)),
  };
}

/** The limits that hold for a node of the zone: that of the zone, then that of the cluster. */
function strictest({ binding }: LimitsInForce, zone: string | undefined, nodes: readonly NodeView[]): readonly Limit[] {
  const inZone = nodes.filter(({ labels }) => labels[ZONE_LABEL] === zone).length;
  const found: Limit[] = [
    { key: CLUSTER, scope: 'the cluster', most: MOST_COUNTED, said: 'so many are counted at most' },
  ];
  for (const { source, maxConcurrentRepairsPerZone: perZone, maxConcurrentRepairsPerCluster: perCluster } of binding) {
    if (zone !== undefined && perZone !== undefined) {
      const most = resolveNodeCount(perZone, inZone);
      const said = `maxConcurrentRepairsPerZone of ${source} allows ${most}`;
      const basis = { source, field: 'spec.repairLimits.maxConcurrentRepairsPerZone' };
      found.push({ key: zoneKey(zone), scope: `zone ${zone}`, most, said, basis });
    }
    if (perCluster !== undefined) {
      const most = resolveNodeCount(perCluster, nodes.length);
      const said = `maxConcurrentRepairsPerCluster of ${source} allows ${most}`;
      const basis = { source, field: 'spec.repairLimits.maxConcurrentRepairsPerCluster' };
      found.push({ key: CLUSTER, scope: 'the cluster', most, said, basis });
    }
  }
  const by = (key: string): readonly Limit[] =>
    found
      .filter(limit => limit.key === key)
      .toSorted((a, b) => a.most - b.most)
      .slice(0, 1);
  return [...(zone === undefined ? [] : by(zoneKey(zone))), ...by(CLUSTER)];
}

function holdBy({ key, scope, most, said, basis }: Limit, count: number, others: number, now: EpochMs): Hold {
  const first =
    others === 0 ? '' : `; ${others} other ${others === 1 ? 'pool comes' : 'pools come'} first, due for longer`;
  return {
    reason: key === CLUSTER ? 'ClusterConcurrencyBudget' : 'ZoneConcurrencyBudget',
    message: `${count} ${count === 1 ? 'repair is' : 'repairs are'} under way in ${scope}, ${said}${first}`,
    ...(basis && { basis: { ...basis, numbers: { underWay: count, allowed: most } } }),
    until: addDuration(now, BLOCKED_RETRY),
    // Nothing that ends opens a limit of none.
    ...(most > 0 && { awaits: { key, most } }),
  };
}
