/**
 * Judges a node by itself (docs/node-repair.md; I3, I6): by its conditions, its NodeClaim and the settings. An unhealthy
 * condition is tolerated until it has lasted for its toleration. From then on the node is due, unless its NodeClaim is
 * not certain, somebody vetoes, or another controller is at work on it. Pure.
 */
import { type Finding, findingOf } from './finding.ts';
import { cumulativeDueTime } from './flapping.ts';
import { isRecordNeeded, readableSettings } from './incident.ts';
import { ladderOf, possibleActions } from './ladder.ts';
import { judgeDue } from './next-action.ts';
import {
  clockSkewsOf,
  type JudgedNode,
  type OnsetContext,
  unhealthyConditions,
  type UnhealthyCondition,
} from './onset.ts';
import { isStopped, otherWorkOn } from './other-work.ts';
import type { NodeFacts } from './pool-facts.ts';
import { isMarked } from './reboot-marks.ts';
import type { RepairInForce } from './settings-in-force.ts';
import { BLOCKED_CHECK, type EntryPolicy, type OwnVerdict } from './verdict.ts';
import { vetoOf } from './vetoes.ts';
import type { Attempt, DueCondition } from '../attempt-record.ts';
import type { Episode } from '../node-record.ts';
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import { endsBy, NODE_POOL_LABEL, type NodeClaimView } from '../../../shared/domain/node-claim.ts';
import type { Owner } from '../../../shared/domain/node-owner.ts';
import { isReserved, type NodeView } from '../../../shared/domain/node.ts';
import {
  AWS_REPAIR_CONDITIONS,
  matchRepairConditions,
  type RepairCondition,
  termsOf,
} from '../../../shared/domain/repair-policy.ts';
import {
  addDuration,
  earliest,
  type EpochMs,
  isDue,
  latest,
  minutes,
  toTimestamp,
} from '../../../shared/domain/time.ts';

/** A node that cannot be judged is looked at this often; a fix usually comes as an event. */
const FAULT_CHECK = minutes(60);

/** A node on which another controller is at work is looked at this often: no event tells that the work has ended. */
const OTHERS_CHECK = minutes(1);

/** A pass that sees a condition before its event waits this long for it. The event shows whether the time can be right. */
const HEARD_WITHIN = minutes(1);

/** Health of a node. @property unhealthy every repair condition that is true of it, with its onset */
export type Health = { readonly unhealthy: readonly UnhealthyCondition[] } & (
  | { readonly kind: 'healthy' }
  | { readonly kind: 'noTransitionTime'; readonly message: string }
  | {
      readonly kind: 'unhealthy';
      readonly dueCondition: DueCondition;
      /** A message with the condition and its due time. */
      readonly message: string;
      /** The repair condition that decides. */
      readonly entry: UnhealthyCondition;
      /** Time since which any of the repair conditions has been due. */
      readonly dueSince: EpochMs;
    }
);

export interface HealthContext extends OnsetContext {
  readonly repair: Pick<RepairInForce, 'settings'>;
  /** Earlier times in which the node was unhealthy; read only with `flapping`. */
  readonly episodes: readonly Episode[];
}

/**
 * Judges the health of the node by the entry that decides; without settings that can be read no node is unhealthy. Each
 * repair condition that is true has an onset: the transition time of the condition, but no time before the Node was created,
 * and the first look if the time cannot be right. The record keeps the onset, since an agent may write a new time with
 * each report.
 */
export function judgeHealth(node: JudgedNode, context: HealthContext): Health {
  const settings = readableSettings(context.repair);
  if (settings === undefined) return { kind: 'healthy', unhealthy: [] };
  const unhealthy = unhealthyConditions(node, settings, context);
  const [some] = unhealthy;
  if (some === undefined) return { kind: 'healthy', unhealthy };
  const timed = unhealthy.flatMap(dueTimesOf).toSorted((a, b) => a.dueTime - b.dueTime);
  const [soonest] = timed;
  const deciding = decidingOf(timed, context.now);
  if (deciding === undefined || soonest === undefined) {
    const { type, status } = some.condition;
    const message = `${type}=${status} has no lastTransitionTime that can be read: how long it lasts is not known`;
    return { kind: 'noTransitionTime', unhealthy, message };
  }
  const { entry, start, dueTime } = deciding;
  const since = timed.map(each => each.start).reduce((least, time) => earliest(least, time));
  const { flapping } = settings;
  const flappingTime = flapping && cumulativeDueTime(since, context.episodes, flapping);
  const isFlapping = flappingTime !== undefined && flappingTime < dueTime;
  const { repairCondition, condition } = entry;
  const field = isFlapping ? 'spec.repair.flapping' : repairCondition.field;
  const dueCondition: DueCondition = {
    conditionType: condition.type,
    conditionStatus: condition.status,
    lastTransitionTime: start,
    dueTime: isFlapping ? flappingTime : dueTime,
    ...(field !== undefined && { field }),
    ...(repairCondition.priority !== undefined &&
      repairCondition.priority > 0 && { priority: repairCondition.priority }),
  };
  const why =
    isFlapping && flapping !== undefined
      ? `unhealthy for ${formatDuration(flapping.unhealthyFor)} in all within ${formatDuration(flapping.window)}`
      : `tolerated ${formatDuration(repairCondition.toleration)}`;
  const message = `${condition.type}=${condition.status} since ${toTimestamp(start)}, ${why}${dueClause(dueCondition)}`;
  const dueSince = earliest(soonest.dueTime, isFlapping ? flappingTime : undefined);
  return { kind: 'unhealthy', unhealthy, dueCondition, message, entry, dueSince };
}

