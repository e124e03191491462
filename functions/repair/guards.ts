/**
 * Freeze, zone outage and threshold: what holds a due repair back when too many nodes are unhealthy. Each is counted a second time with the
 * nodes that have just come back: an outage that ends node by node is over when the last ones had their time. Pure.
 */
import { readLastReboot } from './attempt.ts';
import { type Activity, type DisruptionBudget, disruptionBudgetOf } from './disruption-budget.ts';
import { isStopped, vetoOf } from './node-verdict.ts';
import type { PoolRecord } from './record.ts';
import { BLOCKED_CHECK, type Blocker, type GuardBlocker, type NodeFinding } from './verdict.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import { isReserved, type NodeView, ZONE_LABEL } from '../../shared/domain/node.ts';
import {
  isOutage,
  matchStatements,
  type RepairSettings,
  type RepairStatement,
  resolveNodeCount,
  statementsOf,
} from '../../shared/domain/repair-policy.ts';
import {
  addDuration,
  type DurationMs,
  type EpochMs,
  hours,
  isDue,
  latest,
  minutes,
  toDurationMs,
  toEpochMs,
} from '../../shared/domain/time.ts';

/** Freeze and zone are those of other pools too, whose changes wake nobody here. */
const OUTAGE_CHECK = minutes(1);

/** A node counts as coming back for no longer than this … */
const LONGEST_SETTLING = minutes(5);

/** … if it was this old when it did. */
const OLD_ENOUGH = minutes(10);

/** A node that goes counts in zone and cluster for so long. */
const GOING_COUNTS_FOR = hours(1);

export interface Surroundings {
  readonly now: EpochMs;
  readonly settings: RepairSettings;
  /** `NodePool default`, or `the cluster`. */
  readonly scope: string;
  /** Whom the threshold may count. */
  readonly poolNodes: readonly NodeView[];
  readonly claimOf: (node: NodeView) => NodeClaimView | undefined;
  /** No NodeClaim stands for it: where several may, it is not certain which. */
  readonly isUnclaimed: (node: NodeView) => boolean;
  /** Nodes without NodeClaims are no left-overs here. */
  readonly isUnmanaged: boolean;
  /** All nodes of the cluster; undefined: neither freeze nor zone are in force, or nothing is due. */
  readonly nodes: readonly NodeView[] | undefined;
  /** By what a node of any pool is unhealthy. */
  readonly statementsOf: (node: NodeView) => readonly RepairStatement[];
  /** The NodePool's own, where they count. */
  readonly budget?: DisruptionBudget | undefined;
  /** Whether Curfew has acted on the node lately. */
  readonly isActedUpon: (node: NodeView) => boolean;
}

interface Around {
  readonly pool: string | undefined;
  readonly settings: Surroundings['settings'];
  readonly own: readonly NodeView[];
  readonly claims: readonly NodeClaimView[];
  readonly cluster:
    | { readonly nodes: readonly NodeView[]; readonly statementsOf: (node: NodeView) => readonly RepairStatement[] }
    | undefined;
  readonly state: PoolRecord;
  readonly now: EpochMs;
  readonly nodePool: KubernetesObject | undefined;
  readonly activity: Activity;
  /** What a pass has found of its nodes. */
  readonly findings: readonly NodeFinding[];
}

export function surroundingsOf(around: Around): Surroundings {
  const { pool, settings, own, claims, cluster, state, now, nodePool, findings, activity } = around;
  const index = indexOwners(own, claims);
  const statements = statementsOf(settings);
  const mine = new Set(own.map(({ uid }) => uid));
  const claimOf = (node: NodeView): NodeClaimView | undefined => {
    const owner = ownerOf(node, index);
    return owner.kind === 'claim' ? owner.claim : undefined;
  };
  const which = settings.disruptionBudgets;
  return {
    now,
    settings,
    scope: pool === undefined ? 'the cluster' : `NodePool ${pool}`,
    poolNodes: pool === undefined ? (cluster?.nodes ?? own) : own,
    claimOf,
    isUnclaimed: node => ownerOf(node, index).kind === 'none',
    budget:
      // Most NodePools say nothing.
      which === 'Explicit' && nodePool?.spec?.['disruption'] === undefined
        ? undefined
        : disruptionBudgetOf({ pool: nodePool, which, nodes: own, claimOf, findings, activity, now }),
    isUnmanaged: pool === undefined,
    nodes: cluster?.nodes,
    statementsOf: node => (mine.has(node.uid) || cluster === undefined ? statements : cluster.statementsOf(node)),
    isActedUpon: node => state.inFlight[node.uid] !== undefined || isJustRebooted(node, now),
  };
}

