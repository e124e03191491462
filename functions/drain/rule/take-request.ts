/** Decides about a request: it is answered at once, queued, joins a drain, or begins one. Pure; part of `decide`. */
import { invariant } from '../../../shared/domain/invariant.ts';
import { addDuration, CLOCK_SKEW, toDurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { RequestDecision } from './decision.ts';
import { faultOf, isSameCheck } from './faults.ts';
import { endOf, keepsCordon, remember } from './history.ts';
import { tooOldOutcome, staleOutcome, withoutDeferredRecovery } from './late-events.ts';
import { NODE_ANNOTATION } from './node-annotations.ts';
import type { DrainObservation, DrainConfiguration, ReadyObservation, RequestMessage } from './observation.ts';
import { isOnlyObserved } from './pauses.ts';
import { isEnding, isForAllPods, isForceful, isWaiting, openPhaseOf } from './phase.ts';
import { covers, FULL, formatScope, scopeOf, scopeOfAll, type DrainScope } from './pods.ts';
import { withoutPause, withTimeLeft } from './progress.ts';
import { mustWait, waitsForNobody } from './queue.ts';
import type { ActiveDrain, DrainRecord } from '../record.ts';
import { makeRoom, isFull } from './request-limit.ts';
import type { DrainOutcome, DrainRequest, FinishedDrain } from '../request-record.ts';

/** Time from which a request counts: its own, or `now` where it has none, or one that lies ahead by more than clocks differ. */
const startOf = ({ time }: DrainRequest, now: EpochMs): EpochMs =>
  time === undefined || time > addDuration(now, CLOCK_SKEW) ? now : time;

/** Answers the request, or takes it into the record; undefined: it is already under way. */
export function answerOrTake(observation: DrainObservation, incoming: RequestMessage): RequestDecision | undefined {
  const { now, node, record, configuration } = observation;
  const { request: asked } = incoming;
  const request = { ...asked, said: asked.said ?? { sentTime: now }, time: startOf(asked, now) };
  const { active, requests } = record;
  const earlierEnd = endOf(record, request.id);
  if (earlierEnd !== undefined) {
    // On the Node, which is not written to.
    if (request.requestedBy === NODE_ANNOTATION && isOnlyObserved(observation)) return undefined;
    return { kind: 'answer', record, answer: earlierEnd, novelty: 'repeated' };
  }
  const waiting = [...requests, ...(active?.requests ?? [])];
  if (waiting.some(({ id }) => id === request.id)) return undefined;
  const withoutDrain = { now, scope: FULL, drained: 0 };
  const old = request.event.drainOverrides?.skip === true ? undefined : tooOldOutcome(observation, incoming);
  // When it comes again, the Node is asked again whether it still stands.
  if (old !== undefined) {
    return { kind: 'answer', record, answer: toFinished(request, old, withoutDrain), novelty: 'tooOld' };
  }
  const answered = (outcome: DrainOutcome, of = record): RequestDecision => {
    const answer = toFinished(request, outcome, withoutDrain);
    return { kind: 'answer', record: remember(of, [answer], node), answer, novelty: 'new' };
  };
  const stale = staleOutcome(observation, request);
  if (stale !== undefined) return answered(stale);
  const withoutDeferred = request.event.isHealthy ? record : withoutDeferredRecovery(record, faultOf(request.event));
  const outcome =
    immediateOutcome(observation, request) ??
    (withoutDeferred === record ? undefined : flapOutcome(observation, request));
  if (outcome !== undefined) return answered(outcome, withoutDeferred);
  const joins = isJoined(withoutDeferred, request, configuration);
  if (!isFull(withoutDeferred, request, joins)) return takeRequest(withoutDeferred, request, configuration, now);
  const room = makeRoom(withoutDeferred, request, {
    joins,
    partialDrain: configuration?.settings.partialDrain ?? true,
  });
  if (room.kind === 'covered') return answered(room.outcome, withoutDeferred);
  const replacedEnds = room.replacedRequests.map(replaced => toFinished(replaced, room.outcome, withoutDrain));
  return { ...takeRequest(remember(room.record, replacedEnds, node), room.request, configuration, now), replacedEnds };
}

/** The outcome of a request whose fault comes back while its recovery is deferred: the node is still as its drain has left it. */
function flapOutcome(
  { node, record, configuration }: DrainObservation,
  { event }: DrainRequest,
): DrainOutcome | undefined {
  const scope = configuration && scopeOf(event, configuration.settings.partialDrain);
  if (scope === undefined || scope.kind === 'unusable' || !node.unschedulable || record.active !== undefined)
    return undefined;
  const fault = faultOf(event);
  const earlier = record.finished.find(
    end => end.status === 'Succeeded' && keepsCordon(end) && isSameCheck(end.fault, fault) && covers(end.scope, scope),
  );
  if (earlier === undefined) return undefined;
  const message = `drain ${earlier.id} for this fault drained ${formatScope(earlier.scope)}, and the node has stayed cordoned`;
  return { status: 'AlreadyDrained', reason: 'Covered', message, left: [] };
}

/** Whether the request joins the drain under way and ends with it. It asks for no further pods, or may widen the drain. */
function isJoined(
  { active }: DrainRecord,
  request: DrainRequest,
  configuration: DrainConfiguration | undefined,
): boolean {
  const wanted = configuration && scopeOf(request.event, configuration.settings.partialDrain);
  if (active === undefined || isEnding(active) || wanted === undefined || wanted.kind === 'unusable') return false;
  return covers(active.scope, wanted) || mayWiden(request, active);
}

/**
 * Whether the request may add its pods to those of the drain. One for all pods is that of a reboot, which comes whether or not they have gone. One
 * that waits for nobody does not wait for a drain that waits, either. A custom resource keeps the pods that it was made for.
 */
function mayWiden(request: DrainRequest, active: ActiveDrain): boolean {
  switch (openPhaseOf(active).kind) {
    case 'draining':
      return isForAllPods(request);
    case 'waiting':
      return waitsForNobody(request);
    case 'custom':
    case 'fallback':
      return false;
  }
}

/** The record with this request: in the drain under way where that covers it, else in the next one. */
function takeRequest(
  record: DrainRecord,
  request: DrainRequest,
  configuration: DrainConfiguration | undefined,
  now: EpochMs,
): Extract<RequestDecision, { kind: 'take' }> {
  const { active, requests } = record;
  if (active !== undefined && configuration !== undefined && isJoined(record, request, configuration)) {
    const force = active.force || isForceful(request);
    const counted = isWaiting(active) ? request : withTimeLeft(request, configuration.settings.deleteAfterTimeout, now);
    const requests = [...active.requests, counted];
    const joined = { ...widened(active, scopeOfAll(requests, configuration.settings.partialDrain)), requests, force };
    return { kind: 'take', record: { ...record, active: joined }, request, position: 'joins', replacedEnds: [] };
  }
  const position = active === undefined && requests.length === 0 ? 'next' : 'follows';
  return { kind: 'take', record: { ...record, requests: [...requests, request] }, request, position, replacedEnds: [] };
}

/** The drain with a scope that covers this one, too. The pods that are added are no lack of progress. */
function widened(active: ActiveDrain, scope: DrainScope): ActiveDrain {
  if (covers(active.scope, scope)) return active;
  const { progress: _, ...others } = active;
  return { ...others, scope };
}

/** The answer to an event that reports a recovery. */
const RECOVERED: DrainOutcome = {
  status: 'AlreadyDrained',
  reason: 'Recovered',
  message: 'the event reports a recovery',
  left: [],
};

/** The outcome of a request that ends without a drain; undefined: it needs one. */
function immediateOutcome(
  { node, record, configuration }: DrainObservation,
  { event, quarantine }: DrainRequest,
): DrainOutcome | undefined {
  const ends = (status: DrainOutcome['status'], reason: string, message: string): DrainOutcome => ({
    status,
    reason,
    message,
    left: [],
  });
  if (event.isHealthy) return RECOVERED;
  if (event.drainOverrides?.skip === true) return ends('AlreadyDrained', 'Skipped', 'drainOverrides.skip is set');
  const scope = configuration && scopeOf(event, configuration.settings.partialDrain);
  if (scope?.kind === 'unusable') return ends('Failed', 'NoSupportedEntity', scope.message);
  const listed = node.quarantine;
  if (quarantine !== undefined && listed === undefined && node.isReleased) {
    return ends('Cancelled', 'ManuallyReleased', 'somebody took the quarantine of the node back');
  }
  if (quarantine !== 'AlreadyQuarantined') return undefined;
  if (listed === undefined) return ends('Cancelled', 'StaleEvent', 'the node is not quarantined any more');
  if (scope === undefined || listed === 'unreadable') return undefined;
  const earlier = record.finished.find(
    ({ id, status, scope: done, recovered }) =>
      status === 'Succeeded' && !recovered && listed.includes(id) && covers(done, scope),
  );
  if (earlier === undefined) return undefined;
  return ends(
    'AlreadyDrained',
    'Covered',
    `drain ${earlier.id} of this quarantine drained ${formatScope(earlier.scope)}`,
  );
}

/**
 * Begins the next drain, for all requests that wait; its scope is wide enough for each of them. Requests that need none any more are answered
 * first: they may have come while there was no configuration, or waited for a drain that covers them.
 */
export function beginNext(
  observation: ReadyObservation,
): { readonly kind: 'begin'; readonly record: DrainRecord; readonly active: ActiveDrain } | RequestDecision {
  const { now, node, record, configuration, inForce } = observation;
  const { settings } = configuration;
  for (const request of record.requests) {
    const outcome = immediateOutcome(observation, request);
    if (outcome === undefined) continue;
    const answer = toFinished(request, outcome, { now, scope: FULL, drained: 0 });
    const recordWithoutIt = { ...record, requests: record.requests.filter(other => other !== request) };
    return { kind: 'answer', record: remember(recordWithoutIt, [answer], node), answer, novelty: 'new' };
  }
  const { requests: waiting, ...fields } = withoutPause(record, now);
  const isQueued = mustWait(inForce.limits, waiting);
  const requests = isQueued ? waiting : waiting.map(request => withTimeLeft(request, settings.deleteAfterTimeout, now));
  const [first] = requests;
  invariant(first !== undefined, 'a drain begins for a request that waits');
  const active: ActiveDrain = {
    id: first.id,
    requests,
    scope: scopeOfAll(requests, settings.partialDrain),
    startTime: now,
    force: requests.some(isForceful),
    phase: isQueued ? { kind: 'waiting', since: now, takesSlot: false } : { kind: 'draining' },
    warned: [],
    tried: [],
    goneCount: 0,
    drained: 0,
    failedLooks: 0,
    askedEvictions: {},
    reported: '',
    pausedFor: toDurationMs(0),
    returns: [],
  };
  return { kind: 'begin', record: { ...fields, requests: [], active }, active };
}

/** The entry of an ended request in the record. `drained`: pods that its drain evicted or deleted; without `startTime` no drain began. */
export function toFinished(
  { id, event, said }: DrainRequest,
  { status, reason, message, left }: DrainOutcome,
  { now, scope, drained, startTime = now }: { now: EpochMs; scope: DrainScope; drained: number; startTime?: EpochMs },
): FinishedDrain {
  const ended = { id, status, reason, message, left, scope, drained, startTime, endTime: now };
  return { ...ended, fault: faultOf(event), recovered: false, ...(said !== undefined && { said }) };
}
