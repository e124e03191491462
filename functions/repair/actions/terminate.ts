/**
 * Terminate: the NodeClaim is deleted forcefully, its deadline annotation first. Without a NodeClaim the node's Auto Scaling group
 * replaces the instance: terminated in the group, whose desired capacity stays as it is.
 */
import { KARPENTER } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { addDuration, seconds } from '../../../shared/domain/time.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import { holdsPastInstant } from '../decide.ts';
import type { RepairAttempt } from '../pass/pool.ts';
import { TAKEN, type Action, type ActionContext, type ActionDeps } from './action.ts';
import { callInstance } from './call-instance.ts';

export const terminate: Action = {
  name: 'Terminate',
  run: context =>
    context.claim === undefined
      ? callInstance(context, (instances, providerID) => instances.terminateInAutoScalingGroup(providerID))
      : deleteClaim(context, context.claim),
};

/** A NodeClaim that is gone by now is as good as deleted. */
async function deleteClaim(
  { deps, attempt, now }: ActionContext,
  claim: NonNullable<ActionContext['claim']>,
): Promise<StepOutcome> {
  const { kubernetes } = deps;
  const { name, uid } = claim;
  const ref = { type: RESOURCES.NodeClaim, name };
  const changed = (message: string): StepOutcome => ({
    kind: 'notYet',
    until: addDuration(now, seconds(1)),
    on: message,
  });
  if (!holdsPastInstant(claim, now)) {
    const annotations = { [KARPENTER.terminationTimestampAnnotation]: attempt.terminationTimestamp ?? null };
    const patch = { type: 'merge' as const, body: { metadata: { uid, annotations } } };
    const outcome = await kubernetes.patch(ref, patch);
    if (outcome.kind === 'conflict') return changed(outcome.message);
  }
  if (claim.deletionTime !== undefined) return TAKEN;
  const outcome = await kubernetes.delete(ref, { preconditions: { uid } });
  return outcome.kind === 'conflict' ? changed(outcome.message) : TAKEN;
}

/** I7: takes back the annotation of an attempt that was not carried out, if it is still ours: what stood there before comes back. */
export async function takeBackAnnotation(
  { kubernetes }: Pick<ActionDeps, 'kubernetes'>,
  { claim, terminationTimestamp, previousTimestamp }: RepairAttempt,
): Promise<void> {
  if (terminationTimestamp === undefined || claim === undefined) return;
  const ref = { type: RESOURCES.NodeClaim, name: claim.name };
  const live = await kubernetes.get(ref);
  if (live?.metadata.uid !== claim.uid || live.metadata.deletionTimestamp !== undefined) return;
  const key = KARPENTER.terminationTimestampAnnotation;
  if (live.metadata.annotations?.[key] !== terminationTimestamp) return;
  const { uid, resourceVersion } = live.metadata;
  const body = { metadata: { uid, resourceVersion, annotations: { [key]: previousTimestamp ?? null } } };
  const outcome = await kubernetes.patch(ref, { type: 'merge', body });
  if (outcome.kind === 'conflict') throw new RetryableError(`taking back the annotation: ${outcome.message}`);
}
