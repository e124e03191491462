/** What holds a due repair back although the node itself may be repaired: the state of its pool, its zone, the cluster, and earlier repairs. Pure. */
import { ZONE_LABEL, type NodeView } from '../../../shared/domain/node.ts';
import {
  isOutage,
  matchStatements,
  resolveNodeCount,
  statementsOf,
  type RepairSettings,
} from '../../../shared/domain/repair-policy.ts';
import { addDuration, minutes, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { DueNode } from '../decide.ts';
import type { PoolState, RepairAttempt } from './pool.ts';

export type HoldReason =
  | 'ClusterFreeze'
  | 'ZoneOutage'
  | 'UnhealthyThreshold'
  | 'FutileRepairs'
  | 'ConcurrencyBudget'
  | 'ZoneConcurrencyBudget'
  | 'ClusterConcurrencyBudget'
  | 'RampUp'
  | 'AmbiguousNodeClaim';

/** What a guard rests on. */
export interface Basis {
  /** Where the setting stands, e.g. `NodeLifecyclePolicy limits`; undefined: where the repair block stands. */
  readonly source?: string;
  /** Dotted, from the top of the object: `spec.repair.zoneOutage`. */
  readonly field: string;
  readonly numbers: Readonly<Record<string, number | string>>;
}

export interface Hold {
  readonly reason: HoldReason;
  readonly message: string;
  /** The setting that holds, and the numbers that it met; absent: no setting does. */
  readonly basis?: Basis;
  /** When to look again if nothing changes before. */
  readonly until: EpochMs;
  /** Set for an outage, which ends with a ramp. */
  readonly outage?: string;
  /** Set where the end of another repair lets it go on: what is full (`limits/concurrent.ts`). */
  readonly awaits?: { readonly key: string; readonly most: number };
}

/** Blocked repairs are looked at again after this long, or when the pool changes (Karpenter's value). */
export const BLOCKED_RETRY = minutes(5);
/** The nodes of an outage are those of other pools too, whose changes wake nobody here. */
const OUTAGE_RETRY = minutes(1);

export interface Surroundings {
  readonly now: EpochMs;
  readonly settings: RepairSettings;
  /** `NodePool default`, or `the cluster`. */
  readonly scope: string;
  /** Whom the threshold counts. */
  readonly poolNodes: readonly NodeView[];
  /** All nodes of the cluster. */
  readonly nodes: readonly NodeView[];
}

/** What holds a due node of the pool, however many others are repaired: freeze, then the zone's outage, then the threshold. */
export function createGuards(surroundings: Surroundings): {
  readonly hold: (node: NodeView) => Hold | undefined;
} {
  const { settings } = surroundings;
  const statements = statementsOf(settings);
  const isUnhealthy = (node: NodeView): boolean => matchStatements(node, statements).length > 0;
  const frozen = freeze(surroundings);
  const blocked = threshold(surroundings, isUnhealthy);
  const zones = new Map<string, Hold | undefined>();
  const zoneOf = (node: NodeView): Hold | undefined => {
    const zone = node.labels[ZONE_LABEL];
    if (zone === undefined || settings.zoneOutage === undefined) return undefined;
    if (!zones.has(zone)) zones.set(zone, zoneOutage(settings.zoneOutage, zone, surroundings, isUnhealthy));
    return zones.get(zone);
  };
  return { hold: node => frozen ?? zoneOf(node) ?? blocked };
}

function freeze({ settings: { freeze: rule }, nodes, now }: Surroundings): Hold | undefined {
  if (rule === undefined) return undefined;
  const unknown = nodes.filter(
    ({ conditions }) => conditions.find(({ type }) => type === 'Ready')?.status === 'Unknown',
  ).length;
  if (!isOutage(rule, unknown, nodes.length)) return undefined;
  return {
    reason: 'ClusterFreeze',
    message: `${unknown} of ${nodes.length} nodes of the cluster are Ready=Unknown at the same time, repair.freeze holds repairs from ${rule.minNodes} nodes and ${rule.share}% on`,
    basis: {
      field: 'spec.repair.freeze',
      numbers: { unknown, of: nodes.length, minNodes: rule.minNodes, share: rule.share },
    },
    until: addDuration(now, OUTAGE_RETRY),
    outage: 'cluster',
  };
}

function zoneOutage(
  rule: NonNullable<RepairSettings['zoneOutage']>,
  zone: string,
  { nodes, now }: Surroundings,
  isUnhealthy: (node: NodeView) => boolean,
): Hold | undefined {
  const there = nodes.filter(({ labels }) => labels[ZONE_LABEL] === zone);
  const unhealthy = there.filter(isUnhealthy).length;
  if (!isOutage(rule, unhealthy, there.length)) return undefined;
  return {
    reason: 'ZoneOutage',
    message: `${unhealthy} of ${there.length} nodes of zone ${zone} are unhealthy, repair.zoneOutage holds repairs there from ${rule.minNodes} nodes and ${rule.share}% on`,
    basis: {
      field: 'spec.repair.zoneOutage',
      numbers: { zone, unhealthy, of: there.length, minNodes: rule.minNodes, share: rule.share },
    },
    until: addDuration(now, OUTAGE_RETRY),
    outage: `zone/${zone}`,
  };
}

function threshold(
  { settings, scope, poolNodes, now }: Surroundings,
  isUnhealthy: (node: NodeView) => boolean,
): Hold | undefined {
  const unhealthy = poolNodes.filter(isUnhealthy).length;
  const total = poolNodes.length;
  const allowed = resolveNodeCount(settings.maxUnhealthy, total);
  if (unhealthy <= allowed) return undefined;
  return {
    reason: 'UnhealthyThreshold',
    message: `${unhealthy} of ${total} nodes of ${scope} are unhealthy, repair stops above ${allowed} (maxUnhealthy)`,
    basis: { field: 'spec.repair.maxUnhealthy', numbers: { unhealthy, of: total, allowed } },
    until: addDuration(now, BLOCKED_RETRY),
  };
}

/** What holds a node back where so many repairs are under way as `maxConcurrentRepairs` allows. */
export function budgetHold(scope: string, inFlight: number, limit: number, now: EpochMs): Hold {
  return {
    reason: 'ConcurrencyBudget',
    message: `${inFlight} ${inFlight === 1 ? 'repair is' : 'repairs are'} under way in ${scope}, maxConcurrentRepairs allows ${limit}`,
    basis: { field: 'spec.repair.maxConcurrentRepairs', numbers: { underWay: inFlight, allowed: limit } },
    until: addDuration(now, BLOCKED_RETRY),
  };
}

/** How a condition is named in the history of repairs. */
export const failureOf = ({ incident }: Pick<DueNode, 'incident'>): string =>
  `${incident.conditionType}=${incident.conditionStatus}`;

/**
 * Futility: so many repairs for one reason within the window, and the node that fails for it now was made after them: another
 * replacement would fail, too. It ends by itself when the window has passed.
 */
export function futility(
  { settings, now, scope }: Pick<Surroundings, 'settings' | 'now' | 'scope'>,
  due: Pick<DueNode, 'incident'>,
  node: Pick<NodeView, 'creationTime'>,
  repairs: PoolState['repairs'],
): Hold | undefined {
  const { futility: rule } = settings;
  const { creationTime } = node;
  if (rule === undefined || creationTime === undefined) return undefined;
  const failure = failureOf(due);
  const before = repairs
    .filter(({ condition, time }) => condition === failure && time <= creationTime && time + rule.window > now)
    .toSorted((a, b) => a.time - b.time);
  // When this one has left the window, too few are left in it.
  const last = before.at(-rule.repairs);
  if (last === undefined) return undefined;
  const until = addDuration(last.time, rule.window);
  return {
    reason: 'FutileRepairs',
    message: `${before.length} repairs in ${scope} did not help: their replacements fail the same way (${failure}); held until ${toTimestamp(until)}`,
    basis: { field: 'spec.repair.futility', numbers: { repairs: before.length, allowed: rule.repairs } },
    until,
  };
}

/** No more than so many are remembered: the newest. */
const MAX_REPAIRS = 100;

/** The repairs that `futility` counts, with those that begin now. */
export function recentRepairs(
  repairs: PoolState['repairs'],
  begun: readonly RepairAttempt[],
  { futility: rule }: RepairSettings,
  now: EpochMs,
): PoolState['repairs'] {
  if (rule === undefined) return [];
  const terminations = begun.filter(({ action }) => action === 'Terminate');
  const added = terminations.map(attempt => ({ condition: failureOf(attempt), time: now }));
  return [...repairs, ...added].filter(({ time }) => time + rule.window > now).slice(-MAX_REPAIRS);
}