/** A repair condition with its onset, and when it is due. */
interface Timed {
  readonly entry: UnhealthyCondition;
  readonly start: EpochMs;
  readonly dueTime: EpochMs;
}

function dueTimesOf(entry: UnhealthyCondition): readonly Timed[] {
  const { repairCondition, onset } = entry;
  if (onset === undefined) return [];
  const { start, seenTime } = onset;
  const tolerated = addDuration(start, repairCondition.toleration);
  const dueTime = seenTime === undefined ? tolerated : latest(tolerated, addDuration(seenTime, HEARD_WITHIN));
  return [{ entry, start, dueTime }];
}

const priorityOf = ({ entry: { repairCondition } }: Timed): number => repairCondition.priority ?? 0;

/**
 * The repair condition that decides: among those that are due the one with the highest priority, then the one that is due
 * first, then the first listed. If none is due, the one that is due first.
 * @param timed those with an onset, in the order in which they are due
 */
function decidingOf(timed: readonly Timed[], now: EpochMs): Timed | undefined {
  const due = timed.filter(({ dueTime }) => isDue(now, dueTime));
  return due.toSorted((a, b) => priorityOf(b) - priorityOf(a))[0] ?? timed[0];
}

/** The end of a message about a condition: when the repair is due. */
const dueClause = ({ dueTime }: Pick<DueCondition, 'dueTime'>): string => `, repair is due at ${toTimestamp(dueTime)}`;

/** The message without that end, for a caller that shows the time by itself. */
export const withoutDueClause = (message: string, dueCondition: DueCondition): string =>
  message.replace(dueClause(dueCondition), '');

/** Facts by which `decideNode` decides on one node. */
export interface NodeObservation {
  readonly now: EpochMs;
  readonly node: NodeView;
  readonly owner: Owner;
  readonly repair: RepairInForce;
  readonly health: Health;
  /** A request for the node in another system. */
  readonly externalRequest?: string | undefined;
}

/** Decides on one node by its conditions, its NodeClaim and the repair in force for its pool. Pure, total. */
export function decideNode({ now, node, owner, repair, health, externalRequest }: NodeObservation): OwnVerdict {
  const { gateOpen, settings } = repair;
  if (!gateOpen) return { kind: 'ignore', reason: 'GateOff', message: 'featureGates.nodeRepair is off' };
  if (settings === undefined) {
    return { kind: 'ignore', reason: 'NotConfigured', message: 'no repair block applies to the pool of this node' };
  }
  if ('invalid' in settings) return { kind: 'refuse', message: settings.invalid };

  if (isReserved(node)) {
    const message = 'the node is the replacement of another one, and not in use yet';
    return { kind: 'ignore', reason: 'NotInUse', message };
  }
  if (health.kind === 'healthy') {
    return { kind: 'ignore', reason: 'Healthy', message: 'no condition of the node counts as unhealthy' };
  }
  if (health.kind === 'noTransitionTime') {
    return { kind: 'ignore', reason: 'NoTransitionTime', message: health.message };
  }
  const { message, unhealthy, dueCondition, entry, dueSince } = health;
  if (!isDue(now, dueCondition.dueTime))
    return { kind: 'tolerate', dueCondition, clockSkews: clockSkewsOf(unhealthy), message };
  const isOurs = owner.kind === 'none' && settings.nodesWithoutNodeClaim === 'TerminateInAutoScalingGroup';
  if (owner.kind === 'none' && !(isOurs && isUnmanaged(node))) {
    return { kind: 'unclaimed', dueCondition, message: owner.message };
  }
  if (owner.kind === 'ambiguous') {
    return { kind: 'blockedByNode', reason: 'AmbiguousNodeClaim', dueCondition, message: owner.message };
  }
  const claim = owner.kind === 'claim' ? owner.claim : undefined;
  if (claim !== undefined && isTerminatingForcefully(claim, now)) {
    return { kind: 'finishing', dueCondition, message: `NodeClaim ${claim.name} is being terminated` };
  }
  if (isStopped(node)) {
    return {
      kind: 'ignore',
      reason: 'InstanceStopped',
      message: `${message}; its instance is stopped, as somebody wants it`,
    };
  }
  const veto = vetoOf(node, claim, repair.poolVeto, now);
  if (veto !== undefined) return { kind: 'vetoed', dueCondition, veto, message: `${message}; ${veto.message}` };
  const other = otherWorkOn(node, claim, externalRequest, now);
  if (other !== undefined) {
    const why = `${message}; somebody else is at work on the node: ${other.what}`;
    return { kind: 'blockedByNode', reason: 'BeingDisrupted', dueCondition, message: why };
  }
  const { priority = 0, toleration } = entry.repairCondition;
  const entryPolicy: EntryPolicy = { priority, toleration, ...termsOf(settings, entry) };
  const ladder = possibleActions(ladderOf(entryPolicy, claim?.terminationGracePeriod), claim);
  return { kind: 'due', dueCondition, claim, severity: unhealthy.length, entryPolicy, ladder, dueSince, message };
}

