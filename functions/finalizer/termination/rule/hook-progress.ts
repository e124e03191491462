/** Progress of a hook, as the record keeps it: the answer of its worker, the end of its time, and its next call. Pure. */
import { reportOfFailure } from '../../../../shared/domain/refusal.ts';
import type { HookAnswer } from '../../../../shared/domain/hook-answer.ts';
import type { TerminationHook } from '../../../../shared/domain/termination.ts';
import { inboxReadTime } from '../../../../shared/domain/run-end.ts';
import { addDuration, earliest, type EpochMs } from '../../../../shared/domain/time.ts';
import type { HookProgress, HookProgressIn, HookResource, TerminationRecord } from '../record.ts';

/** Answer of a hook. `resource`: name, UID and last seen version of its custom resource. */
export type ResourceAnswer = HookAnswer & { readonly resource?: HookResource };

/** Reason why nothing waits for the hook; undefined: the termination does. */
export const reasonNotAwaited = (progress: HookProgress | undefined): HookProgressIn<'intended'>['unawaited'] =>
  progress === undefined || progress.phase === 'timedOut' ? undefined : progress.unawaited;

/** Message of the last failure of the hook. */
export const lastMessageOf = (progress: HookProgress): string | undefined =>
  'message' in progress ? progress.message : undefined;

/** The custom resource of the hook; undefined: it has none yet. */
export const resourceOf = (progress: HookProgress): HookResource | undefined =>
  'resource' in progress ? progress.resource : undefined;

/**
 * The progress of all hooks after these answers. An answer that comes late counts as long as the hook is not over: it ends the delay, and it spares
 * the next try. `pending` is a heartbeat.
 */
export function withAnswers(
  hooks: Readonly<Record<string, HookProgress>>,
  answers: ReadonlyMap<string, ResourceAnswer>,
  now: EpochMs,
): Record<string, HookProgress> {
  return Object.fromEntries(
    Object.entries(hooks).map(([name, progress]) => {
      const answer = answers.get(name);
      return [name, answer === undefined ? progress : withAnswer(progress, answer, now)];
    }),
  );
}

/** The progress of a hook. A hook may be called `constructor`: only own names count. */
export const progressOf = (hooks: Readonly<Record<string, HookProgress>>, name: string): HookProgress | undefined =>
  Object.hasOwn(hooks, name) ? hooks[name] : undefined;

/** The progress of all hooks, with calls noted elsewhere where they are later than in this record: an answer is not forgotten (I4). */
export function withLaterCalls(
  hooks: Readonly<Record<string, HookProgress>>,
  noted: Readonly<Record<string, HookProgress>>,
): Readonly<Record<string, HookProgress>> {
  const later = Object.entries(noted).filter(([name, { attempts, lastSeenTime }]) => {
    const own = progressOf(hooks, name);
    if (own === undefined || own.attempts !== attempts) return own === undefined || own.attempts < attempts;
    return own.lastSeenTime < lastSeenTime;
  });
  return { ...hooks, ...Object.fromEntries(later) };
}

/** The record with the hook calls of another one. */
export function withCalls(value: TerminationRecord, calls: TerminationRecord): TerminationRecord {
  const points = new Set([...(value.reportedHookPoints ?? []), ...(calls.reportedHookPoints ?? [])]);
  const hookKeyUid = value.hookKeyUid ?? calls.hookKeyUid;
  return {
    ...value,
    hooks: withLaterCalls(calls.hooks, value.hooks),
    ...(points.size > 0 && { reportedHookPoints: [...points] }),
    ...(hookKeyUid !== undefined && { hookKeyUid }),
  };
}

/** The progress after the answer to a call that was just made, or to a look at its custom resource. */
export function afterAnswer(progress: HookProgress, answer: ResourceAnswer, now: EpochMs): HookProgress {
  const { firstInvokedTime, attempts, failureReport, lateLookTime } = progress;
  const unawaited = reasonNotAwaited(progress);
  const resource = answer.resource ?? resourceOf(progress);
  const calls = {
    firstInvokedTime,
    lastSeenTime: now,
    attempts,
    ...(lateLookTime !== undefined && { lateLookTime }),
    ...(failureReport !== undefined && { failureReport }),
    ...(unawaited !== undefined && { unawaited }),
    ...(resource !== undefined && { resource }),
  };
  if (answer.kind !== 'failed') return { ...calls, phase: answer.kind };
  const { message } = answer;
  return { ...calls, phase: 'failed', message, failureReport: reportOfFailure(failureReport, message, now) };
}

function withAnswer(progress: HookProgress, answer: ResourceAnswer, now: EpochMs): HookProgress {
  if (progress.phase === 'succeeded' || progress.phase === 'passed') return progress;
  if (progress.phase === 'timedOut' && answer.kind !== 'succeeded') {
    return answer.kind === 'failed' ? { ...progress, message: answer.message } : progress;
  }
  const next = afterAnswer(progress, answer, now);
  const message = lastMessageOf(progress);
  return next.phase === 'pending' && message !== undefined ? { ...next, message } : next;
}

/**
 * Time when the hook has run out of time. Silence counts while a worker is at it. Where that was not looked at in time, an answer that waited has
 * its turn first.
 */
export function hookTimeoutTime(hook: TerminationHook, progress: HookProgress): EpochMs {
  const end = endOf(hook, progress);
  return isLookedAtLate(hook, progress) ? inboxReadTime(progress.lateLookTime) : end;
}

/** Whether the present end of its time is over, and was looked at late. */
export const isLookedAtLate = (
  hook: TerminationHook,
  progress: HookProgress,
): progress is HookProgress & { readonly lateLookTime: EpochMs } =>
  progress.lateLookTime !== undefined && progress.lateLookTime >= endOf(hook, progress);

function endOf({ deadline, heartbeat }: TerminationHook, progress: HookProgress): EpochMs {
  const end = addDuration(progress.firstInvokedTime, deadline);
  if (heartbeat === undefined || progress.phase !== 'pending') return end;
  return earliest(addDuration(progress.lastSeenTime, heartbeat), end);
}

/** The next end of the time of a hook that is waited for; undefined: none is. */
export const nextTimeout = (
  hooks: readonly TerminationHook[],
  progress: Readonly<Record<string, HookProgress>>,
): EpochMs | undefined =>
  hooks
    .map(hook => {
      const own = progressOf(progress, hook.name);
      const isAwaited = own !== undefined && reasonNotAwaited(own) === undefined && AWAITED_PHASES.has(own.phase);
      return isAwaited ? hookTimeoutTime(hook, own) : undefined;
    })
    .reduce(earliest, undefined);

const AWAITED_PHASES: ReadonlySet<HookProgress['phase']> = new Set(['pending', 'failed']);

/**
 * Whether nobody knows that the hook was ever called: the first call was noted down, and the run that did so ended. The hook's deadline
 * counts from a call that was made, so the next note sets its time again. A later call is noted down after the time of the first one.
 */
export const isFirstCallUnknown = ({ phase, firstInvokedTime, lastSeenTime }: HookProgress): boolean =>
  phase === 'intended' && firstInvokedTime === lastSeenTime;
