/**
 * Empties the Nodes: protection first, then PodDisruptionBudgets, group by group (I2); at the deadline whatever is left. The plan says which
 * pods may go, and the executor how; this file reports it, and says until when the step waits.
 */
import { isDeepStrictEqual } from 'node:util';
import { oneByOne } from '../../../shared/cluster/in-parallel.ts';
import { loadPodsOnNode } from '../../../shared/cluster/protected-pods.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { listed } from '../../../shared/domain/cut-text.ts';
import { stuckTime } from '../../../shared/domain/drainable-pod.ts';
import { qualifiedName, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { isTerminating, type PodView } from '../../../shared/domain/pod.ts';
import { earliest, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import type { Report } from '../../../shared/lifecycle/reporter.ts';
import type { Step } from './steps.ts';
import {
  describeBlockedPods,
  removePods,
  forgetPods,
  latestDeletionTime,
  askedEvictionsAfter,
  remainingAfter,
  withEvictionIntents,
  type PodRemovalResult,
  type AskedEvictions,
} from '../../../shared/pods/drain-pods.ts';
import { type DrainPlan, isDrained, planDrain, type PodStep } from './rule/drain-plan.ts';
import { terminatingNodes, lookAgain, safetyLook, stepDone, type StepContext } from './context.ts';
import { reportOnAll } from './report.ts';

type RemovalStep = Exclude<PodStep, { kind: 'wait' }>;
type RemovalResults = readonly PodRemovalResult<RemovalStep>[];

export const drainNodes: Step<StepContext> = {
  name: 'Drain',
  refusedReason: EVENT_REASONS.failedDraining,
  async run(context) {
    const drains: NodeDrain[] = [];
    await oneByOne(terminatingNodes(context), async node => {
      drains.push(await drainNode(context, node));
    });
    const ownDrains = drains.filter(drain => drain.kind !== 'others');
    if (ownDrains.length < drains.length) return lookAgain('another run tries the same evictions');
    const all = ownDrains.flatMap(({ pods }) => pods);
    forgetPods(context.run.backoff, context.record().refusals, all);
    const askedEvictions: AskedEvictions = Object.assign({}, ...ownDrains.map(drain => drain.askedEvictions));
    if (!isDeepStrictEqual(askedEvictions, context.record().askedEvictions ?? {}))
      await context.saveRecord({ askedEvictions });
    const waits = ownDrains.filter(drain => drain.kind === 'waits');
    if (waits.length === 0) {
      if (context.record().failedLooks > 0) await context.saveRecord({ failedLooks: 0 });
      return stepDone;
    }
    // Pods that go, and budgets that open, wake the termination by their events.
    const until = waits.reduce((least, wait) => earliest(least, wait.until), safetyLook(context));
    const on = waits.map(({ message }) => message).join('; ');
    return { kind: 'notYet', until, on, isBlocked: waits.some(({ isBlocked }) => isBlocked) };
  },
};

/** Result of a look at the pods of one Node. */
type NodeDrain =
  /** Another run tries the same evictions. */
  | { readonly kind: 'others' }
  | { readonly kind: 'drained'; readonly pods: readonly PodView[]; readonly askedEvictions: AskedEvictions }
  | {
      readonly kind: 'waits';
      readonly pods: readonly PodView[];
      readonly askedEvictions: AskedEvictions;
      readonly message: string;
      /** Some pods must not go. */
      readonly isBlocked: boolean;
      readonly until: EpochMs | undefined;
    };

async function drainNode(context: StepContext, node: KubernetesObject): Promise<NodeDrain> {
  const { deps, now, deadline, observed } = context;
  const pods = await loadPodsOnNode(deps, node.metadata.name);
  const plan = planDrain({ now, pods, deadline: deadline?.time, protection: observed.protection.policy });
  const { askedEvictions: storedEvictions = {} } = context.record();
  // To note first tries, too, would cost each termination a write for each round of its pods.
  const retriedSteps = plan.steps.filter(({ pod }) => storedEvictions[pod.uid] !== undefined);
  const intents = withEvictionIntents(storedEvictions, retriedSteps, now);
  if (intents !== storedEvictions && !(await context.saveRecord({ askedEvictions: intents })))
    return { kind: 'others' };
  const { results, isReportRepeated } = await carryOutSteps(context, node, plan.steps, storedEvictions);
  const askedEvictions = askedEvictionsAfter(storedEvictions, results, now);
  if (isDrained(plan, results, context)) return { kind: 'drained', pods, askedEvictions };
  const { failedLooks, texts, retriesAtOnce, retryTime } = remainingAfter(context.record().failedLooks, results, now);
  if (failedLooks !== context.record().failedLooks) await context.saveRecord({ failedLooks });
  const wait = waitOf(plan, texts);
  if (isReportRepeated) await reportAgain(context, wait.message);
  const times = [plan.nextLook, retriesAtOnce ? now : retryTime, firstStuckTime(context, results)];
  return { kind: 'waits', pods, askedEvictions, ...wait, until: times.reduce(earliest, undefined) };
}

/** Ends the pods of these steps. `isReportRepeated`: that an eviction is refused is to be said once more. @param askedEvictions before this run */
export async function carryOutSteps(
  context: StepContext,
  node: KubernetesObject,
  steps: readonly PodStep[],
  askedEvictions?: AskedEvictions,
): Promise<{ readonly results: RemovalResults; readonly isReportRepeated: boolean }> {
  const { deps, reporter, run, now, settings, deadline, isForced } = context;
  const { refusals } = context.record();
  let isReportRepeated = false;
  const results = await removePods(
    { ...deps, reporter },
    {
      removals: steps.filter(step => step.kind !== 'wait'),
      requiresUnchanged: false,
      askedEvictions,
      now,
      backoff: run.backoff,
      refusals,
      restsOn: [settings],
      deadline: deadline?.time,
      isLast: isForced,
      describe: step => describeRemoval(context, node, step),
      report: async (step, text, isRepeated) => {
        // The drain's own wait reports refused evictions.
        if (step.kind === 'delete') await reportNotDeleted(context, step.pod, text, isRepeated);
        else isReportRepeated ||= isRepeated;
      },
    },
  );
  return { results, isReportRepeated };
}

/** Time when the first of the pods that were just evicted counts as stuck: nothing else tells when one does not go. */
function firstStuckTime({ now }: StepContext, results: RemovalResults): EpochMs | undefined {
  return results
    .filter(({ answer }) => answer.kind === 'evicted')
    .map(({ removal }) => stuckTime({ deletionTime: latestDeletionTime(removal, now) }))
    .reduce(earliest, undefined);
}

/**
 * Words for the wait of a Node's drain. They stay the same while nothing changes, so that they are reported once. `isBlocked`: some pods must
 * not go.
 *
 * @param texts which evictions are refused, and why
 */
function waitOf(
  { steps }: DrainPlan,
  texts: readonly string[],
): { readonly message: string; readonly isBlocked: boolean } {
  const protectedPods = steps.flatMap(step => (step.kind === 'wait' && step.because === 'Protected' ? [step] : []));
  const blocked = describeBlockedPods(protectedPods, texts);
  if (blocked !== undefined) return { message: blocked, isBlocked: true };
  return { message: `pods are stopping: ${listed(steps.map(({ pod }) => qualifiedName(pod)))}`, isBlocked: false };
}

/** Records the Event of the wait again: the API server forgets Events after an hour. */
const reportAgain = (context: StepContext, message: string): Promise<void> =>
  reportOnAll(context, {
    decision: 'wait',
    reason: EVENT_REASONS.failedDraining,
    message,
    isRepeated: true,
    event: { type: 'Warning' },
  });

/** Reports on the Pod that it is not deleted, where no wait of the drain says it. */
function reportNotDeleted(
  { reporter }: StepContext,
  { name, namespace, uid }: PodView,
  text: string,
  isRepeated: boolean,
): Promise<void> {
  return reporter.report({
    about: { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid } },
    decision: 'wait',
    reason: EVENT_REASONS.failedDraining,
    message: `it is not deleted by the deadline of its node: ${text}`,
    isRepeated,
    event: { type: 'Warning' },
  });
}

/** Words the report of a pod that was evicted or deleted. */
function describeRemoval(
  { deadline }: StepContext,
  { metadata: { name: node } }: KubernetesObject,
  step: RemovalStep,
): Omit<Report, 'about' | 'reason' | 'metric'> {
  const event = { type: 'Normal' } as const;
  if (step.kind === 'evict') {
    const details = { node, group: step.group };
    return { decision: 'evict', message: `evicted: node ${node} is terminated`, details, event };
  }
  const { pod, gracePeriodSeconds, overriddenProtection } = step;
  const end = deadline === undefined ? '' : ` its deadline ${toTimestamp(deadline.time)} (${deadline.source})`;
  return {
    decision: 'forceDelete',
    message: `${isTerminating(pod) ? 'its grace is shortened to' : 'deleted with a grace of'} ${gracePeriodSeconds} s: node ${node} is terminated and must be gone by${end}`,
    details: { node, gracePeriodSeconds, overriddenProtection: overriddenProtection?.kind ?? 'none' },
    event,
  };
}
