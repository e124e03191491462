/**
 * The rule of one hook. A call is noted down before it is made, and one that did not answer is made again with the same key. `deadline` limits
 * the time of a hook, and `heartbeat` its silence; `onTimeout` says what happens then. A hook that nothing waits for is called once, and the
 * termination goes on. At a deadline a call that is not taken on is tried once more, and how long that may delay the end is bounded. Pure: no
 * I/O, no clock.
 */
import { isLateLook, RUN_ENDS_WITHIN } from '../../../../shared/domain/run-end.ts';
import type { HookTarget, TerminationHook } from '../../../../shared/domain/termination.ts';
import {
  addDuration,
  durationBetween,
  earliest,
  isDue,
  minutes,
  retryWait,
  seconds,
  toDurationMs,
  toTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../../../shared/domain/time.ts';
import type { HookProgress, HookProgressIn, HookResource } from '../record.ts';
import { hookTimeoutTime, isFirstCallUnknown, isLookedAtLate, reasonNotAwaited } from './hook-progress.ts';
import { nextLook } from './turn.ts';

export type UnawaitedReason = NonNullable<ReturnType<typeof reasonNotAwaited>>;

/** The progress of a hook that has begun and is not over. */
type OpenProgress = HookProgressIn<'pending' | 'failed' | 'timedOut'>;

export interface HookObservation {
  readonly now: EpochMs;
  readonly hook: TerminationHook;
  /** `once`, `forced`: nothing waits for it. */
  readonly mode: 'awaited' | UnawaitedReason;
  /** Progress of the hook; undefined: no call was noted down. */
  readonly progress: HookProgress | undefined;
  /** This run noted the call down, and has not made it. */
  readonly isOwn: boolean;
  /** This run has just looked at the custom resource that stands for the call, and it is as it was. */
  readonly isLookedAt?: boolean;
  /** Progress of all hooks of the termination, by name. */
  readonly hooks: Readonly<Record<string, HookProgress>>;
}

export type HookEffect =
  /** Nothing more is tried. */
  | { readonly kind: 'done' }
  | { readonly kind: 'wait'; readonly on: string; readonly until: EpochMs }
  /** The call is noted down; the next turn makes it (I4). */
  | { readonly kind: 'recordCall'; readonly progress: HookProgressIn<'intended'> }
  /** `within`: nobody waits for the work, and the call takes this long at most. */
  | { readonly kind: 'call'; readonly progress: HookProgressIn<'intended'>; readonly within?: DurationMs }
  /** The custom resource that stands for the call is looked at. While it is the same, the hook waits; `isLast`: it is decided without it. */
  | {
      readonly kind: 'look';
      readonly isLast?: true;
      readonly progress: OpenProgress;
      readonly target: Extract<HookTarget, { kind: 'customResource' }>;
      readonly resource: HookResource;
      readonly on: string;
      readonly until: EpochMs;
    }
  /** The report is made that it ran out of time, and that is noted down. */
  | { readonly kind: 'timeOut'; readonly progress: HookProgressIn<'timedOut' | 'passed'>; readonly message: string }
  /** The record notes that the end of its time is looked at late: an answer that waited has its turn first. */
  | { readonly kind: 'noteLate'; readonly progress: OpenProgress }
  /** The record notes that it is passed over. */
  | { readonly kind: 'giveUp'; readonly progress: HookProgressIn<'passed'> }
  /** The termination is forced from now on. */
  | { readonly kind: 'force'; readonly because: string };

const DONE: HookEffect = { kind: 'done' };

export function nextForHook(observation: HookObservation): HookEffect {
  const { mode } = observation;
  return mode === 'awaited' ? nextForAwaited(observation) : nextForUnawaited(observation, mode);
}

function nextForAwaited(observation: HookObservation): HookEffect {
  const { now, hook, progress, isOwn } = observation;
  if (progress === undefined) return recordCall(observation);
  // Called when nothing waited for it. One that was only noted down then may not have been.
  if (reasonNotAwaited(progress) !== undefined && progress.phase !== 'intended') return DONE;
  if (progress.phase === 'succeeded' || progress.phase === 'passed') return DONE;
  // A run that ended may not have called it: whether it ran out of time is asked once it was called for certain.
  if (progress.phase === 'intended') {
    if (isOwn) return { kind: 'call', progress };
    const settled = addDuration(progress.lastSeenTime, RUN_ENDS_WITHIN);
    if (isDue(now, settled)) return recordCall(observation);
    return { kind: 'wait', on: `hook ${hook.name} is being called`, until: settled };
  }
  const timeout = hookTimeoutTime(hook, progress);
  // A hook that has timed out stays timed out: a worker that fell silent is not called a second time when its deadline is still ahead.
  if (progress.phase === 'timedOut') return lateLook(observation, progress) ?? outOfTime(now, hook, progress);
  const { target } = hook;
  // What became of a custom resource is looked at; an answer that nobody could read yet waits in the inbox.
  if (target.kind !== 'customResource' && isLateLook(now, timeout))
    return { kind: 'noteLate', progress: { ...progress, lateLookTime: now } };
  if (isDue(now, timeout)) return lateLook(observation, progress) ?? outOfTime(now, hook, progress);
  if (progress.phase === 'pending') {
    const on = isLookedAtLate(hook, progress)
      ? `hook ${hook.name} is out of time, and Curfew looks late: an answer that waits for it counts until ${toTimestamp(timeout)}`
      : `hook ${hook.name} is at work`;
    const { resource, firstInvokedTime } = progress;
    // A worker answers by an event, and the forwarder reports a custom resource; should that be lost, it is looked at.
    if (target.kind !== 'customResource' || resource === undefined) return { kind: 'wait', on, until: timeout };
    const next = nextLook(firstInvokedTime, now, RESOURCE_LOOKS);
    return { kind: 'look', progress, target, resource, on, until: earliest(next, timeout) };
  }
  const retryTime = addDuration(progress.lastSeenTime, retryWait(progress.attempts));
  if (isDue(now, retryTime)) return recordCall(observation);
  const on = `hook ${hook.name} failed: ${progress.message ?? ''}`;
  return { kind: 'wait', on, until: earliest(retryTime, timeout) };
}

/** Looks at the custom resource once more: it may be done since the last look, which spares what follows a time-out, and ends the delay. */
function lateLook({ now, hook, isLookedAt }: HookObservation, progress: OpenProgress): HookEffect | undefined {
  const { target } = hook;
  const { resource, phase } = progress;
  if (target.kind !== 'customResource' || resource === undefined || isLookedAt === true) return undefined;
  const on = `hook ${hook.name} is at work`;
  if (phase === 'pending') return { kind: 'look', isLast: true, progress, target, resource, on, until: now };
  const next = outOfTime(now, hook, progress);
  return next.kind === 'wait' ? { ...next, kind: 'look', progress, target, resource } : undefined;
}

/** Bounds of the time between looks at a custom resource: after 8 s, 16 s, 32 s, 60 s. */
const RESOURCE_LOOKS = { least: seconds(8), most: minutes(1) };

/** The call that is noted down now. The time of a hook counts from the first call that was made. */
function recordCall({ now, mode, progress: before }: HookObservation): HookEffect {
  const unawaited = mode === 'awaited' ? undefined : mode;
  const isSameMode = reasonNotAwaited(before) === unawaited;
  const isFirst = before === undefined || isFirstCallUnknown(before) || !isSameMode;
  const progress: HookProgressIn<'intended'> = {
    phase: 'intended',
    firstInvokedTime: isFirst ? now : before.firstInvokedTime,
    lastSeenTime: now,
    attempts: (isSameMode ? (before?.attempts ?? 0) : 0) + 1,
    ...(unawaited !== undefined && { unawaited }),
    ...(before?.lateLookTime !== undefined && { lateLookTime: before.lateLookTime }),
    ...(before?.failureReport !== undefined && { failureReport: before.failureReport }),
  };
  return { kind: 'recordCall', progress };
}

/** Time between looks at a hook that delays a termination: its policy may have changed. */
const TIMED_OUT_CHECK = minutes(5);

const TIMEOUT_EFFECTS: Readonly<Record<TerminationHook['onTimeout'], string>> = {
  Proceed: 'the termination goes on without it',
  Abort: 'the termination is held until somebody takes the hook out of its policy, or until its deadline',
  Escalate: 'the termination is forced from now on',
};

/**
 * The effect of a hook that ran out of time, also after a run that died before it forced, and when the policy of a hook that delays says so from
 * now on.
 */
function outOfTime(now: EpochMs, { name, onTimeout }: TerminationHook, progress: OpenProgress): HookEffect {
  const last = progress.message === undefined ? '' : `; it last said: ${progress.message}`;
  const message = `hook ${name} did not succeed in time${last}: ${TIMEOUT_EFFECTS[onTimeout]}`;
  if (progress.phase !== 'timedOut') {
    const phase = onTimeout === 'Proceed' ? 'passed' : 'timedOut';
    return { kind: 'timeOut', progress: { ...progress, phase }, message };
  }
  switch (onTimeout) {
    case 'Proceed':
      return DONE;
    case 'Escalate':
      return { kind: 'force', because: message };
    case 'Abort':
      return { kind: 'wait', on: message, until: addDuration(now, TIMED_OUT_CHECK) };
  }
}

/** Longest time that one hook may delay a forced end, and all of them. */
const MAX_DELAY_PER_HOOK = seconds(5);
const MAX_DELAY_OF_HOOKS = seconds(15);
/** Time after which a call that was not taken on is tried once more. */
const RETRY_AFTER = seconds(2);
const MAX_CALLS = 2;

/** The effect of a hook that nothing waits for. One that was called before, whoever waited for it then, is not called again. */
function nextForUnawaited(observation: HookObservation, mode: UnawaitedReason): HookEffect {
  const { now, hook, progress, isOwn } = observation;
  // What a run noted down that ended may not have been called: its key is the same when it is called again.
  const unawaited = reasonNotAwaited(progress);
  if (progress === undefined || (progress.phase === 'intended' && unawaited === undefined)) {
    return recordCall(observation);
  }
  if (unawaited === undefined) return DONE;
  if (progress.phase === 'intended') {
    const giveUp = (message: string): HookEffect => {
      return { kind: 'giveUp', progress: { ...progress, phase: 'passed', lastSeenTime: now, message } };
    };
    if (isOwn) {
      const within = unawaited === 'forced' ? timeLeft(observation, progress) : MAX_DELAY_PER_HOOK;
      if (within <= 0) return giveUp('the hooks before it took all the time that there was');
      return { kind: 'call', progress, within };
    }
    const settled = addDuration(progress.lastSeenTime, MAX_DELAY_PER_HOOK);
    if (!isDue(now, settled)) return { kind: 'wait', on: `hook ${hook.name} is being called`, until: settled };
    if (progress.attempts < MAX_CALLS) return recordCall(observation);
    return giveUp('nobody knows whether it was called');
  }
  if (progress.phase !== 'failed' || mode === 'once' || progress.attempts >= MAX_CALLS) return DONE;
  const retryTime = addDuration(progress.lastSeenTime, RETRY_AFTER);
  if (addDuration(now, timeLeft(observation, progress)) <= retryTime) return DONE;
  if (isDue(now, retryTime)) return recordCall(observation);
  return { kind: 'wait', on: `hook ${hook.name} was not taken on: ${progress.message}`, until: retryTime };
}

/** Time for which this hook may still delay a forced end. */
function timeLeft({ now, hook, hooks }: HookObservation, own: HookProgress): DurationMs {
  const others = Object.entries(hooks).filter(
    ([other, progress]) => reasonNotAwaited(progress) === 'forced' && other !== hook.name,
  );
  const spent = others.reduce(
    (sum, [, { firstInvokedTime, lastSeenTime }]) =>
      sum + Math.min(durationBetween(firstInvokedTime, lastSeenTime), MAX_DELAY_PER_HOOK),
    0,
  );
  return toDurationMs(
    Math.min(MAX_DELAY_PER_HOOK, MAX_DELAY_OF_HOOKS - spent) - durationBetween(own.firstInvokedTime, now),
  );
}
