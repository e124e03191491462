/**
 * The rule of drains (docs/drain.md): it decides about requests, the drain under way, and the memory of earlier ones. Pure: no I/O, no clock.
 *
 * One drain at a time per node. A request of the same or a narrower scope joins it and ends with it; a wider one follows it, or widens it.
 *
 * | question | function | in | asked by |
 * |---|---|---|---|
 * | what comes next on the node | `decide` | `decide.ts` | `reconcile.ts` |
 * | which pods are the drain's own | `podCriteriaOf`, `podDrainability` | `rule/pod-plan.ts`, `rule/pods.ts` | `custom-request.ts` |
 * | what follows a custom resource that cannot be made | `fail` | `rule/custom-drain.ts` | `custom-request.ts` |
 * | what is done at the end of a drain, and remembered of it | `endPlanOf`, `endOf` | `rule/ending.ts`, `rule/history.ts` | `drain-end.ts` |
 * | which custom resource the drain has | `recordedResource` | `rule/phase.ts` | `custom-resource.ts`, `drain-end.ts`, `report.ts` |
 * | whose turn it is | `goesBefore`, `mustWait`, `sortByAge`, `nextDrains`, `skipsItsTurn` | `rule/queue.ts` | `observe.ts`, `wake-ups.ts` |
 * | what a request asks for | `remainingRequests`, `goesForAllPods`, `requestOnNode`, `requestedId`, `firstRequestTimeOf` | `rule/phase.ts`, `rule/node-annotations.ts` | `drained-node.ts`, `node.ts`, `observe.ts` |
 * | what is broken | `faultOf` | `rule/faults.ts` | `drained-node.ts` |
 * | what the record keeps of it all, to fit | `fittingJson` | `rule/record-size.ts` | `record.ts` |
 */
import { qualifiedName } from '../../shared/domain/kubernetes-object.ts';
import { earliest, isDue, toEpochMs, type EpochMs } from '../../shared/domain/time.ts';
import { answerOrTake, beginNext } from './rule/take-request.ts';
import {
  cancellationOf,
  isCordonKnown,
  earlyEndOf,
  narrowed,
  quarantineEndOf,
  UNCORDONED,
  waitingEndOf,
  withLateEnds,
  withShownQuarantineEnd,
  withoutWaiting,
} from './rule/cancellation.ts';
import { decideCustomDrain } from './rule/custom-drain.ts';
import type { Cancellation, DrainDecision } from './rule/decision.ts';
import { endPlanOf } from './rule/ending.ts';
import {
  forget,
  hasEmptiedNode,
  hasNoEndKeepingCordon,
  withoutEndsKeepingCordon,
  withUncordonedMark,
} from './rule/history.ts';
import { FLAPPING, readyToBegin, readyToGoOn } from './rule/pauses.ts';
import { rememberEnds, withEnds, withDeferredRecovery, withDueRecovery } from './rule/late-events.ts';
import { cordonFor, hasStaleCordonMark, isPrepared, uncordonedMarkOf } from './rule/node-annotations.ts';
import type {
  EndMessage,
  Observation,
  DrainObservation,
  ReadyObservation,
  RequestMessage,
} from './rule/observation.ts';
import { isCustomDrain, isEnding, isLeftToCustomResource, isRequest } from './rule/phase.ts';
import { planPods, podCriteriaOf, type PodPlan } from './rule/pod-plan.ts';
import {
  deadlineOf,
  deleteTimeOf,
  forcedEndTime,
  laterDeletion,
  nextByDeadline,
  pastDeadline,
  stuckReportTime,
  withProgress,
  withoutPause,
  withCounts,
} from './rule/progress.ts';
import { decideQueued } from './rule/queue.ts';
import type { ActiveDrain } from './record.ts';
import type { DrainOutcome, FinishedDrain } from './request-record.ts';

