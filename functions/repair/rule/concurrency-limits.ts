/**
 * Limits of repairs in flight at the same time: in a pool (`maxConcurrentRepairs`), in a zone and in the cluster
 * (`repairLimits`). Pure.
 */
import type { DueFinding } from '../node/rule/finding.ts';
import type { GuardInputs } from './guard-inputs.ts';
import { BLOCKED_CHECK, type Blocker } from '../node/rule/verdict.ts';
import type { RepairLimitsInForce } from '../node/rule/settings-in-force.ts';
import { type NodeView, ZONE_LABEL } from '../../../shared/domain/node.ts';
import { resolveNodeCount } from '../../../shared/domain/repair-policy.ts';
import { addDuration, type EpochMs, seconds } from '../../../shared/domain/time.ts';

/** Limits of zone and cluster, which say whether one more repair may begin. */
export interface ConcurrencyLimits {
  /** The blocker of a repair of this node; undefined: it may begin. */
  blockerOf(node: ZonedNode): Blocker | undefined;
  /** Counts a repair of this node, which begins. */
  take(node: ZonedNode): void;
}

export type ZonedNode = Pick<NodeView, 'uid' | 'labels'>;

/** The blocker of a node whose pool has as many repairs in flight as `maxConcurrentRepairs` allows. */
export function budgetBlocker(place: string, inFlight: number, limit: number, now: EpochMs): Blocker {
  return {
    kind: 'budget',
    reason: 'ConcurrencyBudget',
    message: `${underWayText(inFlight, place)}, maxConcurrentRepairs allows ${limit}`,
    setting: { field: 'spec.repair.maxConcurrentRepairs', numbers: { underWay: inFlight, allowed: limit } },
    until: addDuration(now, BLOCKED_CHECK),
  };
}

const underWayText = (count: number, place: string): string =>
  `${count} ${count === 1 ? 'repair is' : 'repairs are'} under way ${place}`;

export interface CountedLimits {
  readonly limits: RepairLimitsInForce;
  /** All nodes of the cluster. */
  readonly nodes: readonly ZonedNode[];
}

interface Limit {
  readonly key: string;
  readonly place: string;
  readonly most: number;
  readonly clause: string;
  /** The field of the policy that states the limit; absent: it is `MAX_RESERVATIONS`, which no policy states. */
  readonly setting?: { readonly source: string; readonly field: string };
}

const CLUSTER = 'cluster';

const zoneKey = (zone: string): string => `zone/${zone}`;

/** Creates the limits. They count these reservations, and each repair that begins. */
export function createConcurrencyLimits(
  { limits, nodes }: CountedLimits,
  reservations: readonly { readonly zone?: string | undefined }[],
  now: EpochMs,
): ConcurrencyLimits {
  const taken = new Map<string, number>();
  const add = (zone: string | undefined): void => {
    for (const key of zone === undefined ? [CLUSTER] : [CLUSTER, zoneKey(zone)])
      taken.set(key, (taken.get(key) ?? 0) + 1);
  };
  for (const { zone } of reservations) add(zone);
  const limitsByZone = new Map<string | undefined, readonly Limit[]>();
  return {
    take: ({ labels }) => add(labels[ZONE_LABEL]),
    blockerOf({ labels }) {
      const zone = labels[ZONE_LABEL];
      const limitsThere = limitsByZone.get(zone) ?? strictest(limits, zone, nodes);
      limitsByZone.set(zone, limitsThere);
      for (const { key, place, most, clause, setting } of limitsThere) {
        const count = taken.get(key) ?? 0;
        if (count < most) continue;
        const message = `${underWayText(count, place)}, ${clause}`;
        const until = addDuration(now, FULL_CHECK);
        if (setting === undefined) return { kind: 'reservations', reason: 'ClusterConcurrencyBudget', message, until };
        const reason = key === CLUSTER ? 'ClusterConcurrencyBudget' : 'ZoneConcurrencyBudget';
        const numbers = { underWay: count, allowed: most };
        return { kind: 'budget', reason, message, setting: { ...setting, numbers }, until };
      }
      return undefined;
    },
  };
}

