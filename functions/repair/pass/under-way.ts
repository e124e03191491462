/** Asks how the attempts under way fare, and takes back what is left of those that are over. */
import { inBatches } from '../../../shared/cluster/in-parallel.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { addDuration, isDue, type EpochMs } from '../../../shared/domain/time.ts';
import type { ActionDeps } from '../actions/action.ts';
import { deleteRemediations, remediationAnswer } from '../actions/custom-resource.ts';
import { cancelDrain } from '../actions/drain.ts';
import { takeBackAnnotation } from '../actions/terminate.ts';
import { OUTCOME_SETTLES_AFTER } from './attempts.ts';
import type { RepairAttempt } from './pool.ts';

/**
 * The attempts as they stand by what was looked up where Node and NodeClaim do not tell: the live answer before each pass.
 *
 * @param nodes of the cluster, as the pass sees them
 */
export async function inquire(
  deps: ActionDeps,
  attempts: readonly RepairAttempt[],
  nodes: readonly NodeView[],
  now: EpochMs,
): Promise<readonly RepairAttempt[]> {
  const known = new Map<RepairAttempt, RepairAttempt>();
  await inBatches(attempts, async attempt => {
    known.set(attempt, await inquireOne(deps, attempt, nodes, now));
  });
  return attempts.map(attempt => known.get(attempt) ?? attempt);
}

async function inquireOne(
  deps: ActionDeps,
  attempt: RepairAttempt,
  nodes: readonly NodeView[],
  now: EpochMs,
): Promise<RepairAttempt> {
  const { action, phase, claim, intendedTime } = attempt;
  if (action === 'CustomResource' && phase === 'accepted' && attempt.answer === undefined) {
    const answer = await remediationAnswer(deps, attempt);
    return answer === undefined ? attempt : { ...attempt, answer };
  }
  const isOpen = phase === 'intended' && isDue(now, addDuration(intendedTime, OUTCOME_SETTLES_AFTER));
  if (action !== 'Terminate' || claim !== undefined || !isOpen) return attempt;
  const providerID = nodes.find(({ uid }) => uid === attempt.node.uid)?.providerID;
  if (providerID === undefined) return attempt;
  const state = (await deps.instances.describe(providerID))?.state;
  const isEnding = state === undefined || state === 'shutting-down' || state === 'terminated';
  return isEnding ? { ...attempt, phase: 'accepted' } : { ...attempt, phase: 'refused', retryTime: now };
}

/** Takes back what is left of an attempt that was not carried out, or whose repair is over (I7). Doing it twice is doing it once. */
export async function withdraw(deps: ActionDeps, attempt: RepairAttempt): Promise<void> {
  const { phase, action, requestId } = attempt;
  if (phase !== 'observed') {
    if (action === 'Terminate') await takeBackAnnotation(deps, attempt);
    // A termination carries the id of the drain before it.
    if (action !== 'CustomResource' && requestId !== undefined) await cancelDrain(deps, attempt);
  }
  await deleteRemediations(deps, attempt);
}
