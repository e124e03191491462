/** Cancellation of requests: somebody takes back a request, or its cause is over. Pure; part of `decide`. */
import { isDrainState, STATE_LABEL } from '../../../shared/domain/quarantine.ts';
import { nodeOfRequest } from '../../../shared/domain/source.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import { toFinished } from './take-request.ts';
import type { Cancellation } from './decision.ts';
import { endsSince, faultOf, isBeforeQuarantine, isOfMonitor, isOver, isBefore } from './faults.ts';
import { endOf, endOfUnknown, hasNoEndKeepingCordon, keepsCordon, remember } from './history.ts';
import type { EndMessage, DrainedNode, Observation, DrainObservation, DrainConfiguration } from './observation.ts';
import { uncordonedMarkOf } from './node-annotations.ts';
import { isRequest, endingPhase, isAskedByRepair, isForceful, openRequests } from './phase.ts';
import { covers, FULL, scopeOfAll, type DrainScope } from './pods.ts';
import type { ActiveDrain, Cordon, DrainRecord, EndingPhase } from '../record.ts';
import type { DrainOutcome, DrainRequest, FinishedDrain, Recovery } from '../request-record.ts';

/** Requests and drains that a message ends. */
interface Ended {
  /** Requests that wait. */
  readonly waiting: readonly DrainRequest[];
  /** Requests of the drain under way. */
  readonly running: readonly DrainRequest[];
  /** Drains that are over, whose fault is over now, too. */
  readonly recovered: readonly FinishedDrain[];
}

/** The requests that a message ends, and the record without them; undefined: it ends none. */
export function cancellationOf(observation: Observation, incoming: EndMessage): Cancellation | undefined {
  const { now, record, node } = observation;
  const ended = endedIn(record, incoming);
  const isStale = hasStaleState(record, ended, incoming, node);
  if (ended.waiting.length + ended.running.length + ended.recovered.length === 0 && !isStale)
    return cancelledAhead(incoming, record, node, now);
  const outcome = outcomeOf(incoming);
  const { kept, ending } = withoutEnded(record, ended, outcome, now);
  const answers = answersTo(ending, outcome, now);
  const next = remember(kept, answers, node);
  const releasesNode = isFree(next) && (isStale || isCordonOurs(next, node, incoming));
  const answersMessage = incoming.kind === 'recovered' && incoming.drainRequest !== undefined;
  return { record: next, because: outcome.message, answers, releasesNode, answersMessage };
}

function endedIn(record: DrainRecord, incoming: EndMessage): Ended {
  const { requests, finished, recoveries = [] } = record;
  const isEnded = endedBy(incoming, recoveries);
  const ends = (request: DrainRequest): boolean => isEnded({ ...request, fault: faultOf(request.event) });
  return {
    waiting: requests.filter(ends),
    // One whose answer is already on its way ends as it was decided.
    running: openRequests(record).filter(ends),
    recovered: finished.filter(
      end => !end.recovered && (end.status !== 'Cancelled' || keepsCordon(end)) && isEnded(end),
    ),
  };
}

function outcomeOf(incoming: EndMessage): DrainOutcome {
  const isOwn = incoming.kind === 'cancelled' && isAskedByRepair(incoming);
  return { status: 'Cancelled', ...(isOwn ? BY_REPAIR : REASONS[incoming.kind]), left: [] };
}

/** The record after the end. @returns `ending`: requests that end without a drain of their own */
function withoutEnded(
  record: DrainRecord,
  { waiting, running, recovered }: Ended,
  outcome: DrainOutcome,
  now: EpochMs,
): { readonly kept: DrainRecord; readonly ending: readonly DrainRequest[] } {
  const { active, requests, finished } = record;
  const kept = {
    ...record,
    finished: finished.map(end => (recovered.includes(end) ? { ...end, recovered: true } : end)),
    requests: requests.filter(request => !waiting.includes(request)),
  };
  if (active === undefined) return { kept, ending: [...waiting, ...running] };
  // The drain itself ends, and answers those that it ran for.
  if (running.length > 0 && running.length === active.requests.length)
    return { kept: { ...kept, active: { ...active, phase: endingPhase(active, outcome, now) } }, ending: waiting };
  return {
    kept: { ...kept, active: withoutRequests(active, running) },
    ending: [...waiting, ...running],
  };
}

