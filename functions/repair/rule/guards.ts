/**
 * Freeze, zone outage and threshold, which hold a due repair back (docs/node-repair.md, Guards). They are counted once
 * more with nodes that recovered minutes ago, so that an outage which ends node by node still holds. Pure.
 */
import { type DisruptionBudget, disruptionBudgetOf } from './disruption-budget.ts';
import { begunTime, dueOf } from './finding.ts';
import { isMended, readableSettings } from './incident.ts';
import { isStopped } from './other-work.ts';
import type { PoolFacts } from './pool-facts.ts';
import type { JudgedPool } from './pool-verdict.ts';
import { isJustRebooted } from './reboot-marks.ts';
import { vetoOf } from './vetoes.ts';
import { BLOCKED_CHECK, type Blocker, type OwnDueVerdict, type GuardBlocker } from './verdict.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../../shared/domain/node-owner.ts';
import { isReserved, type NodeView, ZONE_LABEL } from '../../../shared/domain/node.ts';
import {
  type Confirmation,
  isOutage,
  matchStatements,
  type OutageRule,
  type RepairSettings,
  type RepairStatement,
  resolveNodeCount,
  statementsOf,
} from '../../../shared/domain/repair-policy.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  hours,
  isDue,
  latest,
  minutes,
  toDurationMs,
  toEpochMs,
} from '../../../shared/domain/time.ts';

/**
 * A node that is held by freeze or zone is looked at this often: nodes of other pools count, too, and their changes ask
 * for no pass of this pool.
 */
const OUTAGE_CHECK = minutes(1);

/** The word of EC2 that confirms a repair. */
export const CONFIRMED = 'impaired';

/** No event tells that EC2 says something else, or that the work of others can be read again: both are looked at this often. */
const CONFIRM_CHECK = minutes(1);

/** A node that was old enough when it came back counts as coming back for no longer than this. */
const LONGEST_RECOVERING = minutes(5);

/** A node younger than this when it becomes healthy does not count as coming back: it is new. */
const OLD_ENOUGH = minutes(10);

/** A node that is being deleted counts in zone and cluster for this long. */
const GOING_COUNTS_FOR = hours(1);

export interface GuardInputs {
  readonly now: EpochMs;
  readonly settings: RepairSettings;
  /** The area in messages: `NodePool default`, or `the cluster`. */
  readonly area: string;
  /** The nodes that the threshold may count. */
  readonly poolNodes: readonly NodeView[];
  readonly claimOf: (node: NodeView) => NodeClaimView | undefined;
  /** Whether the node has no NodeClaim. False also if several may be its NodeClaim. */
  readonly isUnclaimed: (node: NodeView) => boolean;
  /** Whether the pool is that of nodes without a NodePool. A node without a NodeClaim is not left over there. */
  readonly isUnmanaged: boolean;
  /** All nodes of the cluster; undefined: neither freeze nor zone are in force, or nothing is due. */
  readonly nodes: readonly NodeView[] | undefined;
  /** The statements by which a node of any pool is unhealthy. */
  readonly statementsOf: (node: NodeView) => readonly RepairStatement[];
  /** The disruption budget of the NodePool; undefined: none applies. */
  readonly budget?: DisruptionBudget | undefined;
  /** Reason why it is not known whether another controller is at work on a node; undefined: it is known. */
  readonly requestsFault?: string | undefined;
  /** Whether Curfew has acted on the node lately. */
  readonly isActedUpon: (node: NodeView) => boolean;
}

type CountedFacts = Pick<
  PoolFacts,
  'pool' | 'poolSettings' | 'nodes' | 'claims' | 'dueFacts' | 'poolRecord' | 'now' | 'activity'
>;

