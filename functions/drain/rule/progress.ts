/**
 * Progress of a drain: the pods that it evicted or deleted, its deadline, how long nothing has moved, and the time for which it was paused.
 * Pure; part of `decide`.
 */
import type { DrainLimitsInForce } from '../../../shared/domain/drain-limits.ts';
import { qualifiedName } from '../../../shared/domain/kubernetes-object.ts';
import { isTerminating, type PodView } from '../../../shared/domain/pod.ts';
import {
  addDuration,
  earliest,
  hours,
  isDue,
  seconds,
  toDurationMs,
  minutes,
  durationBetween,
  latest,
  type EpochMs,
  type DurationMs,
} from '../../../shared/domain/time.ts';
import { recoveryDueTime } from './late-events.ts';
import { firstRequestTimeOf } from './node-annotations.ts';
import type { Observation } from './observation.ts';
import { recordedResource, openPhaseOf } from './phase.ts';
import { hasComeLate, type PodPlan } from './pod-plan.ts';
import type { ActiveDrain, CustomProgress, DrainPhase, DrainRecord } from '../record.ts';
import type { DrainOutcome, DrainRequest } from '../request-record.ts';

/** Time after the deadline in which the last pods go: by force they have one second of grace, and Kubernetes writes whole seconds. */
const LAST_PODS_GO = seconds(2);
/** Time without progress after which a drain without a deadline says what blocks it. */
const STUCK_AFTER = hours(4);
const STUCK_AGAIN = hours(24);

type DrainStart = Pick<ActiveDrain, 'startTime' | 'pausedFor'>;

/** The deadline of the drain; undefined: no policy sets one. */
export function deadlineOf({ startTime, pausedFor }: DrainStart, limits: DrainLimitsInForce): EpochMs | undefined {
  if (limits.kind === 'unreadable' || limits.deadline === undefined) return undefined;
  return addDuration(addDuration(startTime, limits.deadline), pausedFor);
}

/** The instant by which unprotected pods are deleted; undefined: none is. In a custom drain its controller alone decides. */
export function forcedEndTime(active: DrainStart, limits: DrainLimitsInForce, isCustom: boolean): EpochMs | undefined {
  if (limits.kind === 'unreadable' || limits.onDeadline !== 'Force' || isCustom) return undefined;
  return deadlineOf(active, limits);
}

/** The outcome of a drain past its deadline, with the pods that are left; undefined: it goes on. */
export function pastDeadline(
  active: ActiveDrain,
  { limits, now, isCustom }: { readonly limits: DrainLimitsInForce; readonly now: EpochMs; readonly isCustom: boolean },
  { acts, waits }: PodPlan,
): DrainOutcome | undefined {
  const deadline = deadlineOf(active, limits);
  if (deadline === undefined || !isDue(now, deadline)) return undefined;
  const forced = forcedEndTime(active, limits, isCustom);
  const deleted = acts.filter(act => act.kind === 'delete');
  const terminating = waits.filter(wait => wait.because === 'Terminating');
  const isGoing = deleted.length + terminating.length > 0;
  if (forced !== undefined && isGoing && !isDue(now, addDuration(deadline, LAST_PODS_GO))) return undefined;
  // Where Curfew itself is late, pods are deleted after the deadline, once, and have the same time. Of those that come after it nobody waits.
  const isTimely = ({ pod: { creationTime } }: { readonly pod: PodView }): boolean =>
    creationTime === undefined || isDue(deadline, creationTime);
  const isUntried = ({ pod }: { readonly pod: PodView }): boolean => !active.tried.includes(pod.uid);
  const isStopping = ({ pod: { deletionTime } }: { readonly pod: PodView }): boolean =>
    deletionTime !== undefined && !isDue(now, addDuration(deletionTime, LAST_PODS_GO));
  const late = [...deleted.filter(isUntried), ...terminating.filter(isStopping)];
  if (forced !== undefined && late.some(isTimely)) return undefined;
  const remainingPods = new Map([...acts, ...waits].map(each => [each.pod.uid, each]));
  const names = [...remainingPods.values()].map(
    each => `${qualifiedName(each.pod)} (${'because' in each ? each.because : 'Running'})`,
  );
  const what = names.length === 1 ? '1 pod is' : `${names.length} pods are`;
  const message = `not over within drain.deadline, ${what} left${forced !== undefined && !isGoing ? ' that must not be forced' : ''}`;
  return { status: 'Failed', reason: 'DeadlineExceeded', message, left: names };
}

