/**
 * Freeze, zone outage and threshold, which block a due repair (docs/node-repair.md, Guards). They are counted once
 * more with nodes that recovered minutes ago, so that an outage which ends node by node still blocks. Pure.
 */
import type { DueFinding } from '../node/rule/finding.ts';
import { countsInOutage, countsInThreshold, type GuardInputs } from './guard-inputs.ts';
import { notBlockedByRecovering } from '../node/rule/incident.ts';
import { BLOCKED_CHECK, type Blocker, type GuardBlocker } from '../node/rule/verdict.ts';
import type { Incident } from '../node/record.ts';
import { type NodeView, ZONE_LABEL } from '../../../shared/domain/node.ts';
import {
  isNever,
  isOutage,
  matchRepairConditions,
  type OutageThreshold,
  type RepairCondition,
  type RepairSettings,
  resolveNodeCount,
} from '../../../shared/domain/repair-policy.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  isDue,
  latest,
  minutes,
  toDurationMs,
  toEpochMs,
} from '../../../shared/domain/time.ts';

/**
 * A node that is blocked by freeze or zone is looked at this often: nodes of other pools count, too, and their changes ask
 * for no pass of this pool.
 */
const OUTAGE_CHECK = minutes(1);

/** A node that was old enough when it came back counts as coming back for no longer than this. */
const LONGEST_RECOVERING = minutes(5);

/** A node younger than this when it becomes healthy does not count as coming back: it is new. */
const OLD_ENOUGH = minutes(10);

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
  const { now, nodes = [], repairConditionsOf: repairConditionsFor } = inputs;
  const matchesOf = oncePerKey((node: NodeView) => matchRepairConditions(node, repairConditionsFor(node)));
  const isUnhealthy = (node: NodeView): boolean => matchesOf(node).length > 0;
  const isReadyUnknown = (node: NodeView): boolean =>
    matchesOf(node).some(({ repairCondition }) => isOfFreeze(repairCondition));
  const countedNodes = nodes.filter(node => countsInOutage(node, inputs.knownOf(node), now));
  const repairableNodes = inputs.thresholdNodes.filter(node => countsInThreshold(node, inputs.knownOf(node), now));
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
    const firstReturn = Math.min(...[...recovered.values()].map(each => each.returnTime));
    const blockerWithRecovered = blockersOf(inputs, nodesToCount, {
      isReadyUnknown: each => isReadyUnknown(each) || recovered.get(each)?.returned.some(isOfFreeze) === true,
      isUnhealthy: each => isUnhealthy(each) || recovered.has(each),
    });
    return node => {
      const blocker = recovered.size === 0 ? undefined : blockerWithRecovered(node);
      return blocker && recoveringBlocker(blocker, window, addDuration(toEpochMs(firstReturn), window));
    };
  }
}

/** Whether so many nodes are unhealthy, or have just come back, that freeze or zone may block. Which of them count is not asked. */
export function mayBeOutage(
  settings: Pick<RepairSettings, 'freeze' | 'zoneOutage'> | undefined,
  nodes: readonly NodeView[],
  inputs: Pick<GuardInputs, 'now' | 'repairConditionsOf'>,
): boolean {
  const least = Math.min(...[settings?.freeze, settings?.zoneOutage].map(each => each?.minNodes ?? Infinity));
  const mayBeSign = (node: NodeView): boolean =>
    matchRepairConditions(node, inputs.repairConditionsOf(node)).length > 0 ||
    returnOf(node, LONGEST_RECOVERING, { ...inputs, isActedUpon: () => false }) !== undefined;
  return nodes.filter(mayBeSign).length >= least;
}

/** The longest time for which nodes that have just recovered block the repair of another node, in one incident. */
const LONGEST_BLOCKED_BY_RECOVERING = minutes(15);

/** Whether nodes that have just come back block this one, and for how long they have done so in this incident. */
export function blockedByRecovering(
  { node, record, verdict: { dueCondition, entryPolicy } }: DueFinding,
  guards: Guards,
  now: EpochMs,
): { readonly incident: Incident; readonly blocker?: Blocker } {
  const incident = record?.incident ?? { type: dueCondition.conditionType, taken: [] };
  const unblocked = notBlockedByRecovering(incident, now);
  const spent = unblocked.recovering?.totalMs ?? 0;
  const blocker =
    spent >= LONGEST_BLOCKED_BY_RECOVERING ? undefined : guards.withRecovering(node, entryPolicy.toleration);
  if (blocker === undefined) return { incident: unblocked };
  const { totalMs = 0, since = now } = incident.recovering ?? {};
  const last = addDuration(now, toDurationMs(LONGEST_BLOCKED_BY_RECOVERING - spent));
  return {
    incident: { ...incident, recovering: { totalMs, since } },
    blocker: { ...blocker, until: earliest(blocker.until, last) },
  };
}

/** Asks once for each key, and gives the same answer again. */
function oncePerKey<Key, Answer>(ask: (key: Key) => Answer): (key: Key) => Answer {
  const answers = new Map<Key, { readonly answer: Answer }>();
  return key => {
    const given = answers.get(key) ?? { answer: ask(key) };
    answers.set(key, given);
    return given.answer;
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

/** Whether the freeze counts nodes of which this repair condition is true. */
const isOfFreeze = ({ type, status }: RepairCondition): boolean => type === 'Ready' && status === 'Unknown';

/**
 * The time at which the node became healthy again, and the repair conditions that may have been true of it before;
 * undefined: it did not lately.
 */
function returnOf(
  node: NodeView,
  window: DurationMs,
  {
    now,
    repairConditionsOf: repairConditionsFor,
    isActedUpon,
  }: Pick<GuardInputs, 'now' | 'repairConditionsOf' | 'isActedUpon'>,
): { readonly returnTime: EpochMs; readonly returned: readonly RepairCondition[] } | undefined {
  // What is tolerated for ever is no illness, and its end no return.
  const counted = repairConditionsFor(node).filter(({ toleration }) => !isNever(toleration));
  const types = new Set(counted.map(({ type }) => type));
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
  const returnTime = returns.map(each => each.time).reduce(latest);
  return { returnTime, returned: counted.filter(({ type }) => returns.some(each => each.type === type)) };
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
  { minNodes, share }: OutageThreshold,
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
