/**
 * Runs the user's hooks at one point of a termination, one after the other. It asks the rules what is next for a hook (`rule/hooks.ts`,
 * `rule/hook.ts`), carries that out, notes down the result, and asks again.
 */
import { TERMINATION_METRICS } from '../../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { HookPoint, TerminationHook } from '../../../shared/domain/termination.ts';
import { addDuration, toTimestamp, type DurationMs } from '../../../shared/domain/time.ts';
import type { Step, StepOutcome } from './steps.ts';
import type { HookAnswer } from '../../../shared/domain/hook-answer.ts';
import type { HookProgress, HookProgressIn } from './record.ts';
import { followResource, keyOfHook, makeHookResource } from './hook-resource.ts';
import { isInstanceEnding } from './missing-instance.ts';
import { isKarpenters } from './rule/objects.ts';
import { orUnavailable } from '../../../shared/ports/read-answer.ts';
import { afterAnswer, nextTimeout, progressOf, type ResourceAnswer } from './rule/hook-progress.ts';
import { type HookObservation, nextForHook } from './rule/hook.ts';
import { nextAtPoint, unawaitedNews, type KarpenterPresence } from './rule/hooks.ts';
import { ownershipOf } from './rule/instance.ts';
import { isReplaceReported } from './replace-in-force.ts';
import { reportHook, reportOnAll, reportUnawaitedHooks } from './report.ts';
import { lookAgain, safetyLook, stepDone, waitFor, type StepContext } from './context.ts';

const stepAt = (point: HookPoint): string => `Hooks:${point}`;

/** The step that runs the hooks of one point. */
export const hooksAt = (point: HookPoint): Step<StepContext> => ({
  name: stepAt(point),
  refusedReason: EVENT_REASONS.terminationHookFailed,
  timeoutTime: context => nextTimeout(hooksOf(context, point), context.record().hooks),
  run: context => runPoint(context, point),
});

const hooksOf = ({ settings }: StepContext, point: HookPoint): readonly TerminationHook[] =>
  settings?.hooks.filter(({ at }) => at === point) ?? [];

/** Runs the hooks of one point. @param isEnding of an instance that no NodeClaim has, once that was looked at */
async function runPoint(context: StepContext, point: HookPoint, isEnding?: boolean): Promise<StepOutcome> {
  const { observed, isForced, hookOwner: owner } = context;
  const hooks = hooksOf(context, point);
  const ownership = ownershipOf(observed);
  const record = context.record();
  const effect = nextAtPoint({
    point,
    hooks,
    record,
    owner,
    isForced,
    ownership,
    karpenter: karpenterPresence(context),
    isEnding,
  });
  switch (effect.kind) {
    case 'done':
      return stepDone;
    case 'wait':
      return waitFor(effect.on, safetyLook(context));
    case 'lookAtInstance':
      return await runPoint(context, point, await isInstanceEnding(context, stepAt(point)));
    case 'call': {
      for (const hook of effect.hooks) {
        const outcome = await runHook(context, hook, effect.mode);
        if (outcome.kind !== 'done') return outcome;
      }
      // Also of a run that called an unawaited hook and died before it said so. Said before it is noted down (I9).
      const news = unawaitedNews(point, hooks, context.record());
      if (news === undefined) return stepDone;
      await reportUnawaitedHooks(context, point, news);
      const { reportedHookPoints = [] } = context.record();
      await context.saveRecord({ reportedHookPoints: [...reportedHookPoints, point] });
      return stepDone;
    }
  }
}

function karpenterPresence(context: StepContext): KarpenterPresence {
  const { claim, termination } = context.observed;
  if (claim === undefined) return 'none';
  if (isKarpenters(claim)) return 'here';
  const isReplaced =
    termination.kind === 'custom' && termination.settings.builtin === 'Replace' && !isReplaceReported(claim);
  return isReplaced || context.record().instance !== undefined ? 'none' : 'mayHaveGone';
}

const callId = ({ name }: TerminationHook, { attempts }: HookProgress): string => `${name}/${attempts}`;

interface KnownHook {
  /** Progress of the hook as it was set out, where another run may have written the record. */
  readonly progress: HookProgress;
  /** The custom resource is unchanged. */
  readonly isLookedAt?: boolean;
}

