/**
 * What is done to the machine. Terminate: the NodeClaim is deleted forcefully, its deadline annotation first; without a NodeClaim the
 * node's Auto Scaling group replaces the instance, whose desired capacity stays as it is. Reboot: EC2 restarts the machine. That it
 * did shows in the Node's boot ID; that it helped, in its conditions.
 */
import { KARPENTER } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { addDuration, seconds } from '../../../shared/domain/time.ts';
import { messageOf, RetryableError, TerminalError } from '../../../shared/errors.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import type { InstanceOutcome, Instances } from '../../../shared/ports/instances.ts';
import { holdsPastInstant } from '../decide.ts';
import type { RepairAttempt } from '../pass/pool.ts';
import { TAKEN, type Action, type ActionContext, type ActionDeps } from './action.ts';

export const terminate: Action = {
  name: 'Terminate',
  run: context =>
    context.claim === undefined
      ? callInstance(context, (instances, providerID) => instances.terminateInAutoScalingGroup(providerID))
      : deleteClaim(context, context.claim),
};

/**
 * The first write has the version that was judged as its precondition: a veto, a deadline or a deletion that came since is not passed
 * over, nor is any other change. A NodeClaim that is gone by now is as good as deleted.
 */
async function deleteClaim({ deps, attempt, now }: ActionContext, claim: NodeClaimView): Promise<StepOutcome> {
  const { kubernetes } = deps;
  const { name, uid, resourceVersion } = claim;
  const ref = { type: RESOURCES.NodeClaim, name };
  const changed = (message: string): StepOutcome => ({
    kind: 'notYet',
    until: addDuration(now, seconds(1)),
    on: message,
  });
  const isForceful = holdsPastInstant(claim, now);
  if (!isForceful) {
    const annotations = { [KARPENTER.terminationTimestampAnnotation]: attempt.terminationTimestamp ?? null };
    const patch = { type: 'merge' as const, body: { metadata: { uid, resourceVersion, annotations } } };
    const outcome = await kubernetes.patch(ref, patch);
    if (outcome.kind === 'conflict') return changed(outcome.message);
  }
  if (claim.deletionTime !== undefined) return TAKEN;
  const outcome = await kubernetes.delete(ref, { preconditions: isForceful ? { uid, resourceVersion } : { uid } });
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
  { claim, terminationTimestamp, previousTimestamp }: RepairAttempt,
  live: NodeClaimView | undefined,
): Promise<void> {
  if (terminationTimestamp === undefined || claim === undefined) return;
  if (live?.uid !== claim.uid || live.deletionTime !== undefined) return;
  const key = KARPENTER.terminationTimestampAnnotation;
  if (live.annotations[key] !== terminationTimestamp) return;
  const { uid, resourceVersion } = live;
  const body = { metadata: { uid, resourceVersion, annotations: { [key]: previousTimestamp ?? null } } };
  const outcome = await kubernetes.patch({ type: RESOURCES.NodeClaim, name: claim.name }, { type: 'merge', body });
  if (outcome.kind === 'conflict') throw new RetryableError(`taking back the annotation: ${outcome.message}`);
}

export const reboot: Action = {
  name: 'Reboot',
  run: context => callInstance(context, (instances, providerID) => instances.reboot(providerID)),
};

/** What was certainly not done is tried again after 5 s, 10 s, 20 s …, at most a minute. */
const FIRST_RETRY_SECONDS = 5;
const LAST_RETRY_SECONDS = 60;

async function callInstance(
  { deps, now, node, attempt }: ActionContext,
  call: (instances: Instances, providerID: string) => Promise<InstanceOutcome>,
): Promise<StepOutcome> {
  const { providerID } = node;
  if (providerID === undefined) {
    return { kind: 'failed', reason: 'NoInstance', message: `Node ${node.name} has no providerID` };
  }
  try {
    const outcome = await call(deps.instances, providerID);
    switch (outcome.kind) {
      case 'ok':
        return TAKEN;
      case 'notFound':
        return { kind: 'failed', reason: 'InstanceNotFound', message: `there is no instance ${providerID}` };
      case 'refused':
        return { kind: 'failed', reason: outcome.reason, message: outcome.message };
    }
  } catch (error) {
    if (error instanceof TerminalError) return { kind: 'failed', reason: error.reason, message: error.message };
    // What may have taken effect is never repeated.
    if (!(error instanceof RetryableError) || error.outcomeUnknown) throw error;
    const delay = Math.min(FIRST_RETRY_SECONDS * 2 ** Math.min(attempt.number - 1, 10), LAST_RETRY_SECONDS);
    return { kind: 'notYet', until: addDuration(now, seconds(delay)), on: messageOf(error) };
  }
}