/**
 * Whether the Node has the state label of a drain that nothing stands behind any more: its quarantine is over, or what its drain was for.
 * Somebody else may have cordoned the node, or opened it. Where our cordon stays, so does the label.
 */
function hasStaleState(
  { finished, recoveries = [] }: DrainRecord,
  { recovered }: Ended,
  incoming: EndMessage,
  node: DrainedNode,
): boolean {
  return (
    isDrainState(node.labels[STATE_LABEL]) &&
    hasNoEndKeepingCordon({ finished: finished.filter(end => !recovered.includes(end)) }) &&
    (incoming.kind === 'unQuarantined' ||
      (node.cordonMark === undefined && finished.some(endedBy(incoming, recoveries))))
  );
}

/** Whether nothing is under way, and no ended drain keeps the node cordoned. */
const isFree = (record: DrainRecord): boolean =>
  record.active === undefined && record.requests.length === 0 && hasNoEndKeepingCordon(record);

const isCordonOurs = (record: DrainRecord, node: DrainedNode, { kind }: EndMessage): boolean =>
  kind === 'unQuarantined' ? node.cordonMark !== undefined : isCordonKnown(record, node);

/**
 * Takes up the end of a quarantine that the Node alone shows: its annotation has gone after the drain, and the message was lost. Until the drain
 * is over the annotation itself counts.
 */
export function withShownQuarantineEnd<Seen extends Observation>(seen: Seen): Seen {
  const { incoming, node, record } = seen;
  const isIdle = record.active === undefined && record.requests.length === 0;
  if (incoming !== undefined || node.quarantine !== undefined || !isIdle) return seen;
  const keepsNode = record.finished.some(end => end.quarantined === true && keepsCordon(end));
  return keepsNode ? { ...seen, incoming: { kind: 'unQuarantined' } } : seen;
}

/** Notes which requests are over while the end of their drain is being reported: otherwise that end keeps the node cordoned. */
export function withLateEnds<Seen extends Observation>(seen: Seen): Seen {
  const { record, incoming } = seen;
  const { active, recoveries = [] } = record;
  if (active?.phase.kind !== 'ending' || incoming === undefined || isRequest(incoming)) return seen;
  const isEnded = endedBy(incoming, recoveries);
  const { phase } = active;
  const { over } = phase;
  const late = active.requests
    .filter(request => !over.includes(request.id) && isEnded({ ...request, fault: faultOf(request.event) }))
    .map(({ id }) => id);
  if (late.length === 0) return seen;
  const next = { ...active, phase: { ...phase, over: [...over, ...late] } };
  return { ...seen, record: { ...record, active: next } };
}

/** Takes requests out of the drain, and with them the force that only they asked for. */
function withoutRequests(active: ActiveDrain, ended: readonly DrainRequest[]): ActiveDrain {
  if (ended.length === 0) return active;
  const requests = active.requests.filter(request => !ended.includes(request));
  return { ...active, requests, force: requests.some(isForceful) };
}

/** The drain without the cordon of a quarantine that has ended with it: the requests that are left need one of their own. */
function withoutQuarantineCordon(active: ActiveDrain, { unschedulable }: DrainedNode): ActiveDrain {
  const { cordon, ...others } = active;
  return cordon?.by === 'other' && !unschedulable ? others : active;
}

/** The drain without the pods that only requests asked for which have ended. */
export function narrowed(active: ActiveDrain, { settings }: DrainConfiguration): ActiveDrain {
  const wanted = scopeOfAll(active.requests, settings.partialDrain);
  return isWanted(wanted) && !covers(wanted, active.scope) && covers(active.scope, wanted)
    ? { ...active, scope: wanted }
    : active;
}

