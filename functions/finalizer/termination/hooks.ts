/**
 * Runs the user's hooks at one point of a termination, one after the other in the order of the policy. A call is noted down before it
 * is made; one that did not answer is made again with the same key. What a hook may take is its deadline; how long it may be silent,
 * its heartbeat; what happens then, its `onTimeout`. At the termination's own deadline, and where Karpenter ends the instance by itself,
 * nothing waits for them (`unawaited-hooks.ts`).
 */
import { TERMINATION_METRICS } from '../../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { HookPoint, TerminationHook } from '../../../shared/domain/termination.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import {
  addDuration,
  earliest,
  isDue,
  minutes,
  toTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import { messageOf, RetryableError, TerminalError } from '../../../shared/errors.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import type { HookAnswer } from '../../../shared/domain/hook-answer.ts';
import type { HookProgress } from './record.ts';
import { followResource, keyOfHook, makeHookResource } from './hook-resource.ts';
import { hookModeOf } from './hook-mode.ts';
import { callUnawaitedHook, reportUnawaitedHooks, type HookCaller, type UnawaitedReason } from './unawaited-hooks.ts';
import { hookRetryDelay, hookTimeoutTime, isFirstCallUnknown, type ResourceAnswer } from './rule/hook-progress.ts';
import { reportHook } from './report.ts';
import { hookLook, lookAgain, safetyLook, stepDone, reportOnAll, waitFor, type TerminationContext } from './context.ts';

/** A hook that holds a termination is looked at this often: its policy may have changed. */
const TIMED_OUT_CHECK = minutes(5);

/** The step that runs the hooks of one point. */
export function hooksAt(point: HookPoint) {
  return {
    name: `Hooks:${point}`,
    async run(context: TerminationContext): Promise<StepOutcome> {
      const hooks = context.settings?.hooks.filter(({ at }) => at === point) ?? [];
      // One that is at work goes on, whatever became of the NodeClaim meanwhile.
      const begun = hooks.filter(({ name }) => progressOf(context, name) !== undefined);
      if (hooks.every(hook => isHookDone(context, hook))) return stepDone;
      const mode = await hookModeOf(context, point);
      const { hookOwner: owner } = context;
      if (mode.kind !== 'never' && owner.kind === 'over') return stepDone;
      if (mode.kind !== 'never' && owner.kind === 'underWay') {
        const on = `the hooks are called in the termination of ${owner.termination}`;
        return context.isForced ? stepDone : waitFor(on, safetyLook(context));
      }
      if (mode.kind === 'forced' || mode.kind === 'once') {
        return await callEachOnce(context, point, mode.kind, hooks);
      }
      for (const hook of mode.kind === 'never' ? begun : hooks) {
        const outcome = await runHook(context, hook);
        if (outcome.kind !== 'done') return outcome;
      }
      // The run that called an unawaited hook may have died before it reported the outcome.
      await reportUnawaitedHooks(context, point, hooks);
      return stepDone;
    },
  };
}

/** Its answer is there, or it was passed over, and that was said where it must be. */
function isHookDone(context: TerminationContext, { name, at }: TerminationHook): boolean {
  const progress = progressOf(context, name);
  // One that came to the policy later is called, too, although its point was told of.
  if (progress?.unawaited !== undefined)
    return progress.phase !== 'intended' && context.state().reportedHookPoints?.includes(at) === true;
  if (context.isForced) return progress !== undefined && progress.phase !== 'intended';
  return progress?.phase === 'succeeded' || progress?.phase === 'passed';
}

/** A hook may be called `constructor`: own names only. */
function progressOf(context: TerminationContext, name: string): HookProgress | undefined {
  const { hooks } = context.state();
  return Object.hasOwn(hooks, name) ? hooks[name] : undefined;
}

/** Each of them once, in their order; nothing waits for their work. */
async function callEachOnce(
  context: TerminationContext,
  point: HookPoint,
  how: UnawaitedReason,
  hooks: readonly TerminationHook[],
): Promise<StepOutcome> {
  const caller: HookCaller = {
    progressOf: ({ name }) => progressOf(context, name),
    noteCall: (hook, { unawaited }) => noteCall(context, hook, progressOf(context, hook.name), unawaited),
    hasNoted: (hook, progress) => context.run.ownHooks.delete(callId(hook, progress)),
    call: (hook, progress, within) => callFor(context, hook, progress, within),
    saveProgress: (hook, progress) => saveProgress(context, hook, progress),
  };
  for (const hook of hooks) {
    const outcome = await callUnawaitedHook(context, hook, how, caller);
    if (outcome.kind !== 'done') return outcome;
  }
  await reportUnawaitedHooks(context, point, hooks);
  return stepDone;
}

async function runHook(context: TerminationContext, hook: TerminationHook): Promise<StepOutcome> {
  const { now } = context;
  const progress = progressOf(context, hook.name);
  if (progress === undefined) return await noteCall(context, hook, undefined);
  // Called when nothing waited for it. One that was only noted down then may not have been.
  if (progress.unawaited !== undefined && progress.phase !== 'intended') return stepDone;
  if (progress.phase === 'succeeded' || progress.phase === 'passed') return stepDone;

  // A run that ended may not have called it: whether it ran out of time is asked once it was called for certain.
  if (progress.phase === 'intended') {
    if (context.run.ownHooks.has(callId(hook, progress))) return await callHook(context, hook, progress);
    const settled = addDuration(progress.lastSeenTime, RUN_ENDS_WITHIN);
    if (isDue(now, settled)) return await noteCall(context, hook, progress);
    return waitFor(`hook ${hook.name} is being called`, settled);
  }
  const timeout = hookTimeoutTime(hook, progress);
  // What ran out of time once has: a worker that fell silent is not called a second time when its deadline is still ahead.
  if (progress.phase === 'timedOut' || isDue(now, timeout)) return await handleTimeout(context, hook, progress);
  if (progress.phase === 'pending') return await follow(context, hook, progress, timeout);
  const retryTime = addDuration(progress.lastSeenTime, hookRetryDelay(progress.attempts));
  if (isDue(now, retryTime)) return await noteCall(context, hook, progress);
  return waitFor(`hook ${hook.name} failed: ${progress.message ?? ''}`, earliest(retryTime, timeout));
}

const callId = ({ name }: TerminationHook, { attempts }: HookProgress): string => `${name}/${attempts}`;

async function noteCall(
  context: TerminationContext,
  hook: TerminationHook,
  before: HookProgress | undefined,
  unawaited?: UnawaitedReason,
): Promise<StepOutcome> {
  const isFirst = before === undefined || isFirstCallUnknown(before) || before.unawaited !== unawaited;
  const next: HookProgress = {
    phase: 'intended',
    firstInvokedTime: isFirst ? context.now : before.firstInvokedTime,
    lastSeenTime: context.now,
    attempts: (before?.unawaited === unawaited ? (before?.attempts ?? 0) : 0) + 1,
    ...(unawaited !== undefined && { unawaited }),
  };
  if (await saveProgress(context, hook, next)) context.run.ownHooks.add(callId(hook, next));
  return lookAgain(context, `the call of hook ${hook.name} was noted down`);
}

const saveProgress = (context: TerminationContext, { name }: TerminationHook, progress: HookProgress) =>
  context.saveState({ hooks: { ...context.state().hooks, [name]: progress } });

async function callHook(
  context: TerminationContext,
  hook: TerminationHook,
  progress: HookProgress,
): Promise<StepOutcome> {
  context.run.ownHooks.delete(callId(hook, progress));
  return saveAnswer(context, hook, progress, await callFor(context, hook, progress));
}

/** A call whose outcome is not known is a failure. @param within nobody waits for the work, and the call takes this long at most */
async function callFor(
  context: TerminationContext,
  hook: TerminationHook,
  progress: HookProgress,
  within?: DurationMs,
): Promise<ResourceAnswer> {
  try {
    const { target } = hook;
    return target.kind === 'customResource'
      ? await makeHookResource(context, { ...hook, target }, progress)
      : await invoke(context, hook, progress, within);
  } catch (error) {
    const isRefused = within !== undefined && error instanceof TerminalError;
    if (!(error instanceof RetryableError) && !isRefused) throw error;
    return { kind: 'failed', message: messageOf(error) };
  }
}

async function invoke(
  context: TerminationContext,
  hook: TerminationHook,
  progress: HookProgress,
  within: DurationMs | undefined,
): Promise<HookAnswer> {
  const { observed, deadline, deps } = context;
  const { kind, apiVersion, metadata } = observed.object;
  return deps.hooks.invoke({
    purpose: 'hook',
    name: hook.name,
    target: hook.target,
    key: keyOfHook(context, hook),
    about: { apiVersion, kind, name: metadata.name, uid: metadata.uid },
    details: {
      at: hook.at,
      attempt: progress.attempts,
      providerID: observed.providerID ?? null,
      nodes: observed.nodes.map(node => node.metadata.name),
      deadline: toTimestamp(addDuration(progress.firstInvokedTime, hook.deadline)),
      terminationDeadline: deadline === undefined ? null : toTimestamp(deadline.time),
      forced: progress.unawaited === 'forced',
    },
    ...(within !== undefined && { takenOnWithin: within }),
  });
}

/** Work is under way: a worker answers by an event, and the forwarder reports a custom resource; should that be lost, it is looked at. */
async function follow(
  context: TerminationContext,
  hook: TerminationHook,
  progress: HookProgress,
  timeout: EpochMs,
): Promise<StepOutcome> {
  const { resource, firstInvokedTime } = progress;
  const { target } = hook;
  const on = `hook ${hook.name} is at work`;
  if (target.kind !== 'customResource' || resource === undefined) return waitFor(on, timeout);
  const answer = await followResource(context, { ...hook, target }, resource);
  const isSame = answer.kind === 'pending' && answer.resource?.seenVersion === resource.seenVersion;
  if (!isSame) return saveAnswer(context, hook, progress, answer);
  const next = hookLook(context, firstInvokedTime);
  return waitFor(on, earliest(next, timeout));
}

/** Stores what was answered, says it, and goes on from there. */
async function saveAnswer(
  context: TerminationContext,
  hook: TerminationHook,
  progress: HookProgress,
  answer: ResourceAnswer,
): Promise<StepOutcome> {
  const { message: _, ...rest } = progress;
  const next: HookProgress = {
    ...rest,
    phase: answer.kind,
    lastSeenTime: context.now,
    ...(answer.kind === 'failed' && { message: answer.message }),
    ...(answer.resource !== undefined && { resource: answer.resource }),
  };
  if (!(await saveProgress(context, hook, next))) {
    // Its worker may have answered already: both answers count in the next turn.
    context.run.answers.set(hook.name, answer);
    return lookAgain(context, `hook ${hook.name} changed`);
  }
  await reportHook(context, hook.name, next);
  return answer.kind === 'succeeded' ? stepDone : runHook(context, hook);
}

async function handleTimeout(
  context: TerminationContext,
  hook: TerminationHook,
  progress: HookProgress,
): Promise<StepOutcome> {
  const { onTimeout, name } = hook;
  const effect = {
    Proceed: 'the termination goes on without it',
    Abort: 'the termination is held until somebody takes the hook out of its policy, or until its deadline',
    Escalate: 'the termination is forced from now on',
  }[onTimeout];
  const last = progress.message === undefined ? '' : `; it last said: ${progress.message}`;
  const message = `hook ${name} did not succeed in time${last}: ${effect}`;
  if (progress.phase !== 'timedOut') {
    await reportOnAll(context, {
      decision: 'hookTimedOut',
      reason: EVENT_REASONS.terminationHookFailed,
      message,
      details: { hook: name, onTimeout, attempts: progress.attempts },
      metric: { name: TERMINATION_METRICS.hookTimedOut, dimensions: { onTimeout } },
      event: { type: 'Warning' },
    });
    await saveProgress(context, hook, { ...progress, phase: onTimeout === 'Proceed' ? 'passed' : 'timedOut' });
  }
  switch (onTimeout) {
    case 'Proceed':
      return stepDone;
    case 'Escalate':
      // Also after a run that died before it, and when the policy of a hook that holds says so from now on.
      await context.saveState({ deadline: { time: context.now, source: `hook ${name}` } });
      return lookAgain(context, message);
    case 'Abort':
      return waitFor(message, addDuration(context.now, TIMED_OUT_CHECK));
  }
}
