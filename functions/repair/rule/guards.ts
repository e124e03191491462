/**
 * What holds a due repair back (docs/node-repair.md, Guards): a veto, somebody else at work, freeze, zone outage and
 * threshold. The last three are counted once more with nodes that recovered minutes ago, so that an outage which ends
 * node by node still holds. Pure.
 */
import { readLastReboot } from './attempt.ts';
import { hasTrait } from './ladder.ts';
import type { PoolRecord } from '../record.ts';
import {
  BLOCKED_CHECK,
  type Blocker,
  type GuardBlocker,
  type NodeFinding,
  type OtherWork,
  type Veto,
  type VetoCarrier,
} from './verdict.ts';
import { DISRUPTED_TAINT } from '../../../shared/domain/drainable-pod.ts';
import { quoteCut } from '../../../shared/domain/cut-text.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { isOwnCondition } from '../../../shared/domain/node-drain-conditions.ts';
import {
  DO_NOT_REPAIR_ANNOTATION,
  isReserved,
  type NodeCondition,
  type NodeView,
  ZONE_LABEL,
} from '../../../shared/domain/node.ts';
import {
  isOutage,
  matchStatements,
  type RepairSettings,
  type RepairStatement,
  resolveNodeCount,
} from '../../../shared/domain/repair-policy.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import {
  addDuration,
  type DurationMs,
  type EpochMs,
  hours,
  isDue,
  latest,
  minutes,
  parseTimestamp,
  toDurationMs,
  toEpochMs,
  toTimestamp,
} from '../../../shared/domain/time.ts';

/** Nodes of other pools count for freeze and zone, and their changes ask for no pass here. */
const OUTAGE_CHECK = minutes(1);

/** A node counts as coming back for no longer than this … */
const LONGEST_RECOVERING = minutes(5);
/** … if it was this old when it did. */
const OLD_ENOUGH = minutes(10);

/** A node that is being deleted counts in zone and cluster for this long. */
const GOING_COUNTS_FOR = hours(1);

/** What the NodePool allows now. */
export interface DisruptionBudget {
  /** UIDs of the nodes that are being disrupted, by whomever. */
  readonly disrupted: ReadonlySet<string>;
  /** What holds one more disruption; undefined: nothing. @param disrupted with those of this pass */
  blockerOf(uid: string, disrupted: ReadonlySet<string>): Blocker | undefined;
}

export interface Surroundings {
  readonly now: EpochMs;
  readonly settings: RepairSettings;
  /** `NodePool default`, or `the cluster`. */
  readonly area: string;
  /** The nodes that the threshold may count. */
  readonly poolNodes: readonly NodeView[];
  readonly claimOf: (node: NodeView) => NodeClaimView | undefined;
  /** The node has no NodeClaim. False also where several may be its NodeClaim. */
  readonly isUnclaimed: (node: NodeView) => boolean;
  /** The pool is that of nodes without a NodePool: a node without a NodeClaim is not left over. */
  readonly isUnmanaged: boolean;
  /** All nodes of the cluster; undefined: neither freeze nor zone are in force, or nothing is due. */
  readonly nodes: readonly NodeView[] | undefined;
  /** The statements by which a node of any pool is unhealthy. */
  readonly statementsOf: (node: NodeView) => readonly RepairStatement[];
  /** The disruption budgets of the NodePool, where they apply. */
  readonly budget?: DisruptionBudget | undefined;
  /** Why it is not known whether somebody else is at work; undefined: it is. */
  readonly requestsFault?: string | undefined;
  /** Whether Curfew has acted on the node lately. */
  readonly isActedUpon: (node: NodeView) => boolean;
}

/** Curfew rebooted the node in the last hour. */
export function isJustRebooted(node: NodeView, now: EpochMs): boolean {
  const last = readLastReboot(node);
  return last !== undefined && !isDue(now, addDuration(last.time, hours(1)));
}