/** Asks the rule what is next, and does that. */
async function runHook(
  context: StepContext,
  hook: TerminationHook,
  mode: HookObservation['mode'],
  known?: KnownHook,
): Promise<StepOutcome> {
  const { now, deps, run } = context;
  const { hooks } = context.record();
  const { progress = progressOf(hooks, hook.name), isLookedAt = false } = known ?? {};
  const isOwn = progress !== undefined && run.ownHooks.has(callId(hook, progress));
  const effect = nextForHook({ now, hook, mode, progress, isOwn, isLookedAt, hooks });
  switch (effect.kind) {
    case 'done':
      return stepDone;
    case 'wait':
      return waitFor(effect.on, effect.until);
    case 'recordCall':
      if (await saveProgress(context, hook, effect.progress)) run.ownHooks.add(callId(hook, effect.progress));
      return lookAgain(`the call of hook ${hook.name} was noted down`);
    case 'call': {
      run.ownHooks.delete(callId(hook, effect.progress));
      const answer = await callFor(context, hook, effect.progress, effect.within);
      if (effect.within === undefined) return await saveAnswer(context, hook, effect.progress, answer);
      await saveProgress(context, hook, afterAnswer(effect.progress, answer, deps.clock.now()));
      return lookAgain(`hook ${hook.name} was called`);
    }
    case 'look': {
      const answer = await orUnavailable(followResource(context, { ...hook, target: effect.target }, effect.resource));
      // At the end of its time a hook is decided without what cannot be read.
      if (answer.kind === 'unavailable' && effect.isLast !== true) throw answer.error;
      const isSame = answer.kind === 'pending' && answer.resource?.seenVersion === effect.resource.seenVersion;
      // What ran out of time has only one thing left to say.
      const isNew = effect.progress.phase === 'timedOut' ? answer.kind === 'succeeded' : !isSame;
      if (answer.kind !== 'unavailable' && isNew) return await saveAnswer(context, hook, effect.progress, answer);
      return effect.isLast === true
        ? await runHook(context, hook, mode, { progress: effect.progress, isLookedAt: true })
        : waitFor(effect.on, effect.until);
    }
    case 'timeOut':
      await reportOnAll(context, {
        decision: 'hookTimedOut',
        reason: EVENT_REASONS.terminationHookFailed,
        message: effect.message,
        details: { hook: hook.name, onTimeout: hook.onTimeout, attempts: effect.progress.attempts },
        metric: { name: TERMINATION_METRICS.hookTimedOut, dimensions: { onTimeout: hook.onTimeout } },
        event: { type: 'Warning' },
      });
      await saveProgress(context, hook, effect.progress);
      return await runHook(context, hook, mode, { progress: effect.progress });
    case 'noteLate':
    case 'giveUp':
      run.ownHooks.delete(callId(hook, effect.progress));
      await saveProgress(context, hook, effect.progress);
      return await runHook(context, hook, mode, { progress: effect.progress });
    case 'force':
      await context.saveRecord({ deadline: { time: now, source: `hook ${hook.name}` } });
      return lookAgain(effect.because);
  }
}

const saveProgress = (context: StepContext, { name }: TerminationHook, progress: HookProgress) =>
  context.saveRecord({ hooks: { ...context.record().hooks, [name]: progress } });

/** Stores the answer to a hook that is waited for, reports it, and goes on from there. */
async function saveAnswer(
  context: StepContext,
  hook: TerminationHook,
  before: HookProgress,
  answer: ResourceAnswer,
): Promise<StepOutcome> {
  const progress = afterAnswer(before, answer, context.now);
  if (!(await saveProgress(context, hook, progress))) {
    // Its worker may have answered already: both answers count in the next turn.
    context.run.answers.set(hook.name, answer);
    return lookAgain(`hook ${hook.name} changed`);
  }
  await reportHook(context, hook.name, progress, before);
  return await runHook(context, hook, 'awaited', { progress });
}

/** Calls the hook; a call that is refused, or whose outcome is not known, is a failure. @param within nobody waits for the work, and the call takes this long at most */
async function callFor(
  context: StepContext,
  hook: TerminationHook,
  progress: HookProgressIn<'intended'>,
  within?: DurationMs,
): Promise<ResourceAnswer> {
  const { target } = hook;
  const answer = await orUnavailable(
    target.kind === 'customResource'
      ? makeHookResource(context, { ...hook, target }, progress)
      : invoke(context, hook, progress, within),
  );
  return answer.kind === 'unavailable' ? { kind: 'failed', message: answer.error.message } : answer;
}

async function invoke(
  context: StepContext,
  hook: TerminationHook,
  progress: HookProgressIn<'intended'>,
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
