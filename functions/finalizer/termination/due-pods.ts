/**
 * Deletes pods that are due while a step before the drain is waited for. A pod goes at the deadline minus its own grace period, so that it is
 * gone in time: a hook that works for hours, or never ends, must not cost it its grace. Until then pods stay, as the order of steps says.
 */
import { loadPodsOnNode } from '../../../shared/cluster/protected-pods.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { Deadline } from '../../../shared/domain/termination.ts';
import { earliest, type EpochMs } from '../../../shared/domain/time.ts';
import type { StepsOutcome } from './steps.ts';
import { remainingAfter } from '../../../shared/pods/drain-pods.ts';
import { planDrain } from './rule/drain-plan.ts';
import { terminatingNodes, type StepContext } from './context.ts';
import { deleteObjects, nodesOfClaim } from './delete-objects.ts';
import { carryOutSteps, drainNodes } from './drain.ts';
import { hooksAt } from './hooks.ts';
import { isLive } from './rule/objects.ts';
import { isInstanceKnownMissing } from './missing-instance.ts';
import { storedOrEmpty, type ObservedTermination } from './observe.ts';
import { awaitOtherClaim } from './other-claims.ts';
import { openRecordWriter, openStepContext } from './record-writer.ts';
import { taintNodes } from './taint.ts';

/** Steps during which the drain has not been carried out. */
const BEFORE_DRAIN: readonly string[] = [
  awaitOtherClaim.name,
  deleteObjects.name,
  taintNodes.name,
  hooksAt('before-drain').name,
];

/**
 * Deletes the pods that must go by now. Answers when the next one must; undefined: none, or the drain deletes it.
 *
 * @param outcome of the steps; undefined: one of them failed
 */
export async function deleteDuePods(context: StepContext, outcome?: StepsOutcome): Promise<EpochMs | undefined> {
  const { deadline, now, isForced, deps } = context;
  if (deadline === undefined || isForced || outcome?.kind === 'done') return undefined;
  if (outcome !== undefined && !isBeforeDrain(outcome)) return undefined;
  if (await isInstanceKnownMissing(context)) return undefined;
  let next: EpochMs | undefined;
  for (const node of await nodesToEmpty(context)) {
    const pods = await loadPodsOnNode(deps, node.metadata.name);
    const { steps, nextForcedDeletion } = planDrain({
      now,
      pods,
      deadline: deadline.time,
      protection: context.observed.protection.policy,
    });
    const due = steps.filter(({ kind }) => kind === 'delete');
    const { results } = await carryOutSteps(context, node, due);
    next = [nextForcedDeletion, remainingAfter(0, results, now).retryTime].reduce(earliest, next);
  }
  return next;
}

/** Whether the drain has deleted nothing in this turn: a step before it waits, or it failed itself. */
const isBeforeDrain = ({ kind, step }: Exclude<StepsOutcome, { kind: 'done' }>): boolean =>
  BEFORE_DRAIN.includes(step) || (kind === 'failed' && step === drainNodes.name);

/** Deletes the pods that must go by now in a turn that runs no steps. @returns the time when the next one must */
export async function deleteDuePodsAlone(
  context: Pick<StepContext, 'deps' | 'reporter' | 'run'>,
  deadline: Deadline | undefined,
  observed: ObservedTermination,
): Promise<EpochMs | undefined> {
  const { finalizerNames } = storedOrEmpty(observed);
  const turn = { observed, deadline, isForced: false, finalizerNames };
  return await deleteDuePods(openStepContext(context, turn, openRecordWriter(observed, context.run)));
}

/** Deletes them in such a turn, and arms the record for the next ones. */
export async function armForDuePods(
  context: Pick<StepContext, 'deps' | 'reporter' | 'run'>,
  deadline: Deadline | undefined,
  observed: ObservedTermination,
): Promise<void> {
  const next = earliest(await deleteDuePodsAlone(context, deadline, observed), deadline?.time);
  const writer = openRecordWriter(observed, context.run);
  if (next !== undefined) await writer.save(writer.value(), next);
}

/** The Nodes that go, with those that are still to be deleted: at the deadline their instance ends, also where they cannot be. */
async function nodesToEmpty(context: StepContext): Promise<readonly KubernetesObject[]> {
  const { claim, sharedWith, endedWith } = context.observed;
  if (endedWith !== undefined) return endedWith.nodes.filter(each => !isLive(each));
  const isFollowed = claim !== undefined && !isLive(claim) && sharedWith.length === 0;
  return isFollowed ? await nodesOfClaim(context) : terminatingNodes(context);
}