/** The drain with the time of its last progress: fewer pods are left than ever before. */
export function withProgress(active: ActiveDrain, { acts, waits }: PodPlan, now: EpochMs): ActiveDrain {
  const pods = new Set([...acts, ...waits].map(({ pod }) => pod.uid)).size;
  const { progress } = active;
  if (progress !== undefined && pods >= progress.pods) return active;
  const { saidTime: _, ...fields } = progress ?? {};
  return { ...active, progress: { ...fields, pods, time: progress === undefined ? active.startTime : now } };
}

/** Time at which a drain that does not move is reported; undefined: never, for it has a deadline. */
export function stuckReportTime(active: ActiveDrain, limits: DrainLimitsInForce): EpochMs | undefined {
  if (deadlineOf(active, limits) !== undefined) return undefined;
  const { progress, startTime } = active;
  const moved = recordedResource(active)?.seen?.since ?? progress?.time ?? startTime;
  const reportTime = progress?.saidTime;
  return reportTime !== undefined && reportTime >= moved
    ? addDuration(reportTime, STUCK_AGAIN)
    : addDuration(moved, STUCK_AFTER);
}

/** The next instant at which the deadline, or the report of a stuck drain, changes anything. */
export function nextByDeadline(active: ActiveDrain, limits: DrainLimitsInForce, now: EpochMs): EpochMs | undefined {
  const deadline = deadlineOf(active, limits);
  if (deadline === undefined) return stuckReportTime(active, limits);
  const end = addDuration(deadline, LAST_PODS_GO);
  return earliest(deadline > now ? deadline : undefined, end > now ? end : addDuration(now, LAST_PODS_GO));
}

/** Time after which a drain is looked at again, whatever it waits for. */
const SAFETY_NET = minutes(5);
/** Time between looks where no event reports a change of a pod's labels or of the devices it uses. */
const UNWATCHED_CHECK = minutes(1);

/** The instant until which a drain waits for news, at most. */
export function withSafetyNet(observed: Observation, time: EpochMs | undefined): EpochMs {
  const { now, record } = observed;
  const configuration = observed.kind === 'drain' ? observed.configuration : undefined;
  const isUnwatched =
    (configuration?.settings.podDrainPolicies.length ?? 0) > 0 || record.active?.scope.kind === 'entities';
  const net = addDuration(now, isUnwatched ? UNWATCHED_CHECK : SAFETY_NET);
  return [net, recoveryDueTime(record)].reduce(earliest, time) ?? net;
}

/** Time that is left to a request whose deletion is overdue: this, or the time-out if that is less. */
const OVERDUE_WAITS = minutes(10);

/** The request as it counts when its drain begins: if its deletion is overdue, `min(timeout, 10 min)` are left. */
export function withTimeLeft(request: DrainRequest, timeout: DurationMs, now: EpochMs): DrainRequest {
  if (request.time === undefined || addDuration(request.time, timeout) > now) return request;
  return { ...request, time: addDuration(now, toDurationMs(overdueWait(timeout) - timeout)) };
}

/** Time that is left to a pod that comes after the time-out. */
const LATE_POD_WAITS = seconds(10);

const overdueWait = (timeout: DurationMs, most = OVERDUE_WAITS): DurationMs => toDurationMs(Math.min(timeout, most));

/**
 * The instant at which pods are deleted, by the settings of now. One that an edit has brought nearer, and that is over, leaves as much time as
 * one that is over at the start.
 */
export function deleteTimeOf(active: ActiveDrain, timeout: DurationMs, now: EpochMs): EpochMs {
  const wanted = addDuration(firstRequestTimeOf(active), timeout);
  const { deleteTime: told } = active;
  if (told === undefined || wanted >= told || !isDue(now, wanted)) return wanted;
  return isDue(now, told) ? told : earliest(told, addDuration(now, overdueWait(timeout)));
}