/**
 * Whether Karpenter has nothing to do with this instance. A node of Karpenter's may only be waiting for its NodeClaim.
 */
function isUnmanaged({ providerID, labels, ownerClaim }: NodeView): boolean {
  return providerID !== undefined && labels[NODE_POOL_LABEL] === undefined && ownerClaim === undefined;
}

/** Whether the NodeClaim is being deleted and its deadline has passed. */
function isTerminatingForcefully(claim: NodeClaimView, now: EpochMs): boolean {
  return claim.deletionTime !== undefined && endsBy(claim, now);
}

/**
 * Judges a node at which nothing is under way, by its own state and by the ladder.
 * @param unfinished an attempt that another run did not carry out
 */
export function judgeByLadder(facts: NodeFacts, unfinished?: Attempt): Finding {
  const { own, node, record } = facts;
  const { now } = facts.context;
  switch (own.kind) {
    case 'ignore':
    case 'refuse':
      return judgeNotDue(facts, own);
    case 'tolerate':
      return findingOf(record, { ...own, node }, own.dueCondition.dueTime);
    case 'unclaimed':
    case 'blockedByNode':
    case 'vetoed':
    case 'finishing': {
      const isUnderOtherWork = own.kind === 'blockedByNode' && own.reason === 'BeingDisrupted';
      const check = addDuration(now, isUnderOtherWork ? OTHERS_CHECK : BLOCKED_CHECK);
      const ends = own.kind === 'vetoed' ? own.veto.until : undefined;
      return findingOf(record, { ...own, node }, earliest(ends, check));
    }
    case 'due':
      return judgeDue(facts, own, unfinished);
  }
}

/** Judges a healthy node, or one that cannot be judged. */
function judgeNotDue(
  { node, record, context: { now, repair }, isUnhealthy, wasUnhealthy, isOn }: NodeFacts,
  own: Extract<OwnVerdict, { kind: 'ignore' | 'refuse' }>,
): Finding {
  const verdict = { ...own, node };
  const { leftovers } = record;
  if (own.kind === 'refuse' || own.reason === 'NoTransitionTime') {
    // While repair is off, what an attempt has set is taken back at once.
    const hasUselessLeftovers = !isOn && (leftovers?.annotation !== undefined || leftovers?.drain !== undefined);
    return findingOf(record, verdict, addDuration(now, FAULT_CHECK), { hasUselessLeftovers });
  }
  const more = { hasUselessLeftovers: leftovers !== undefined };
  const isUnhealthyByDefault = isUnhealthy || matchRepairConditions(node, AWS_REPAIR_CONDITIONS).length > 0;
  const check = own.reason === 'InstanceStopped' ? addDuration(now, BLOCKED_CHECK) : undefined;
  if (own.reason !== 'Healthy' && isUnhealthyByDefault) return findingOf(record, verdict, check, more);
  const window = readableSettings(repair)?.flapping?.window;
  const last = record.episodes.at(-1)?.endTime;
  const time = window !== undefined && last !== undefined ? addDuration(last, window) : undefined;
  const kept = isRecordNeeded(record, { kind: 'healthy', now }) ? record : undefined;
  return findingOf(kept, wasUnhealthy ? verdict : undefined, time, more);
}

/**
 * Whether a repair condition calls the node unhealthy: one of the provider, or one of these. A node that carries marks of a
 * repair counts, too: it has a record, or the table has lost it.
 */
export const mayNeedRepair = (node: NodeView, repairConditions: readonly RepairCondition[]): boolean =>
  matchRepairConditions(node, AWS_REPAIR_CONDITIONS).length > 0 ||
  matchRepairConditions(node, repairConditions).length > 0 ||
  isMarked(node);