/** By us, in the last hour. */
function isJustRebooted(node: NodeView, now: EpochMs): boolean {
  const last = readLastReboot(node);
  return last !== undefined && !isDue(now, addDuration(last.time, hours(1)));
}

export interface Guards {
  /** Freeze, then the zone's outage, then the threshold. */
  blockerOf(node: NodeView): GuardBlocker | undefined;
  /** The same by a count with those that came back within the toleration. */
  settle(node: NodeView, toleration: DurationMs): Blocker | undefined;
}

export function createGuards(surroundings: Surroundings): Guards {
  const { now, nodes = [], statementsOf: rulesFor } = surroundings;
  const judged = new Map<NodeView, boolean>();
  const isUnhealthy = (node: NodeView): boolean => {
    const known = judged.get(node) ?? matchStatements(node, rulesFor(node)).length > 0;
    judged.set(node, known);
    return known;
  };
  const isDark = (node: NodeView): boolean =>
    node.conditions.find(({ type }) => type === 'Ready')?.status === 'Unknown';
  const counted = nodes.filter(
    node =>
      !isStopped(node) &&
      (node.deletionTime === undefined || !isDue(now, addDuration(node.deletionTime, GOING_COUNTS_FOR))),
  );
  const touchable = surroundings.poolNodes.filter(node => mayBeTouched(node, surroundings, isUnhealthy));
  const who = { counted, touchable };
  const blockerOf = blockersOf(surroundings, who, { isDark, isUnhealthy });
  const settles = new Map<DurationMs, (node: NodeView) => Blocker | undefined>();
  return {
    blockerOf,
    settle(node, toleration) {
      const window = toDurationMs(Math.min(toleration, LONGEST_SETTLING));
      const found = settles.get(window) ?? settling(window);
      settles.set(window, found);
      return found(node);
    },
  };

  function settling(window: DurationMs): (node: NodeView) => Blocker | undefined {
    const back = new Map(
      [...new Set([...counted, ...touchable])].flatMap(each => {
        const found = isUnhealthy(each) ? undefined : returnOf(each, window, surroundings);
        return found === undefined ? [] : [[each, found] as const];
      }),
    );
    const first = Math.min(...[...back.values()].map(({ time }) => time));
    const again = blockersOf(surroundings, who, {
      isDark: each => isDark(each) || back.get(each)?.types.includes('Ready') === true,
      isUnhealthy: each => isUnhealthy(each) || back.has(each),
    });
    return node => {
      const blocker = back.size === 0 ? undefined : again(node);
      return blocker && settlingBlocker(blocker, window, addDuration(toEpochMs(first), window));
    };
  }
}

const settlingBlocker = ({ setting, message }: GuardBlocker, window: DurationMs, until: EpochMs): Blocker => ({
  kind: 'settling',
  reason: 'Settling',
  message: `others have just come back, and count until they have been well for ${Math.round(window / 1000)} s: with them ${message}`,
  setting,
  until,
});

/** Freeze, zones and threshold, by who counts as dark and as unhealthy. Each is counted once. */
function blockersOf(
  surroundings: Surroundings,
  { counted, touchable }: { readonly counted: readonly NodeView[]; readonly touchable: readonly NodeView[] },
  {
    isDark,
    isUnhealthy,
  }: { readonly isDark: (node: NodeView) => boolean; readonly isUnhealthy: (node: NodeView) => boolean },
): Guards['blockerOf'] {
  const zones = new Map<string, GuardBlocker | undefined>();
  const frozen = freeze(surroundings, counted, isDark);
  const blocked = threshold(surroundings, touchable, isUnhealthy);
  return ({ labels }) => {
    const zone = labels[ZONE_LABEL];
    if (frozen !== undefined || zone === undefined) return frozen ?? blocked;
    if (!zones.has(zone)) zones.set(zone, zoneOutage(surroundings, zone, counted, isUnhealthy));
    return zones.get(zone) ?? blocked;
  };
}

