/**
 * Terminate: the NodeClaim is deleted, its deadline first, by which its pods must have left; without a NodeClaim the node's Auto Scaling group replaces
 * the instance, whose desired capacity stays as it is.
 */
import { type Action, type ActionContext, type ActionDeps, callInstance, TAKEN } from './action.ts';
import { openReplacement } from './replace.ts';
import { endsBy } from './attempt.ts';
import type { Ours } from './record.ts';
import { KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { addDuration, parseTimestamp, seconds } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { StepOutcome } from '../../shared/lifecycle/steps.ts';

export const terminate: Action<'Terminate'> = async context => {
  const { deps, attempt, now } = context;
  const { node } = attempt.replacement ?? {};
  // The point of no return: pods may come to the replacement.
  const isShut = node === undefined ? undefined : await openReplacement(deps, node);
  if (isShut !== undefined) return { kind: 'notYet', until: addDuration(now, seconds(1)), on: isShut };
  return context.claim === undefined
    ? callInstance(context, (instances, providerID) => instances.terminateInAutoScalingGroup(providerID))
    : deleteClaim(context, context.claim);
};

/**
 * The first write has the version that was judged as its precondition: a veto, a deadline or a deletion that came since is not passed
 * over, nor is any other change. A NodeClaim that is gone by now is as good as deleted.
 */
async function deleteClaim(
  { deps, attempt, now }: ActionContext<'Terminate'>,
  claim: NodeClaimView,
): Promise<StepOutcome> {
  const { kubernetes } = deps;
  const { name, uid, resourceVersion } = claim;
  const ref = { type: RESOURCES.NodeClaim, name };
  const changed = (message: string): StepOutcome => ({
    kind: 'notYet',
    until: addDuration(now, seconds(1)),
    on: message,
  });
  const { terminationTimestamp: wanted } = attempt;
  const deadline = wanted === undefined ? undefined : parseTimestamp(wanted);
  const isSet = deadline === undefined || endsBy(claim, deadline);
  if (!isSet) {
    const annotations = { [KARPENTER.terminationTimestampAnnotation]: wanted };
    const patch = { type: 'merge' as const, body: { metadata: { uid, resourceVersion, annotations } } };
    const outcome = await kubernetes.patch(ref, patch);
    if (outcome.kind === 'conflict') return changed(outcome.message);
  }
  if (claim.deletionTime !== undefined) return TAKEN;
  const outcome = await kubernetes.delete(ref, { preconditions: isSet ? { uid, resourceVersion } : { uid } });
  return outcome.kind === 'conflict' ? changed(outcome.message) : TAKEN;
}

/**
 * I7: takes back the annotation of an attempt that was not carried out, if it is still ours: what stood there before comes back. Takes
 * no more permission than to set it.
 *
 * @param live the NodeClaim as it was read since; undefined: it is gone
 */
export async function takeBackAnnotation(
  { kubernetes }: Pick<ActionDeps, 'kubernetes'>,
  { claim, set, previous }: NonNullable<Ours['annotation']>,
  live: NodeClaimView | undefined,
): Promise<void> {
  if (live?.uid !== claim.uid || live.deletionTime !== undefined) return;
  const key = KARPENTER.terminationTimestampAnnotation;
  if (live.annotations[key] !== set) return;
  const { uid, resourceVersion } = live;
  const body = { metadata: { uid, resourceVersion, annotations: { [key]: previous ?? null } } };
  const outcome = await kubernetes.patch({ type: RESOURCES.NodeClaim, name: claim.name }, { type: 'merge', body });
  if (outcome.kind === 'conflict') throw new RetryableError(`taking back the annotation: ${outcome.message}`);
}
