/** Looks up how the attempts under way fare where Node and NodeClaim do not tell: the live answer before each pass. */
import { isDue, addDuration, type EpochMs } from '../../../shared/domain/time.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { inBatches } from '../pass/batches.ts';
import { OUTCOME_SETTLES_AFTER } from '../pass/attempts.ts';
import type { RepairAttempt } from '../pass/pool.ts';
import type { ActionDeps } from './action.ts';
import { remediationAnswer } from './custom-resource.ts';

type Deps = Pick<ActionDeps, 'kubernetes' | 'instances'>;

/** The attempts as they stand by what was looked up. @param nodes of the cluster, as the pass sees them */
export async function inquire(
  deps: Deps,
  attempts: readonly RepairAttempt[],
  nodes: readonly NodeView[],
  now: EpochMs,
): Promise<readonly RepairAttempt[]> {
  const known = new Map<RepairAttempt, RepairAttempt>();
  await inBatches(attempts.filter(asks(now)), async attempt => {
    const providerID = nodes.find(({ uid }) => uid === attempt.node.uid)?.providerID;
    known.set(attempt, await lookUp(deps, attempt, providerID, now));
  });
  return attempts.map(attempt => known.get(attempt) ?? attempt);
}

const asks =
  (now: EpochMs) =>
  ({ action, phase, answer, claim, intendedTime }: RepairAttempt): boolean => {
    if (action === 'CustomResource') return phase === 'accepted' && answer === undefined;
    const isSettled = isDue(now, addDuration(intendedTime, OUTCOME_SETTLES_AFTER));
    return action === 'Terminate' && claim === undefined && phase === 'intended' && isSettled;
  };

async function lookUp(
  deps: Deps,
  attempt: RepairAttempt,
  providerID: string | undefined,
  now: EpochMs,
): Promise<RepairAttempt> {
  if (attempt.action === 'CustomResource') {
    const answer = await remediationAnswer(deps, attempt);
    return answer === undefined ? attempt : { ...attempt, answer };
  }
  if (providerID === undefined) return attempt;
  const state = (await deps.instances.describe(providerID))?.state;
  const isEnding = state === undefined || state === 'shutting-down' || state === 'terminated';
  return isEnding ? { ...attempt, phase: 'accepted' } : { ...attempt, phase: 'refused', retryTime: now };
}
