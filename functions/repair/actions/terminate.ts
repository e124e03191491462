/**
 * Terminate: the NodeClaim gets its deadline, by which its pods must have left, and is deleted. A node without one is
 * ended in its Auto Scaling group, which replaces it: the desired capacity stays.
 */
import {
  type Action,
  type ActionContext,
  type ActionDeps,
  type ActionOutcome,
  callInstance,
  CHANGED,
  ACTED,
} from './action.ts';
import { openReplacement } from './replace.ts';
import { annotationOf, replacementOf } from '../node/rule/attempt.ts';
import type { InstanceTermination } from '../node/attempt-record.ts';
import type { RepairLeftovers } from '../node/record.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import {
  hasDeadlineBy,
  type NodeClaimView,
  TERMINATION_TIMESTAMP_ANNOTATION,
} from '../../../shared/domain/node-claim.ts';
import { addDuration, minutes, parseTimestamp } from '../../../shared/domain/time.ts';
import { changeExactly, throwConflict } from '../../../shared/ports/exact-change.ts';
import { orUnavailable } from '../../../shared/ports/read-answer.ts';

export const terminate: Action<'Terminate'> = async context => {
  const { deps, attempt, claim } = context;
  if (claim === undefined)
    return callInstance(context, (instances, providerID) => instances.terminateInAutoScalingGroup(providerID));
  const replacement = replacementOf(attempt);
  // The point of no return: pods may come to the replacement.
  const changed = replacement?.node === undefined ? undefined : await openReplacement(deps, replacement);
  return changed ?? deleteClaim(context, claim);
};

/**
 * Deletes the NodeClaim. Each write has the version before it as its precondition: a veto, a deadline, a deletion or
 * any other change that came since the NodeClaim was judged is not passed over. A NodeClaim that is gone by now was
 * ended by somebody else.
 */
async function deleteClaim(
  { deps, attempt }: ActionContext<'Terminate'>,
  claim: NodeClaimView,
): Promise<ActionOutcome> {
  const { kubernetes } = deps;
  const { name, uid } = claim;
  const ref = { type: RESOURCES.NodeClaim, name };
  let { resourceVersion } = claim;
  const wanted = annotationOf(attempt)?.set;
  const deadline = wanted === undefined ? undefined : parseTimestamp(wanted);
  const isMarked = deadline === undefined || hasDeadlineBy(claim, deadline);
  if (wanted !== undefined && !isMarked) {
    const annotations = { [TERMINATION_TIMESTAMP_ANNOTATION]: wanted };
    const outcome = await changeExactly(kubernetes, ref, claim, { annotations });
    if (outcome.kind !== 'ok') return CHANGED;
    ({ resourceVersion } = outcome.object.metadata);
  }
  // Somebody else has deleted it: without a deadline of ours, it ends without us.
  if (claim.deletionTime !== undefined) return isMarked ? CHANGED : ACTED;
  const outcome = await kubernetes.delete(ref, { preconditions: { uid, resourceVersion } });
  return outcome.kind === 'ok' ? ACTED : CHANGED;
}

/** EC2 is asked again after this long, if it did not say what became of an instance. */
const UNKNOWN_INSTANCE_CHECK = minutes(5);

/**
 * Asks EC2 about a termination in an Auto Scaling group whose run ended before it told. Answers a change of the
 * attempt; undefined: the termination has not begun.
 */
export async function askForEnd(
  { instances, clock }: Pick<ActionDeps, 'instances' | 'clock'>,
  attempt: InstanceTermination,
  providerID: string,
): Promise<InstanceTermination | undefined> {
  const instance = await orUnavailable(instances.describe(providerID));
  // Nobody knows, and nothing is repeated (I4): it is asked again, and the other repairs of the pool go on.
  if (instance !== undefined && 'kind' in instance)
    return { ...attempt, askTime: addDuration(clock.now(), UNKNOWN_INSTANCE_CHECK) };
  const isEnding = instance === undefined || instance.state === 'shutting-down' || instance.state === 'terminated';
  return isEnding ? { ...attempt, phase: 'accepted' } : undefined;
}

/**
 * Takes back the annotation of an attempt that was not carried out, if it is still ours: the value that stood there
 * before comes back (I7). This needs no more permission than to set it.
 *
 * @param live the NodeClaim as it was read since; undefined: it is gone
 */
export async function takeBackAnnotation(
  { kubernetes }: Pick<ActionDeps, 'kubernetes'>,
  { claim, set, previous }: NonNullable<RepairLeftovers['annotation']>,
  live: NodeClaimView | undefined,
): Promise<void> {
  if (live?.uid !== claim.uid || live.deletionTime !== undefined) return;
  const key = TERMINATION_TIMESTAMP_ANNOTATION;
  if (live.annotations[key] !== set) return;
  const ref = { type: RESOURCES.NodeClaim, name: claim.name };
  const outcome = await changeExactly(kubernetes, ref, live, { annotations: { [key]: previous ?? null } });
  throwConflict('taking back the annotation', outcome);
}