/** Whether the scope names pods. Another configuration may know no entity of the requests that are left: then nothing says what could be left out. */
const isWanted = (scope: DrainScope): boolean => scope.kind === 'full' || scope.entities.length > 0;

/** Answers a request that is taken back before it comes: events overtake each other, and the request finds this answer. */
function cancelledAhead(
  incoming: EndMessage,
  record: DrainRecord,
  node: DrainedNode,
  now: EpochMs,
): Cancellation | undefined {
  const known = [...record.requests, ...(record.active?.requests ?? [])];
  if (incoming.kind !== 'cancelled' || known.some(({ id }) => id === incoming.id)) return undefined;
  if (endOf(record, incoming.id) !== undefined) return undefined;
  const answer: FinishedDrain = {
    ...endOfUnknown({ id: incoming.id, status: 'Cancelled', endTime: now }),
    reason: 'ManuallyReleased',
    message: 'it was taken back before it came',
    recovered: false,
  };
  return {
    record: remember(record, [answer], node),
    because: answer.message,
    answers: [answer],
    releasesNode: false,
    answersMessage: false,
  };
}

/** The reason of an end by a person who opened the node. */
export const UNCORDONED = 'Uncordoned';

/** Ends the requests of monitors when their quarantine is over and others keep the drain going; undefined: there is no such end. */
export function quarantineEndOf(
  { record, node, now }: DrainObservation,
  active: ActiveDrain,
): Cancellation | undefined {
  const ended = active.requests.filter(({ event }) => isOfMonitor(event));
  const outcome = earlyEndOf(active, node);
  if (outcome === undefined || outcome.reason === UNCORDONED || ended.length === active.requests.length)
    return undefined;
  const left = withoutQuarantineCordon(withoutRequests(active, ended), node);
  return endOfSome({ record: { ...record, active: left }, node, now }, ended, outcome);
}

/**
 * Ends the requests that wait, if somebody uncordons the node while the end of the drain before them is carried out; undefined: there is no such
 * end. Such an end leaves the cordon alone, but where the drain was cancelled or its fault is over: only our mark tells then.
 */
export function waitingEndOf(
  { record, node, now }: DrainObservation,
  { id, cordon }: ActiveDrain,
  { outcome, over }: EndingPhase,
): Cancellation | undefined {
  const { requests } = record;
  if (requests.length === 0 || node.unschedulable || cordon === undefined || cordon.by === 'none') return undefined;
  const mayBeOpenedByUs = outcome.status === 'Cancelled' || over.length > 0;
  if (mayBeOpenedByUs && uncordonedMarkOf(node) !== id) return undefined;
  return withoutWaiting({ record, node, now }, cordon);
}

/** Ends all requests that wait, since the node was uncordoned. */
export function withoutWaiting(
  { record, node, now }: Pick<Observation, 'record' | 'node' | 'now'>,
  cordon: Pick<Cordon, 'by'>,
): Cancellation {
  return endOfSome({ record: { ...record, requests: [] }, node, now }, record.requests, uncordonedOutcome(cordon));
}

/** Answers requests for which no drain has ended. */
const answersTo = (requests: readonly DrainRequest[], outcome: DrainOutcome, now: EpochMs): readonly FinishedDrain[] =>
  requests.map(request => toFinished(request, outcome, { now, scope: FULL, drained: 0 }));

/** Ends requests while the node stays as it is. @param record without them */
function endOfSome(
  { record, node, now }: Pick<Observation, 'record' | 'node' | 'now'>,
  ended: readonly DrainRequest[],
  outcome: DrainOutcome,
): Cancellation {
  const answers = answersTo(ended, outcome, now);
  const next = remember(record, answers, node);
  return {
    record: next,
    because: outcome.message,
    answers,
    releasesNode: false,
    answersMessage: false,
  };
}