/** Decides one thing at a time: the caller carries it out, looks again and asks again. */
export function decide(observed: Observation): DrainDecision {
  // A deferred recovery that is due counts as the message in hand, of which the others tell.
  const withMessage = withShownQuarantineEnd(withDueRecovery(observed));
  // Recoveries are kept for ends that keep the node cordoned: which do is known first.
  const withUncordon = noteUncordon(withMessage);
  const withNewEnds = withEnds(withUncordon);
  // By all recoveries, that of the message included.
  const observation = withLateEnds(withNewEnds);
  const { record } = observation;
  const calledOff = calledOffByUncordon(observed, observation);
  if (calledOff !== undefined) return { kind: 'cancel', ...calledOff };
  const decision = decideMessage(observation);
  if (decision !== undefined) return decision;
  const { active } = record;
  const isIdle = active === undefined && record.requests.length === 0;
  const isNew = record.uncordonedMark !== observed.record.uncordonedMark && record.uncordonedMark !== undefined;
  if (record !== observed.record && (!isIdle || isNew)) return { kind: 'note', record };
  if (observation.kind === 'idle' || isIdle) return decideIdle(observation);
  if (active !== undefined) return decideActive(observation, withCounts(active, observation.pods));
  const ready = readyToBegin(observation);
  return ready.kind === 'pause' ? ready : beginAndPrepare(ready);
}

/** The decision about the message in hand; undefined: there is none, or it means nothing here. */
function decideMessage(observation: Observation): DrainDecision | undefined {
  const { incoming } = observation;
  if (incoming === undefined) return undefined;
  if (!isRequest(incoming)) return decideEnd(observation, incoming);
  return observation.kind === 'drain' ? decideRequest(observation, incoming) : undefined;
}

function decideActive(observation: DrainObservation, active: ActiveDrain): DrainDecision {
  const { now, node, record } = observation;
  const { phase } = active;
  if (phase.kind === 'ending') {
    const calledOff = waitingEndOf(observation, active, phase);
    if (calledOff !== undefined) return { kind: 'cancel', ...calledOff };
    return { kind: 'close', active, ending: phase, plan: endPlanOf(observation, active, phase) };
  }
  const released = quarantineEndOf(observation, active);
  if (released !== undefined) return { kind: 'cancel', ...released };
  const ended = earlyEndOf(active, node);
  if (ended !== undefined)
    return finishBy(ended.reason === UNCORDONED ? withWaitingRequests(active, observation) : active, ended);
  const ready = readyToGoOn(observation, active);
  if (ready.kind === 'pause') return ready;
  if (record.pausedSince !== undefined) return { kind: 'note', record: withoutPause(record, now) };
  const { configuration } = ready;
  const drain = narrowed(active, configuration);
  switch (phase.kind) {
    case 'waiting':
      return decideQueued(ready, drain, phase);
    case 'custom':
      if (configuration.settings.customDrain === undefined)
        return { kind: 'fallBack', active: drain, because: NO_CUSTOM_DRAIN };
      return decideBegun(ready, drain);
    case 'draining':
    case 'fallback':
      return decideBegun(ready, drain);
  }
}

/** The next step of a drain that does not wait: its node is prepared, then its pods go, or the custom resource is waited for. */
function decideBegun(observation: ReadyObservation, before: ActiveDrain): DrainDecision {
  const { now, node, configuration, inForce } = observation;
  const { limits } = inForce;
  const isOfCustom = isCustomDrain(before, configuration, node);
  const isLeftToResource = isLeftToCustomResource(before, configuration, node);
  const { active, plan: planned } = withPlan(observation, before, isOfCustom);
  const plan = planned.isDrained ? withoutWarnings(planned) : planned;
  const showDraining = isLeftToResource || !plan.isDrained;
  if (!isPrepared(observation, active, showDraining)) {
    const cordon = cordonFor(active, node);
    return { kind: 'prepare', active, cordon, showDraining, plan: isLeftToResource ? undefined : plan };
  }
  const isStuck = (drain: ActiveDrain): boolean => isDue(now, stuckReportTime(drain, limits) ?? NEVER);
  const next = nextByDeadline(active, limits, now);
  const over = pastDeadline(active, { limits, now, isCustom: isOfCustom }, plan);
  if (isLeftToResource) {
    const decision = decideCustomDrain({
      now,
      active,
      settings: configuration.settings,
      resource: observation.resource,
      unmade: observation.record.refusals?.['createResource']?.message,
      plan,
    });
    if (decision.kind === 'finish') return decision;
    if (over !== undefined) return finishBy(active, over);
    if (decision.kind !== 'awaitResource') return decision;
    return { ...decision, isStuck: isStuck(decision.active), until: earliest(decision.until, next) };
  }
  if (plan.isDrained) return finishBy(active, successOf(active, plan), plan);
  if (over === undefined) return { kind: 'drain', active, plan, isStuck: isStuck(active), until: next };
  return finishBy(
    active,
    over,
    forcedEndTime(active, limits, isOfCustom) === undefined ? undefined : lastDeletions(plan),
  );
}