/** The facts that the guards count; undefined: nothing may be repaired. */
export function guardInputsOf(
  { pool, poolSettings, nodes: ownNodes, claims, dueFacts, poolRecord, now, activity }: CountedFacts,
  { presentNodes: findings }: Pick<JudgedPool, 'presentNodes'>,
): GuardInputs | undefined {
  const settings = readableSettings(poolSettings.repair);
  if (settings === undefined) return undefined;
  const cluster = dueFacts?.cluster;
  const index = indexOwners(ownNodes, [...claims.values()]);
  const statements = statementsOf(settings);
  const ownUids = new Set(ownNodes.map(({ uid }) => uid));
  const mended = new Set(findings.flatMap(({ record, node }) => (record && isMended(record) ? node.uid : [])));
  const uidsOfOtherWork = new Set(
    findings.flatMap(each => (begunTime(each, poolRecord) === undefined ? each.node.uid : [])),
  );
  const isInFlight = ({ uid }: NodeView): boolean =>
    poolRecord.inFlight[uid] !== undefined && !uidsOfOtherWork.has(uid);
  const claimOf = (node: NodeView): NodeClaimView | undefined => {
    const owner = ownerOf(node, index);
    return owner.kind === 'claim' ? owner.claim : undefined;
  };
  const budgetChoice = settings.disruptionBudgets;
  // Most NodePools state no budgets.
  const hasBudget = budgetChoice !== 'Explicit' || poolSettings.nodePool?.spec?.['disruption'] !== undefined;
  return {
    now,
    settings,
    area: pool === undefined ? 'the cluster' : `NodePool ${pool}`,
    poolNodes: pool === undefined ? (cluster?.nodes ?? ownNodes) : ownNodes,
    claimOf,
    isUnclaimed: node => ownerOf(node, index).kind === 'none',
    budget: hasBudget
      ? disruptionBudgetOf({
          pool: poolSettings.nodePool,
          budgetChoice,
          nodes: ownNodes,
          claimOf,
          findings,
          activity,
          now,
        })
      : undefined,
    isUnmanaged: pool === undefined,
    requestsFault: dueFacts?.requestsFault,
    nodes: cluster?.nodes,
    statementsOf: node => (ownUids.has(node.uid) || cluster === undefined ? statements : cluster.statementsOf(node)),
    isActedUpon: node => isInFlight(node) || mended.has(node.uid) || isJustRebooted(node, now),
  };
}

export interface Guards {
  /** Freeze, then the zone's outage, then the threshold. */
  blockerOf(node: NodeView): GuardBlocker | undefined;
  /**
   * The blocker of freeze, zone outage or threshold, counted with nodes that became healthy again within the
   * toleration, 5 minutes at most.
   */
  withRecovering(node: NodeView, toleration: DurationMs): Blocker | undefined;
}

export function createGuards(inputs: GuardInputs): Guards {
  const { now, nodes = [], statementsOf: statementsFor } = inputs;
  const isUnhealthy = oncePerKey((node: NodeView) => matchStatements(node, statementsFor(node)).length > 0);
  const isReadyUnknown = (node: NodeView): boolean =>
    node.conditions.find(({ type }) => type === 'Ready')?.status === 'Unknown';
  const countedNodes = nodes.filter(
    node =>
      !isStopped(node) &&
      (node.deletionTime === undefined || !isDue(now, addDuration(node.deletionTime, GOING_COUNTS_FOR))),
  );
  const repairableNodes = inputs.poolNodes.filter(node => mayBeRepaired(node, inputs, isUnhealthy));
  const nodesToCount = { countedNodes, repairableNodes };
  const blockerOf = blockersOf(inputs, nodesToCount, { isReadyUnknown, isUnhealthy });
  const byWindow = oncePerKey(blockersWithRecovering);
  return {
    blockerOf,
    withRecovering: (node, toleration) => byWindow(toDurationMs(Math.min(toleration, LONGEST_RECOVERING)))(node),
  };

  function blockersWithRecovering(window: DurationMs): (node: NodeView) => Blocker | undefined {
    const recovered = new Map(
      [...new Set([...countedNodes, ...repairableNodes])].flatMap(each => {
        const found = isUnhealthy(each) ? undefined : returnOf(each, window, inputs);
        return found === undefined ? [] : [[each, found] as const];
      }),
    );
    const firstReturn = Math.min(...[...recovered.values()].map(({ time }) => time));
    const blockerWithRecovered = blockersOf(inputs, nodesToCount, {
      isReadyUnknown: each => isReadyUnknown(each) || recovered.get(each)?.types.includes('Ready') === true,
      isUnhealthy: each => isUnhealthy(each) || recovered.has(each),
    });
    return node => {
      const blocker = recovered.size === 0 ? undefined : blockerWithRecovered(node);
      return blocker && recoveringBlocker(blocker, window, addDuration(toEpochMs(firstReturn), window));
    };
  }
}