/** The early end of a drain whose cordon or quarantine was taken back; undefined: it goes on. */
export function earlyEndOf({ id, cordon, requests }: ActiveDrain, node: DrainedNode): DrainOutcome | undefined {
  if (cordon === undefined) return undefined;
  const isForQuarantine = cordon.quarantined && requests.some(({ event }) => isOfMonitor(event));
  if (isForQuarantine && node.quarantine === undefined) {
    if (!node.isReleased) return cancelled('UnQuarantined', 'the quarantine is over');
    return cancelled('ManuallyReleased', 'somebody took the quarantine of the node back');
  }
  if (cordon.by === 'none' || (node.unschedulable && node.uncordonedMark !== id && !isOfOthers(cordon, node)))
    return undefined;
  return uncordonedOutcome(cordon);
}

const cancelled = (reason: string, message: string): DrainOutcome => ({
  status: 'Cancelled',
  reason,
  message,
  left: [],
});

/** A cordon that the drain found may be that of the repair which asked for it. */
const uncordonedOutcome = ({ by }: Pick<Cordon, 'by'>): DrainOutcome =>
  cancelled(UNCORDONED, by === 'own' ? 'somebody uncordoned the node' : 'the node was uncordoned');

/** Whether the cordon is not the one that the drain made: none of its marks is left. The record may be older than the end of the drain. */
const isOfOthers = ({ by }: Cordon, { cordonMark, underWay }: DrainedNode): boolean =>
  by === 'own' && cordonMark === undefined && underWay === undefined;

/** Whether our cordon is that of a drain that is remembered, or of a lost one of repair. Of others nobody can say whether their cause is over (I12). */
export const isCordonKnown = (
  record: DrainRecord,
  { cordonMark, ...node }: Pick<DrainedNode, 'cordonMark' | 'uid' | 'quarantine'>,
): boolean =>
  cordonMark !== undefined &&
  (record.active?.id === cordonMark ||
    record.active?.requests.some(({ id }) => id === cordonMark) === true ||
    endOf(record, cordonMark) !== undefined ||
    (isCordonOfRepair(cordonMark, node) && node.quarantine === undefined));

/** Whether a drain of repair cordoned the node: if it is lost, repair asks again for what it needs. */
export const isCordonOfRepair = (mark: string | undefined, { uid }: Pick<DrainedNode, 'uid'>): boolean =>
  mark !== undefined && nodeOfRequest(mark) === uid;

/** The reason where repair withdraws its drain: nobody took a quarantine back. */
const BY_REPAIR = { reason: 'Withdrawn', message: 'repair withdrew its drain' } as const;

const RECOVERED = { reason: 'Recovered', message: 'the fault is over' } as const;

const REASONS = {
  recovered: RECOVERED,
  dueRecovery: RECOVERED,
  unQuarantined: { reason: 'UnQuarantined', message: 'the quarantine is over' },
  cancelled: { reason: 'ManuallyReleased', message: 'somebody took the quarantine of the node back' },
  withdrawn: { reason: 'Withdrawn', message: 'the request was withdrawn' },
} as const;

/** Tells which requests and ended drains a message ends. An event that was said after the end of a quarantine or fault is about another one. */
function endedBy(
  incoming: EndMessage,
  recoveries: readonly Recovery[],
): (ended: Pick<FinishedDrain, 'id' | 'fault' | 'said'>) => boolean {
  switch (incoming.kind) {
    case 'unQuarantined':
      return ({ fault, said }) => isOfMonitor(fault) && !isBeforeQuarantine(incoming.timestamps, said);
    case 'cancelled':
    case 'withdrawn':
      return ({ id }) => id === incoming.id;
    case 'recovered':
    case 'dueRecovery': {
      const over = faultOf(incoming.event);
      // Together with those that came before it: entities that recover one by one.
      return ({ fault, said }) =>
        !isBefore(incoming.timestamps, said) && isOver(fault, [...endsSince(recoveries, said), over]);
    }
  }
}