/**
 * The instant at which pods are deleted if the plan would warn of a deletion and make it at once: of a pod whose mode has changed, or that has
 * come late to the node. Undefined: the plan is as it should be.
 */
export function laterDeletion({ acts }: PodPlan, { startTime }: DrainStart, timeout: DurationMs, now: EpochMs) {
  const overdue = acts.filter(act => act.kind === 'warn' && isDue(now, act.deleteTime));
  if (overdue.length === 0) return undefined;
  const isLate = overdue.every(({ pod }) => hasComeLate(pod, startTime));
  return addDuration(now, overdueWait(timeout, isLate ? LATE_POD_WAITS : OVERDUE_WAITS));
}

/**
 * The record after a pause. Time-outs move on by its length, since nobody waited for them meanwhile, and owners are warned of the new instant.
 * The next pause is reported again.
 */
export function withoutPause(record: DrainRecord, now: EpochMs): DrainRecord {
  const { reported, pausedSince, active, ...fields } = record;
  if (reported === undefined && pausedSince === undefined) return record;
  const later = (request: DrainRequest): DrainRequest => ({
    ...request,
    time: postponedTime(request.time, pausedSince, now),
  });
  const requests = fields.requests.map(later);
  if (active === undefined) return { ...fields, requests };
  if (pausedSince === undefined) return { ...fields, requests, active };
  const phase = openPhaseOf(active);
  const since = latest(pausedSince, phase.kind === 'waiting' ? phase.since : active.startTime);
  const pausedFor = toDurationMs(active.pausedFor + Math.max(0, now - since));
  const postponed = { phase: postponedPhase(active.phase, pausedSince, now), requests: active.requests.map(later) };
  return { ...fields, requests, active: { ...active, ...postponed, warned: [], pausedFor } };
}

/** Moves the time-outs of a custom resource on: that of the drain, and that of its heartbeat. */
function postponedPhase(phase: DrainPhase, pausedSince: EpochMs, now: EpochMs): DrainPhase {
  if (phase.kind !== 'custom') return phase;
  const { resource } = phase;
  const { createdTime, seen } = resource;
  const postponed: CustomProgress = {
    ...resource,
    createdTime: postponedTime(createdTime, pausedSince, now),
    ...(seen && { seen: { ...seen, since: postponedTime(seen.since, pausedSince, now) } }),
  };
  return { ...phase, resource: postponed };
}

/** Moves an instant on by the time for which the drain was paused. Older records do not say since when: then it is now. */
function postponedTime(time: EpochMs | undefined, pausedSince: EpochMs | undefined, now: EpochMs): EpochMs {
  if (time === undefined || pausedSince === undefined) return now;
  return addDuration(time, durationBetween(latest(time, pausedSince), now));
}

/** The pods that the drain has set out to evict or delete, those of this plan among them. */
export function withTriedPods({ tried }: ActiveDrain, { acts }: PodPlan): readonly string[] {
  const known = new Set(tried);
  const more = acts.filter(act => act.kind !== 'warn' && !known.has(act.pod.uid)).map(({ pod }) => pod.uid);
  return more.length === 0 ? tried : [...tried, ...more];
}

/**
 * Counts the pods that were tried and are gone or about to go, whichever run tried them. Pods that are not there any more are kept as a number
 * alone, however many come after them. A higher count of an older record stays.
 */
export function withCounts(active: ActiveDrain, pods: readonly PodView[]): ActiveDrain {
  const terminating = new Map(pods.map(pod => [pod.uid, isTerminating(pod)]));
  const isThere = (uid: string): boolean => terminating.has(uid);
  const warned = active.warned.filter(isThere);
  const tried = active.tried.filter(isThere);
  const goneCount = active.goneCount + active.tried.length - tried.length;
  const going = tried.filter(uid => terminating.get(uid)).length;
  return { ...active, warned, tried, goneCount, drained: Math.max(active.drained, goneCount + going) };
}