/** A drain that ends deletes nothing later, so nobody is warned. */
const withoutWarnings = (plan: PodPlan): PodPlan => ({
  ...plan,
  acts: plan.acts.filter(({ kind }) => kind !== 'warn'),
});

/** The deletions that a forced deadline requires: they are made with its end if no earlier run made them. */
function lastDeletions(plan: PodPlan): PodPlan {
  return { ...plan, acts: plan.acts.filter(({ kind }) => kind === 'delete') };
}

/** The plan for the pods of the node now, and the drain with its changes for the record. */
function withPlan(
  { now, node, pods, configuration, inForce }: ReadyObservation,
  before: ActiveDrain,
  isCustom: boolean,
): { readonly active: ActiveDrain; readonly plan: PodPlan } {
  const { protection, isProtectionOverridden, limits } = inForce;
  const { deleteAfterTimeout, evictionGracePeriod } = configuration.settings;
  const forced = forcedEndTime(before, limits, isCustom);
  const planned = (deleteTime: EpochMs) => {
    const active = withDeleteTime(before, earliest(deleteTime, forced));
    const plan = planPods({
      now,
      pods,
      criteria: podCriteriaOf(active, configuration, node),
      protection,
      isProtectionOverridden,
      evictionGracePeriod,
      deleteTime,
      warnedUids: active.warned,
      active,
      forcedEndTime: forced,
      deadline: deadlineOf(before, limits),
    });
    return { active: withProgress(active, plan, now), plan };
  };
  const atOnce = planned(deleteTimeOf(before, deleteAfterTimeout, now));
  const later = laterDeletion(atOnce.plan, before, deleteAfterTimeout, now);
  return later === undefined ? atOnce : planned(later);
}

/** Adds the requests that wait: uncordoning takes them back, too, for they would cordon the node again at once. */
const withWaitingRequests = (active: ActiveDrain, { record }: DrainObservation): ActiveDrain => ({
  ...active,
  requests: [...active.requests, ...record.requests],
});

/** The outcome where the custom drain is no longer configured. The custom resource goes first: two never drain one node at the same time. */
const NO_CUSTOM_DRAIN: DrainOutcome = {
  status: 'Failed',
  reason: 'ConfigurationChanged',
  message: 'the configuration has no custom drain any more',
  left: [],
};

const NEVER = toEpochMs(Number.MAX_SAFE_INTEGER);

/** Sets the time of deletions. If it has come nearer, owners are warned again. */
function withDeleteTime(active: ActiveDrain, deleteTime: EpochMs): ActiveDrain {
  const isSooner = active.deleteTime !== undefined && deleteTime < active.deleteTime;
  return { ...active, deleteTime, ...(isSooner && { warned: [] }) };
}

/** Decides about a request; a drain that nothing blocks begins in the same write. */
function decideRequest(observation: DrainObservation, incoming: RequestMessage): DrainDecision | undefined {
  const decision = answerOrTake(observation, incoming);
  if (decision?.kind !== 'take' || decision.position !== 'next') return decision;
  const ready = readyToBegin({ ...observation, record: decision.record });
  if (ready.kind === 'pause') return decision;
  const begun = beginAndPrepare(ready);
  return begun.kind === 'begin' ? { ...begun, takenRequest: decision.request } : decision;
}

/** Begins the next drain and prepares its node by the same look: the writes, and the preconditions of each, find out what changes in between. */
function beginAndPrepare(observation: ReadyObservation): DrainDecision {
  const begun = beginNext(observation);
  if (begun.kind !== 'begin') return begun;
  const decision = decideActive({ ...observation, record: begun.record }, begun.active);
  return { ...begun, takenRequest: undefined, next: decision.kind === 'prepare' ? decision : undefined };
}

function decideNothingUnderWay({ now, node, record }: Observation): DrainDecision {
  const { record: kept, until } = forget(withoutPause(record, now), node, now);
  return { kind: 'idle', ...rememberEnds(kept, until, now) };
}

