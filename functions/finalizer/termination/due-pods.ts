/**
 * Deletes pods that are due while a step before the drain is waited for. A pod goes at the deadline minus its own grace period, so that it is
 * gone in time: a hook that works for hours, or holds, must not cost it its grace. Until then pods stay, as the order of steps says.
 */
import { loadPodsOnNode } from '../../../shared/cluster/protected-pods.ts';
import { earliest, type EpochMs } from '../../../shared/domain/time.ts';
import type { StepsOutcome } from './steps.ts';
import { remainingAfter } from '../../../shared/pods/drain-pods.ts';
import { planDrain } from './decide.ts';
import { terminatingNodes, type StepContext } from './context.ts';
import { deleteObjects } from './delete-objects.ts';
import { carryOutSteps } from './drain.ts';
import { hooksAt } from './hooks.ts';
import { isLive } from './rule/objects.ts';
import { isInstanceMissing } from './missing-instance.ts';
import { awaitOtherClaim } from './other-claims.ts';
import { taintNodes } from './taint.ts';

/** Steps during which the drain has not been asked. */
const BEFORE_DRAIN: readonly string[] = [
  awaitOtherClaim.name,
  deleteObjects.name,
  taintNodes.name,
  hooksAt('before-drain').name,
];

/** Deletes the pods that must go by now. Answers when the next one must; undefined: none, or the drain deletes it. */
export async function deleteDuePods(context: StepContext, outcome: StepsOutcome): Promise<EpochMs | undefined> {
  const { deadline, now, isForced, deps, observed } = context;
  if (deadline === undefined || isForced || outcome.kind === 'done' || !BEFORE_DRAIN.includes(outcome.step))
    return undefined;
  if (await isInstanceMissing(context)) return undefined;
  let next: EpochMs | undefined;
  for (const node of observed.endedWith?.nodes.filter(each => !isLive(each)) ?? terminatingNodes(context)) {
    const pods = await loadPodsOnNode(deps, node.metadata.name);
    const { steps, nextForcedDeletion } = planDrain({
      now,
      pods,
      deadline: deadline.time,
      protection: observed.protection.policy,
    });
    const due = steps.filter(({ kind }) => kind === 'delete');
    const { endedPods } = await carryOutSteps(context, node, due);
    next = [nextForcedDeletion, remainingAfter(0, endedPods, now).retryTime].reduce(earliest, next);
  }
  return next;
}