/**
 * The limits that apply to a node of the zone: that of the zone, then that of the cluster. The strictest counts if
 * several policies state one.
 */
function strictest(
  { binding }: RepairLimitsInForce,
  zone: string | undefined,
  nodes: readonly ZonedNode[],
): readonly Limit[] {
  const inZone = nodes.filter(({ labels }) => labels[ZONE_LABEL] === zone).length;
  const applying: Limit[] = [
    { key: CLUSTER, place: 'in the cluster', most: MAX_RESERVATIONS, clause: 'so many are counted at most' },
  ];
  const areas = [
    ...(zone === undefined
      ? []
      : [
          {
            key: zoneKey(zone),
            place: `in zone ${zone}`,
            field: 'maxConcurrentRepairsPerZone',
            total: inZone,
          } as const,
        ]),
    { key: CLUSTER, place: 'in the cluster', field: 'maxConcurrentRepairsPerCluster', total: nodes.length } as const,
  ];
  for (const { source, ...stated } of binding) {
    for (const { key, place, field, total } of areas) {
      const limit = stated[field];
      if (limit === undefined) continue;
      const most = resolveNodeCount(limit, total);
      const setting = { source, field: `spec.repairLimits.${field}` };
      applying.push({ key, place, most, clause: `${field} of ${source} allows ${most}`, setting });
    }
  }
  const strictFirst = applying.toSorted((a, b) => a.most - b.most);
  return areas.flatMap(({ key }) => strictFirst.find(limit => limit.key === key) ?? []);
}

/** A node that is blocked by a full limit is looked at again after this long. */
const FULL_CHECK = seconds(30);

/** One record has the reservations of all pools, and its size is limited. */
const MAX_RESERVATIONS = 1_000;

/** The number of repairs that a pool has in flight at most, for its record is limited. */
const MAX_IN_FLIGHT = 5_000;

/**
 * Counts the slots that pool, budget, zone and cluster leave for the nodes of one pass. A repair in flight keeps its
 * slot, and takes no second one. A custom resource disrupts nothing.
 */
export function createSlots(
  { settings, place, poolNodes, budget, now }: GuardInputs,
  inFlight: ReadonlySet<string>,
  concurrencyLimits: ConcurrencyLimits | undefined,
) {
  const maxConcurrent =
    settings.maxConcurrentRepairs && resolveNodeCount(settings.maxConcurrentRepairs, poolNodes.length);
  const limit = Math.min(maxConcurrent ?? MAX_IN_FLIGHT, MAX_IN_FLIGHT);
  const disrupted = new Set(budget?.disrupted);
  const needsSlot = ({ node }: DueFinding): boolean => !inFlight.has(node.uid);
  const isDisruptive = ({ verdict: { action } }: DueFinding): boolean => action.type !== 'CustomResource';
  let count = inFlight.size;
  return {
    /** The blocker of the node; undefined: its repair may begin. */
    blockerOf(finding: DueFinding): Blocker | undefined {
      const { node } = finding;
      return (
        (needsSlot(finding) && count >= limit ? budgetBlocker(place, count, limit, now) : undefined) ??
        (isDisruptive(finding) ? budget?.blockerOf(node.uid, disrupted) : undefined) ??
        (needsSlot(finding) ? concurrencyLimits?.blockerOf(node) : undefined)
      );
    },
    /** Counts a repair, which now begins, in pool, budget, zone and cluster. */
    take(finding: DueFinding): void {
      if (needsSlot(finding)) {
        count += 1;
        concurrencyLimits?.take(finding.node);
      }
      if (isDisruptive(finding)) disrupted.add(finding.node.uid);
    },
  };
}
