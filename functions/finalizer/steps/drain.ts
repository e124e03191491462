/**
 * Empties the Nodes: protection first, then PodDisruptionBudgets, group by group (I2); at the deadline whatever is left. What may go
 * is the plan's; here are the calls, what is said of them, and until when the step waits.
 */
import { isDeepStrictEqual } from 'node:util';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { DEFAULT_GRACE_PERIOD, stuckTime } from '../../../shared/domain/drainable-pod.ts';
import { planDrain, type DrainPlan } from '../drain-plan.ts';
import { isTerminating, type PodView } from '../../../shared/domain/pod.ts';
import {
  addDuration,
  earliest,
  isDue,
  seconds,
  toDurationMs,
  toTimestamp,
  type EpochMs,
} from '../../../shared/domain/time.ts';
import type { About } from '../../../shared/lifecycle/reporter.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import { fewAtATime, oneByOne } from '../../../shared/cluster/in-parallel.ts';
import { loadPodsOnNode } from '../../../shared/cluster/protected-pods.ts';
import { carryOutDrain, type PodOutcome } from '../drain-pass.ts';
import {
  evictionRetryDelay,
  heldAfter,
  REFUSALS_COUNTED,
  type HeldEvictions,
  type UnansweredPod,
} from '../../../shared/pods/eviction.ts';
import { leaving, safetyLook, stepDone, waitFor, type TerminationContext } from './context.ts';

export const drainNodes = {
  name: 'Drain',
  async run(context: TerminationContext): Promise<StepOutcome> {
    let until: EpochMs | undefined;
    let held: HeldEvictions = {};
    const waits: string[] = [];
    await oneByOne(leaving(context), async node => {
      const pods = await loadPodsOnNode(context.deps, node.metadata.name);
      const plan = planDrain({
        now: context.now,
        pods,
        deadline: context.deadline?.time,
        protection: context.look.protection.policy,
      });
      const before = context.progress().heldEvictions;
      const outcomes = await carryOutDrain(context.deps, plan, before);
      const evictions = outcomes.flatMap(({ step, answer }) =>
        step.kind === 'evict' ? [{ uid: step.pod.uid, answer }] : [],
      );
      held = { ...held, ...heldAfter(before, evictions, context.now) };
      await fewAtATime(outcomes, outcome => reportPod(context, outcome));
      if (context.forced) await fewAtATime(outcomes, outcome => sayDenied(context, outcome));
      if (isDrained(context, plan, outcomes)) return;
      const retry = await countRefusals(context, outcomes);
      waits.push(describeWait(plan, outcomes, context.progress().refusedEvictions));
      until = earliest(until, earliest(plan.nextLook, earliest(retry, stuckAfter(context, outcomes))));
    });
    if (!isDeepStrictEqual(held, context.progress().heldEvictions ?? {}))
      await context.remember({ heldEvictions: held });
    if (waits.length === 0) {
      if (context.progress().refusedEvictions > 0) await context.remember({ refusedEvictions: 0 });
      return stepDone;
    }
    // Pods that go, and budgets that open, wake the termination by their events.
    return waitFor(waits.join('; '), earliest(until, safetyLook(context)) ?? safetyLook(context));
  },
};

/**
 * Past the deadline nobody is waited for but those who were just given the least grace: their kubelet stops them, or the end of the
 * instance does, as it does those whose deletion is refused or fails, or finds no such pod although it is listed.
 */
function isDrained({ forced, now }: TerminationContext, plan: DrainPlan, outcomes: readonly PodOutcome[]): boolean {
  if (plan.drained) return true;
  if (!forced || outcomes.some(({ answer }) => answer.kind === 'deleted')) return false;
  const unawaited = new Set(
    outcomes.flatMap(({ step, answer }) => (isUnanswered(answer) || answer.kind === 'gone' ? [step.pod.uid] : [])),
  );
  return plan.steps.every(
    ({ pod }) => unawaited.has(pod.uid) || (pod.deletionTime !== undefined && isDue(now, pod.deletionTime)),
  );
}

const isUnanswered = (answer: PodOutcome['answer']): answer is UnansweredPod =>
  answer.kind === 'refused' || answer.kind === 'failed';

/** When the first of the pods that were just evicted counts as stuck: nothing else tells when one does not go. */
function stuckAfter({ now }: TerminationContext, outcomes: readonly PodOutcome[]): EpochMs | undefined {
  let first: EpochMs | undefined;
  for (const { step, answer } of outcomes) {
    if (answer.kind !== 'evicted') continue;
    const grace = step.pod.terminationGracePeriod ?? DEFAULT_GRACE_PERIOD;
    // The API server rounds a deletion to seconds.
    first = earliest(first, stuckTime({ deletionTime: addDuration(addDuration(now, grace), seconds(1)) }));
  }
  return first;
}