/** Asks once for each key, and gives the same answer again. */
function oncePerKey<Key, Answer>(ask: (key: Key) => Answer): (key: Key) => Answer {
  const known = new Map<Key, { readonly answer: Answer }>();
  return key => {
    const found = known.get(key) ?? { answer: ask(key) };
    known.set(key, found);
    return found.answer;
  };
}

const recoveringBlocker = ({ setting, message }: GuardBlocker, window: DurationMs, until: EpochMs): Blocker => ({
  kind: 'recovering',
  reason: 'Settling',
  message: `others have just come back, and count until they have been well for ${Math.round(window / 1000)} s: with them ${message}`,
  setting,
  until,
});

/**
 * Counts freeze, zone outages and threshold once each, with these tests of which nodes are Ready=Unknown and which
 * are unhealthy.
 */
function blockersOf(
  inputs: GuardInputs,
  {
    countedNodes,
    repairableNodes,
  }: { readonly countedNodes: readonly NodeView[]; readonly repairableNodes: readonly NodeView[] },
  {
    isReadyUnknown,
    isUnhealthy,
  }: { readonly isReadyUnknown: (node: NodeView) => boolean; readonly isUnhealthy: (node: NodeView) => boolean },
): Guards['blockerOf'] {
  const blockerOfZone = oncePerKey((zone: string) => zoneOutageBlocker(inputs, zone, countedNodes, isUnhealthy));
  const frozen = freezeBlocker(inputs, countedNodes, isReadyUnknown);
  const blocked = thresholdBlocker(inputs, repairableNodes, isUnhealthy);
  return ({ labels }) => {
    const zone = labels[ZONE_LABEL];
    return frozen ?? (zone === undefined ? undefined : blockerOfZone(zone)) ?? blocked;
  };
}

/**
 * The time at which the node became healthy again, and the types of the conditions that did; undefined: it did not
 * lately.
 */
function returnOf(
  node: NodeView,
  window: DurationMs,
  { now, statementsOf: statementsFor, isActedUpon }: GuardInputs,
): { readonly time: EpochMs; readonly types: readonly string[] } | undefined {
  const types = new Set(statementsFor(node).map(({ type }) => type));
  // The first of two conditions of one type counts, here as everywhere.
  const firstOfEachType = node.conditions.filter(
    (each, at) => node.conditions.findIndex(({ type }) => type === each.type) === at,
  );
  const returns = firstOfEachType.flatMap(({ type, lastTransitionTime }) => {
    if (lastTransitionTime === undefined || !types.has(type)) return [];
    // A time in the future was written by a clock that is ahead: the node came back at the latest now.
    const time = earliest(lastTransitionTime, now);
    if (isDue(now, addDuration(time, window))) return [];
    const isOld = node.creationTime === undefined || isDue(time, addDuration(node.creationTime, OLD_ENOUGH));
    return isOld ? [{ type, time }] : [];
  });
  if (returns.length === 0 || isActedUpon(node)) return undefined;
  const time = returns.map(each => each.time).reduce(latest);
  return { time, types: returns.map(({ type }) => type) };
}

/**
 * Whether repair may touch the node: it is not vetoed, stopped, left over, being deleted or reserved as a replacement.
 */
function mayBeRepaired(
  node: NodeView,
  { now, claimOf, isUnclaimed, isUnmanaged }: GuardInputs,
  isUnhealthy: (node: NodeView) => boolean,
): boolean {
  const claim = claimOf(node);
  if (isReserved(node)) return false;
  if (isStopped(node) || node.deletionTime !== undefined || claim?.deletionTime !== undefined) return false;
  const isLeftOver = !isUnmanaged && isUnclaimed(node) && isUnhealthy(node);
  return !isLeftOver && vetoOf(node, claim, undefined, now) === undefined;
}

function freezeBlocker(
  { settings: { freeze: limits }, now, nodes }: GuardInputs,
  countedNodes: readonly NodeView[],
  isReadyUnknown: (node: NodeView) => boolean,
): GuardBlocker | undefined {
  if (limits === undefined || nodes === undefined) return undefined;
  const unknown = countedNodes.filter(isReadyUnknown).length;
  if (!isOutage(limits, unknown, countedNodes.length)) return undefined;
  const message = `${unknown} of ${countedNodes.length} nodes of the cluster are Ready=Unknown at the same time, repair.freeze holds repairs`;
  const setting = { field: 'spec.repair.freeze', numbers: { unknown, of: countedNodes.length } };
  return outageBlocker({ reason: 'ClusterFreeze', message, setting, guard: 'cluster' }, limits, now);
}