export interface Guards {
  /** Freeze, then the zone's outage, then the threshold. */
  blockerOf(node: NodeView): GuardBlocker | undefined;
  /** The same guards, counted with the nodes that came back within the toleration. */
  withRecovering(node: NodeView, toleration: DurationMs): Blocker | undefined;
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
  const byWindow = new Map<DurationMs, (node: NodeView) => Blocker | undefined>();
  return {
    blockerOf,
    withRecovering(node, toleration) {
      const window = toDurationMs(Math.min(toleration, LONGEST_RECOVERING));
      const found = byWindow.get(window) ?? blockersWithRecovering(window);
      byWindow.set(window, found);
      return found(node);
    },
  };

  function blockersWithRecovering(window: DurationMs): (node: NodeView) => Blocker | undefined {
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
      return blocker && recoveringBlocker(blocker, window, addDuration(toEpochMs(first), window));
    };
  }
}

const recoveringBlocker = ({ setting, message }: GuardBlocker, window: DurationMs, until: EpochMs): Blocker => ({
  kind: 'recovering',
  reason: 'Settling',
  message: `others have just come back, and count until they have been well for ${Math.round(window / 1000)} s: with them ${message}`,
  setting,
  until,
});

/** Freeze, zones and threshold, by which nodes count as dark and as unhealthy. Each is counted once. */
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

/** When the node became healthy again, and by which conditions; undefined: not lately. */
function returnOf(
  node: NodeView,
  window: DurationMs,
  { now, statementsOf: rulesFor, isActedUpon }: Surroundings,
): { readonly time: EpochMs; readonly types: readonly string[] } | undefined {
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
  if (back.length === 0 || isActedUpon(node)) return undefined;
  const time = back.map(each => each.time).reduce(latest);
  return { time, types: back.map(({ type }) => type) };
}

/** Repair may touch the node: it is not vetoed, stopped, left over, being deleted or reserved as a replacement. */
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
  { settings, area, now }: Surroundings,
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
    message: `${unhealthy} of ${total} nodes of ${area} are unhealthy, repair stops above ${allowed} (maxUnhealthy)`,
    setting: { field: 'spec.repair.maxUnhealthy', numbers: { unhealthy, of: total, allowed } },
    until: addDuration(now, BLOCKED_CHECK),
    guard: 'threshold',
  };
}

/** Karpenter's own, on Nodes and NodeClaims; exactly `"true"`. */
const KARPENTER_VETO = 'karpenter.sh/do-not-repair';

/** The veto that holds longest, or undefined. */
export function vetoOf(
  node: NodeView,
  claim: NodeClaimView | undefined,
  pool: VetoCarrier | undefined,
  now: EpochMs,
): Veto | undefined {
  const carriers = [
    { kind: 'Node' as const, object: node },
    ...(claim === undefined ? [] : [{ kind: 'NodeClaim' as const, object: claim }]),
  ];
  const vetoes = carriers.flatMap(({ kind, object: { name, uid, annotations } }) => {
    const by: VetoCarrier = { kind, name, uid, value: annotations[DO_NOT_REPAIR_ANNOTATION] };
    const message = `${KARPENTER_VETO} on ${kind} ${name} holds until it is removed`;
    const karpenters: Veto = { until: undefined, message, invalid: false, by };
    return [readVeto(by, now) ?? [], annotations[KARPENTER_VETO] === 'true' ? karpenters : []].flat();
  });
  const pools = pool === undefined ? [] : (readVeto(pool, now) ?? []);
  return [...vetoes, pools].flat().toSorted((a, b) => (b.until ?? Infinity) - (a.until ?? Infinity))[0];
}

/**
 * `"true"` holds until it is taken away, an RFC 3339 instant until then, and any other value as `"true"` does (I6:
 * its author wanted the node left alone).
 */
function readVeto(by: VetoCarrier, now: EpochMs): Veto | undefined {
  if (by.value === undefined) return undefined;
  const on = `curfew.dev/do-not-repair on ${by.kind} ${by.name}`;
  if (by.value === 'true') return { until: undefined, message: `${on} holds until it is removed`, invalid: false, by };
  const until = parseTimestamp(by.value);
  if (until === undefined) {
    const value = quoteCut(by.value, 64);
    const message = `${on} holds until it is removed: its value must be "true" or an RFC 3339 instant, got ${value}`;
    return { until: undefined, message, invalid: true, by };
  }
  if (isDue(now, until)) return undefined;
  return { until, message: `${on} holds until ${toTimestamp(until)}`, invalid: false, by };
}