function decideIdle(observation: Observation): DrainDecision {
  const { node } = observation;
  if (node.isWatched || node.underWay !== undefined) return toTidy(observation);
  // Nothing keeps it, and the change that opens it was refused.
  const isCordonLeftOver = node.unschedulable && node.quarantine === undefined;
  if (isCordonLeftOver && mayUncordon(observation)) return { kind: 'tidy', status: 'Cancelled', uncordon: true };
  if (node.shownDrain === 'inProgress' || (node.shownDrain === 'drained' && !node.unschedulable))
    return correctedConditions(observation);
  if (hasStaleCordonMark(node)) return { kind: 'disownCordon' };
  return observation.record.leftResources === undefined ? decideNothingUnderWay(observation) : { kind: 'deleteLeft' };
}

/**
 * Notes that somebody has uncordoned the node, before anything of it is changed: a change may be refused until there is another cordon, which is
 * about something else (I7). Ended drains are over then. A drain that has cordoned the node ends for it, and is recorded as ending first.
 */
function noteUncordon<Seen extends Observation>(observed: Seen): Seen {
  const { node, record } = observed;
  const isOpened = !node.unschedulable && (record.active?.cordon === undefined || isEnding(record.active));
  const noted = withUncordonedMark(record, isOpened ? uncordonedMarkOf(node) : node.uncordonedMark);
  const endsNone = !isOpened || record.active?.cordon !== undefined || hasNoEndKeepingCordon(record);
  const next = endsNone ? noted : withoutEndsKeepingCordon(noted);
  return next === record ? observed : { ...observed, record: next };
}

/** Calls the requests that wait off, if this look is the first one after somebody has uncordoned the node of an ended drain. */
function calledOffByUncordon(observed: Observation, { now, node, record }: Observation): Cancellation | undefined {
  const isNew = record.uncordonedMark !== undefined && record.uncordonedMark !== observed.record.uncordonedMark;
  if (!isNew || record.active !== undefined || record.requests.length === 0) return undefined;
  return withoutWaiting({ now, node, record }, { by: 'own' });
}

function toTidy(observation: Observation): DrainDecision {
  const status = lastEnd(observation)?.status ?? 'Cancelled';
  return { kind: 'tidy', status, uncordon: mayUncordon(observation) };
}

const lastEnd = ({ record }: Pick<Observation, 'record'>): FinishedDrain | undefined =>
  record.finished.findLast(({ status }) => status !== 'AlreadyDrained');

/** A run that was overtaken shows a drain under way on a node that another run has drained. */
function correctedConditions(observation: Observation): DrainDecision {
  const last = lastEnd(observation);
  const isDrained = observation.node.unschedulable && last !== undefined && hasEmptiedNode(last);
  return {
    kind: 'correctConditions',
    shown: isDrained ? 'drained' : 'nothing',
    message: isDrained ? last.message : '',
  };
}

/** Whether the node is to be uncordoned: the cordon is ours, and no ended drain keeps it. */
const mayUncordon = ({ node, record }: Pick<Observation, 'node' | 'record'>): boolean =>
  isCordonKnown(record, node) && hasNoEndKeepingCordon(record);

/** The decision about a message that ends something; undefined: it means nothing here. */
function decideEnd(observation: Observation, incoming: EndMessage): DrainDecision | undefined {
  const cancelled = cancellationOf(observation, incoming);
  const { record, now } = observation;
  const deferred = cancelled && incoming.kind === 'recovered' ? withDeferredRecovery(record, incoming, now) : undefined;
  if (deferred !== undefined && deferred !== record)
    return { kind: 'deferRecovery', record: deferred, message: FLAPPING };
  if (cancelled !== undefined && deferred === undefined) return { kind: 'cancel', ...cancelled };
  const { drainRequest } = incoming.kind === 'recovered' ? incoming : {};
  if (drainRequest === undefined || observation.kind === 'idle') return undefined;
  return decideRequest(observation, { kind: 'healthEvent', request: drainRequest, receivedTime: undefined });
}

function finishBy(active: ActiveDrain, outcome: DrainOutcome, plan?: PodPlan): DrainDecision {
  return { kind: 'finish', active, outcome, plan };
}

function successOf({ drained }: ActiveDrain, { leftPods }: PodPlan): DrainOutcome {
  const names = leftPods.map(({ pod, because }) => `${qualifiedName(pod)} (${because})`);
  const message = `${drained} pod${drained === 1 ? ' was' : 's were'} drained`;
  if (names.length === 0) return { status: 'Succeeded', reason: 'Drained', message, left: [] };
  return {
    status: 'Succeeded',
    reason: 'DrainedWithPodsLeft',
    message: `${message}; ${names.length} did not go and ${names.length === 1 ? 'was' : 'were'} not waited for`,
    left: names,
  };
}