function zoneOutageBlocker(
  { settings: { zoneOutage: limits }, now }: GuardInputs,
  zone: string,
  countedNodes: readonly NodeView[],
  isUnhealthy: (node: NodeView) => boolean,
): GuardBlocker | undefined {
  if (limits === undefined) return undefined;
  const inZone = countedNodes.filter(({ labels }) => labels[ZONE_LABEL] === zone);
  const unhealthy = inZone.filter(isUnhealthy).length;
  if (!isOutage(limits, unhealthy, inZone.length)) return undefined;
  const message = `${unhealthy} of ${inZone.length} nodes of zone ${zone} are unhealthy, repair.zoneOutage holds repairs there`;
  const setting = { field: 'spec.repair.zoneOutage', numbers: { zone, unhealthy, of: inZone.length } };
  return outageBlocker({ reason: 'ZoneOutage', message, setting, guard: `zone/${zone}` }, limits, now);
}

/** The blocker of an outage, with the least number and share of nodes that make one. */
const outageBlocker = (
  { message, setting, ...outage }: Pick<GuardBlocker, 'reason' | 'message' | 'setting' | 'guard'>,
  { minNodes, share }: OutageRule,
  now: EpochMs,
): GuardBlocker => ({
  kind: 'guard',
  ...outage,
  message: `${message} from ${minNodes} nodes and ${share}% on`,
  setting: { ...setting, numbers: { ...setting.numbers, minNodes, share } },
  until: addDuration(now, OUTAGE_CHECK),
});

function thresholdBlocker(
  { settings, area, now }: GuardInputs,
  repairableNodes: readonly NodeView[],
  isUnhealthy: (node: NodeView) => boolean,
): GuardBlocker | undefined {
  const unhealthy = repairableNodes.filter(isUnhealthy).length;
  const total = repairableNodes.length;
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

/** A node that EC2 is to confirm. */
export interface NodeToConfirm {
  readonly node: NodeView;
  readonly check: Confirmation;
}

/**
 * Nodes that EC2 is asked about: those that freeze, zone and threshold let through, so that nothing is asked in an
 * outage.
 */
export function nodesToConfirm(
  { presentNodes }: JudgedPool,
  guardInputs: GuardInputs | undefined,
): readonly NodeToConfirm[] {
  const asking = presentNodes.flatMap((finding): NodeToConfirm[] => {
    const check = dueOf(finding)?.entryPolicy.confirm;
    return check === undefined ? [] : [{ node: finding.node, check }];
  });
  if (guardInputs === undefined || asking.length === 0) return [];
  const guards = createGuards(guardInputs);
  return asking.filter(({ node }) => guards.blockerOf(node) === undefined);
}

/** Stops the repair of a node that EC2 does not call impaired; undefined: EC2 does, or the entry does not ask (`confirm`). */
export function confirmationBlocker(
  { entryPolicy: { confirm }, dueCondition: { field = '' } }: OwnDueVerdict,
  answer: string | undefined,
  now: EpochMs,
): Blocker | undefined {
  if (confirm === undefined || answer === CONFIRMED) return undefined;
  const says = answer ?? 'nothing';
  return {
    kind: 'entry',
    reason: 'NotConfirmed',
    message: `EC2 says ${says} of ${confirm}, and confirm waits for ${CONFIRMED}`,
    setting: { field: `${field}.confirm`, numbers: { check: confirm, says } },
    until: addDuration(now, CONFIRM_CHECK),
  };
}

/**
 * Blocks a node while it cannot be read whether another controller is at work on it (I6); undefined: it can be read. No
 * event tells that it can be read again.
 */
export function otherWorkBlocker(fault: string | undefined, now: EpochMs): Blocker | undefined {
  if (fault === undefined) return undefined;
  const message = `who else is at work on it is not known: ${fault}`;
  return { kind: 'others', reason: 'BeingDisrupted', message, until: addDuration(now, CONFIRM_CHECK) };
}