const IN_FLIGHT_FOR = hours(1);

const REBOOT_IN_FLIGHT_FOR = minutes(40);

const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler';

const AUTOSCALER_HOLDS_FOR = minutes(15);

/** An instance that somebody has stopped. */
const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';

const taintOf = ({ taints }: Pick<NodeView, 'taints'>, key: string) => taints?.find(each => each.key === key);

const isTrueForOthers = (list: readonly NodeCondition[] | undefined, type: string): boolean =>
  list?.some(each => each.type === type && each.status === 'True' && !isOwnCondition(each)) === true;

/** By which mark Karpenter says that it reboots the node. */
export function isRebooting(node: NodeView, claim: NodeClaimView | undefined): string | undefined {
  if (isTrueForOthers(claim?.conditions, 'Rebooting')) return 'condition Rebooting of the NodeClaim';
  return taintOf(node, 'karpenter.sh/rebooting') && 'taint karpenter.sh/rebooting';
}

/** By which mark it says that it is going to disrupt the node. */
export function isMarkedForDisruption(node: NodeView, claim: NodeClaimView | undefined): string | undefined {
  if (taintOf(node, DISRUPTED_TAINT.key)) return `taint ${DISRUPTED_TAINT.key}`;
  return isTrueForOthers(claim?.conditions, 'DisruptionReason')
    ? 'condition DisruptionReason of the NodeClaim'
    : undefined;
}

/** @param otherRequest what stands for the node in other systems, by its name */
export function otherWorkOn(
  node: NodeView,
  claim: NodeClaimView | undefined,
  otherRequest: string | undefined,
  now: EpochMs,
): OtherWork | undefined {
  const other = (what: string, inFlightFor: DurationMs = IN_FLIGHT_FOR): OtherWork => ({ what, inFlightFor });
  const reboot = isRebooting(node, claim);
  if (reboot !== undefined) return other(reboot, REBOOT_IN_FLIGHT_FOR);
  // Whoever terminates the node has set that taint, and a repair may force a termination.
  if (claim?.deletionTime === undefined && node.deletionTime === undefined) {
    const marked = isMarkedForDisruption(node, claim);
    if (marked !== undefined) return other(marked);
  }
  const removal = taintOf(node, AUTOSCALER_TAINT);
  const since = removal && Number(removal.value) * 1000;
  const isRead = since !== undefined && Number.isSafeInteger(since);
  if (isRead && !isDue(now, addDuration(toEpochMs(since), AUTOSCALER_HOLDS_FOR)))
    return other(`taint ${AUTOSCALER_TAINT}`);
  if (isTrueForOthers(node.conditions, 'MaintenanceInProgress')) return other('condition MaintenanceInProgress');
  return otherRequest === undefined ? undefined : other(otherRequest);
}

/** Somebody has stopped the instance: its node is neither healthy nor unhealthy. */
export const isStopped = ({ taints }: Pick<NodeView, 'taints'>): boolean =>
  taints?.some(({ key }) => key === SHUTDOWN_TAINT) === true;

/** Nodes with an attempt under way, and nodes on which a run that may still be at work set out to act. */
export function inFlightOf(findings: readonly NodeFinding[], state: PoolRecord, now: EpochMs): ReadonlySet<string> {
  const isBegun = (finding: NodeFinding): boolean => {
    const since = begunTime(finding, state);
    if (since === undefined || hasTrait(finding.verdict, 'settled')) return false;
    return !isDue(now, addDuration(since, RUN_ENDS_WITHIN));
  };
  const counted = findings.filter(finding => finding.state === 'inFlight' || isBegun(finding));
  return new Set(counted.map(({ node }) => node.uid));
}

/**
 * When a run of ours set out to act on the node; undefined: none did. The place that somebody else's work takes is not
 * ours, and the record of that work has overtaken any run of before.
 */
export function begunTime(finding: NodeFinding, { inFlight }: Pick<PoolRecord, 'inFlight'>): EpochMs | undefined {
  const since = inFlight[finding.node.uid];
  if (finding.kind === 'gone' || since === undefined) return undefined;
  const { otherWorkTime } = finding;
  return otherWorkTime !== undefined && since <= otherWorkTime ? undefined : since;
}
