/**
 * Hooks that nothing waits for: each is called once in its place, and the termination goes on. Their workers may answer later, which is
 * recorded. At a deadline a call that is not taken on is tried once more; how long that may delay the end is bounded.
 */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { HookPoint, TerminationHook } from '../../../shared/domain/termination.ts';
import {
  addDuration,
  durationBetween,
  isDue,
  seconds,
  toDurationMs,
  type DurationMs,
} from '../../../shared/domain/time.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import type { HookProgress } from './record.ts';
import type { ResourceAnswer } from './rule/hook-progress.ts';
import { lookAgain, stepDone, reportOnAll, waitFor, type TerminationContext } from './context.ts';

/** How long one hook may delay a forced end, and all of them. */
const MAX_DELAY_PER_HOOK = seconds(5);
const MAX_DELAY_OF_HOOKS = seconds(15);
/** A call that was not taken on is tried once more after this long. */
const RETRY_AFTER = seconds(2);
const MAX_CALLS = 2;

export type UnawaitedReason = NonNullable<HookProgress['unawaited']>;

/** What carries a call out, and stores how it stands. */
export interface HookCaller {
  readonly progressOf: (hook: TerminationHook) => HookProgress | undefined;
  /** Notes a call down; the next turn makes it. */
  readonly noteCall: (hook: TerminationHook, next: Pick<HookProgress, 'unawaited'>) => Promise<StepOutcome>;
  /** Whether this run noted it down. */
  readonly hasNoted: (hook: TerminationHook, progress: HookProgress) => boolean;
  readonly call: (hook: TerminationHook, progress: HookProgress, within: DurationMs) => Promise<ResourceAnswer>;
  readonly saveProgress: (hook: TerminationHook, progress: HookProgress) => Promise<boolean>;
}

/** One hook; `done` once nothing more is tried. A hook that was called before, whoever waited for it then, is not called again. */
export async function callUnawaitedHook(
  context: TerminationContext,
  hook: TerminationHook,
  how: UnawaitedReason,
  caller: HookCaller,
): Promise<StepOutcome> {
  const { now } = context;
  const progress = caller.progressOf(hook);
  // What a run noted down that ended may not have been called: its key is the same when it is called again.
  const isNew = progress === undefined || (progress.phase === 'intended' && progress.unawaited === undefined);
  if (isNew) return await caller.noteCall(hook, { unawaited: how });
  if (progress.unawaited === undefined) return stepDone;
  if (progress.phase === 'intended') {
    if (caller.hasNoted(hook, progress)) return await callOnce(context, hook, progress, caller);
    const settled = addDuration(progress.lastSeenTime, MAX_DELAY_PER_HOOK);
    if (!isDue(now, settled)) return waitFor(`hook ${hook.name} is being called`, settled);
    if (progress.attempts < MAX_CALLS) return await caller.noteCall(hook, { unawaited: how });
    return await giveUp(context, hook, { ...progress, message: 'nobody knows whether it was called' }, caller);
  }
  if (progress.phase !== 'failed' || how === 'once') return stepDone;
  const retryTime = addDuration(progress.lastSeenTime, RETRY_AFTER);
  const isInTime = addDuration(now, timeLeft(context, hook, progress)) > retryTime;
  if (progress.attempts >= MAX_CALLS || !isInTime) return stepDone;
  if (isDue(now, retryTime)) return await caller.noteCall(hook, { unawaited: how });
  return waitFor(`hook ${hook.name} was not taken on: ${progress.message ?? ''}`, retryTime);
}

async function callOnce(
  context: TerminationContext,
  hook: TerminationHook,
  progress: HookProgress,
  caller: HookCaller,
): Promise<StepOutcome> {
  const within = progress.unawaited === 'forced' ? timeLeft(context, hook, progress) : MAX_DELAY_PER_HOOK;
  if (within <= 0)
    return await giveUp(
      context,
      hook,
      { ...progress, message: 'the hooks before it took all the time that there was' },
      caller,
    );
  const answer = await caller.call(hook, progress, within);
  const { message: _, ...rest } = progress;
  const next: HookProgress = {
    ...rest,
    phase: answer.kind,
    lastSeenTime: context.deps.clock.now(),
    ...(answer.kind === 'failed' && { message: answer.message }),
    ...(answer.resource !== undefined && { resource: answer.resource }),
  };
  await caller.saveProgress(hook, next);
  return lookAgain(context, `hook ${hook.name} was called`);
}

async function giveUp(
  { now }: TerminationContext,
  hook: TerminationHook,
  progress: HookProgress,
  { saveProgress }: HookCaller,
): Promise<StepOutcome> {
  await saveProgress(hook, { ...progress, phase: 'passed', lastSeenTime: now });
  return stepDone;
}

/** How much longer this hook may delay a forced end. */
function timeLeft(context: TerminationContext, { name }: TerminationHook, own: HookProgress): DurationMs {
  const others = Object.entries(context.state().hooks).filter(
    ([other, { unawaited }]) => unawaited === 'forced' && other !== name,
  );
  const spent = others.reduce(
    (sum, [, { firstInvokedTime, lastSeenTime }]) =>
      sum + Math.min(durationBetween(firstInvokedTime, lastSeenTime), MAX_DELAY_PER_HOOK),
    0,
  );
  return toDurationMs(
    Math.min(MAX_DELAY_PER_HOOK, MAX_DELAY_OF_HOOKS - spent) - durationBetween(own.firstInvokedTime, context.now),
  );
}

/** Which hooks of the point were called and which were not: said once, before it is noted down (I9). */
export async function reportUnawaitedHooks(
  context: TerminationContext,
  point: HookPoint,
  hooks: readonly TerminationHook[],
): Promise<void> {
  const { reportedHookPoints = [], hooks: progress } = context.state();
  const called: string[] = [];
  const left: string[] = [];
  let how: UnawaitedReason = 'once';
  for (const { name } of hooks) {
    const { phase, unawaited, message = '' } = (Object.hasOwn(progress, name) ? progress[name] : undefined) ?? {};
    // What was called before has Events of its own.
    if (unawaited === undefined) continue;
    if (unawaited === 'forced') how = unawaited;
    if (phase === 'failed' || phase === 'passed') left.push(`${name} (${message})`);
    else called.push(name);
  }
  if (called.length + left.length === 0 || reportedHookPoints.includes(point)) return;
  const wasCalled = called.length === 0 ? [] : [`${namesWere(called)} called, and not waited for`];
  const wasNot = left.length === 0 ? [] : [`not called: ${left.join(', ')}`];
  const why =
    how === 'forced'
      ? `hooks ${point} at the deadline`
      : `hooks ${point} hold nothing, because Karpenter drains and ends the instance by itself (builtin: Keep)`;
  await reportOnAll(context, {
    decision: how === 'forced' ? 'force' : 'hook',
    reason: how === 'forced' ? EVENT_REASONS.terminationHooksForced : EVENT_REASONS.hooksDoNotHold,
    message: `${why}: ${[...wasCalled, ...wasNot].join('; ')}`,
    details: { at: point, called, left },
    event: { type: 'Warning' },
  });
  await context.saveState({ reportedHookPoints: [...reportedHookPoints, point] });
}

const namesWere = (names: readonly string[]): string => `${names.join(', ')} ${names.length === 1 ? 'was' : 'were'}`;