/** When the node came back, and by which conditions; undefined: it did not lately. */
function returnOf(
  node: NodeView,
  window: DurationMs,
  { now, statementsOf: rulesFor, isActedUpon }: Surroundings,
): { readonly time: EpochMs; readonly types: readonly string[] } | undefined {
  if (isActedUpon(node)) return undefined;
  const types = new Set(rulesFor(node).map(({ type }) => type));
  // Of two conditions of one type the first counts, here as everywhere.
  const first = node.conditions.filter(
    (each, at) => node.conditions.findIndex(({ type }) => type === each.type) === at,
  );
  const back = first.flatMap(({ type, lastTransitionTime: time }) => {
    if (time === undefined || !types.has(type) || isDue(now, addDuration(time, window)) || time > now) return [];
    const isOld = node.creationTime === undefined || isDue(time, addDuration(node.creationTime, OLD_ENOUGH));
    return isOld ? [{ type, time }] : [];
  });
  if (back.length === 0) return undefined;
  const time = back.map(each => each.time).reduce(latest);
  return { time, types: back.map(({ type }) => type) };
}

/** Not vetoed, not stopped, not left over, no replacement that is not in use yet. */
function mayBeTouched(
  node: NodeView,
  { now, claimOf, isUnclaimed, isUnmanaged }: Surroundings,
  isUnhealthy: (node: NodeView) => boolean,
): boolean {
  const claim = claimOf(node);
  if (isReserved(node)) return false;
  if (isStopped(node) || node.deletionTime !== undefined || claim?.deletionTime !== undefined) return false;
  const isLeftOver = !isUnmanaged && isUnclaimed(node) && isUnhealthy(node);
  return !isLeftOver && vetoOf(node, claim, undefined, now) === undefined;
}

function freeze(
  { settings: { freeze: rule }, now, nodes }: Surroundings,
  counted: readonly NodeView[],
  isDark: (node: NodeView) => boolean,
): GuardBlocker | undefined {
  if (rule === undefined || nodes === undefined) return undefined;
  const unknown = counted.filter(isDark).length;
  if (!isOutage(rule, unknown, counted.length)) return undefined;
  return {
    kind: 'guard',
    reason: 'ClusterFreeze',
    message: `${unknown} of ${counted.length} nodes of the cluster are Ready=Unknown at the same time, repair.freeze holds repairs from ${rule.minNodes} nodes and ${rule.share}% on`,
    setting: {
      field: 'spec.repair.freeze',
      numbers: { unknown, of: counted.length, minNodes: rule.minNodes, share: rule.share },
    },
    until: addDuration(now, OUTAGE_CHECK),
    guard: 'cluster',
  };
}

function zoneOutage(
  { settings: { zoneOutage: rule }, now }: Surroundings,
  zone: string,
  counted: readonly NodeView[],
  isUnhealthy: (node: NodeView) => boolean,
): GuardBlocker | undefined {
  if (rule === undefined) return undefined;
  const there = counted.filter(({ labels }) => labels[ZONE_LABEL] === zone);
  const unhealthy = there.filter(isUnhealthy).length;
  if (!isOutage(rule, unhealthy, there.length)) return undefined;
  return {
    kind: 'guard',
    reason: 'ZoneOutage',
    message: `${unhealthy} of ${there.length} nodes of zone ${zone} are unhealthy, repair.zoneOutage holds repairs there from ${rule.minNodes} nodes and ${rule.share}% on`,
    setting: {
      field: 'spec.repair.zoneOutage',
      numbers: { zone, unhealthy, of: there.length, minNodes: rule.minNodes, share: rule.share },
    },
    until: addDuration(now, OUTAGE_CHECK),
    guard: `zone/${zone}`,
  };
}

function threshold(
  { settings, scope, now }: Surroundings,
  touchable: readonly NodeView[],
  isUnhealthy: (node: NodeView) => boolean,
): GuardBlocker | undefined {
  const unhealthy = touchable.filter(isUnhealthy).length;
  const total = touchable.length;
  const allowed = resolveNodeCount(settings.maxUnhealthy, total);
  if (unhealthy <= allowed) return undefined;
  return {
    kind: 'guard',
    reason: 'UnhealthyThreshold',
    message: `${unhealthy} of ${total} nodes of ${scope} are unhealthy, repair stops above ${allowed} (maxUnhealthy)`,
    setting: { field: 'spec.repair.maxUnhealthy', numbers: { unhealthy, of: total, allowed } },
    until: addDuration(now, BLOCKED_CHECK),
    guard: 'threshold',
  };
}