/** A pod that changes between look and eviction is looked at again at once; the second time in a row it waits as a refused one does. */
async function countRefusals(
  context: TerminationContext,
  outcomes: readonly PodOutcome[],
): Promise<EpochMs | undefined> {
  const refused = outcomes.filter(({ answer }) => answer.kind === 'blocked' || isUnanswered(answer));
  const changed = outcomes.some(({ answer }) => answer.kind === 'changed');
  const before = context.progress().refusedEvictions;
  const isCounted = changed || refused.some(({ answer }) => !('isHeld' in answer));
  const failures = refused.length === 0 && !changed ? 0 : Math.min(before + (isCounted ? 1 : 0), REFUSALS_COUNTED);
  if (failures !== before) await context.remember({ refusedEvictions: failures });
  if (changed && failures === 1) return context.now;
  if (failures === 0) return undefined;
  const asked = refused.map(({ answer }) =>
    answer.kind === 'blocked' || answer.kind === 'failed' ? (answer.retryAfter ?? 0) : 0,
  );
  const longest = toDurationMs(Math.max(0, ...asked));
  return addDuration(context.now, isCounted ? evictionRetryDelay(failures, longest) : longest);
}

/** Fewer conflicts in a row are nothing to tell anybody about. */
const CONFLICTS_SAID = 5;

/** In words that stay the same while nothing changes, so that they are said once. @param failures looks in a row with a refusal */
function describeWait({ steps }: DrainPlan, outcomes: readonly PodOutcome[], failures: number): string {
  const refusals = outcomes.flatMap(({ step, answer }) => {
    if (answer.kind === 'blocked' || isUnanswered(answer)) return [`${nameOf(step.pod)}: ${answer.message}`];
    const isKept = answer.kind === 'changed' && failures >= CONFLICTS_SAID;
    return isKept ? [`${nameOf(step.pod)}: each eviction ends in a conflict`] : [];
  });
  const held = steps.flatMap(step =>
    step.kind === 'wait' && step.because === 'Protected'
      ? [`${nameOf(step.pod)} is protected${step.until === undefined ? '' : ` until ${toTimestamp(step.until)}`}`]
      : [],
  );
  const reasons = [...held, ...refusals];
  if (reasons.length > 0) return `pods are left that must not go: ${listed(reasons)}`;
  return `pods are stopping: ${listed(steps.map(({ pod }) => nameOf(pod)))}`;
}

const LISTED_MAX = 5;

function listed(items: readonly string[]): string {
  const more = items.length - LISTED_MAX;
  return `${items.slice(0, LISTED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const nameOf = ({ namespace, name }: PodView): string => `${namespace}/${name}`;

/** Where no wait of the drain says it: on the Pod, that it is left. */
export async function sayDenied({ reporter }: TerminationContext, { step, answer }: PodOutcome): Promise<void> {
  if (step.kind !== 'force' || !isUnanswered(answer)) return;
  const { name, namespace, uid } = step.pod;
  await reporter.report({
    about: { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid } },
    decision: 'wait',
    reason: EVENT_REASONS.failedDraining,
    message: `it is not deleted by the deadline of its node: ${answer.message}`,
    isRepeated: true,
    event: { type: 'Warning' },
  });
}

/** Says what was done to one pod. */
export async function reportPod(
  { reporter, look, deadline }: TerminationContext,
  { step, answer }: PodOutcome,
): Promise<void> {
  const { pod } = step;
  const { name, namespace, uid } = pod;
  const about: About = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid } };
  const node = pod.nodeName ?? look.object.metadata.name;
  if (step.kind === 'evict' && answer.kind === 'evicted') {
    await reporter.report({
      about,
      decision: 'evict',
      reason: EVENT_REASONS.evicted,
      message: `evicted: node ${node} is terminated`,
      details: { node, group: step.group },
      metric: { name: 'PodEviction', dimensions: { answer: answer.kind } },
      event: { type: 'Normal' },
    });
  }
  if (step.kind !== 'force' || answer.kind !== 'deleted') return;
  const end = deadline === undefined ? '' : ` its deadline ${toTimestamp(deadline.time)} (${deadline.source})`;
  const overrides = step.overrides?.kind ?? 'none';
  await reporter.report({
    about,
    decision: 'forceDelete',
    reason: EVENT_REASONS.disrupted,
    message: `${isTerminating(pod) ? 'its grace is shortened to' : 'deleted with a grace of'} ${step.gracePeriodSeconds} s: node ${node} is terminated and must be gone by${end}`,
    details: { node, gracePeriodSeconds: step.gracePeriodSeconds, overriddenProtection: overrides },
    metric: { name: 'PodForcedDeletion' },
    event: { type: 'Normal' },
  });
}
