/**
 * Whichever of NodeClaim and Node was deleted, the other follows, as in Karpenter. A Node gets our finalizer
 * before it is deleted: without one it would be gone with its pods before anybody drains it.
 */
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { StepOutcome } from '../../../shared/lifecycle/steps.ts';
import { setFinalizers } from './finalizers.ts';
import { KARPENTER_FINALIZER } from './decide.ts';
import { isLive, isRegistered, toTerminatedObject } from './objects.ts';
import { lookAgainAfter, stepDone, type TerminationContext } from './context.ts';

export const deleteObjects = {
  name: 'DeleteObjects',
  async run(context: TerminationContext): Promise<StepOutcome> {
    const { claim, nodes, sharedWith } = context.observed;
    if (claim === undefined || sharedWith.length > 0) return stepDone;
    if (isLive(claim)) {
      const isHeld = isOurs(context, claim) || claim.metadata.finalizers?.includes(KARPENTER_FINALIZER) === true;
      return isHeld ? await deleteObject(context, claim) : stepDone;
    }
    if (!isRegistered(claim)) return stepDone;
    for (const node of nodes.filter(isLive)) {
      const waiting = await addNodeFinalizer(context, node, claim);
      if (waiting !== undefined) return waiting;
      return await deleteObject(context, node);
    }
    return stepDone;
  },
};

/**
 * A NodeClaim that no finalizer of ours or Karpenter's holds (scope NodeOnly) would be gone at once, and nobody would end its instance: it
 * is deleted when that has ended.
 */
export const deleteClaimWithoutFinalizer = {
  name: 'DeleteNodeClaim',
  async run(context: TerminationContext): Promise<StepOutcome> {
    const { claim, sharedWith } = context.observed;
    if (claim === undefined || sharedWith.length > 0 || !isLive(claim)) return stepDone;
    return await deleteObject(context, claim);
  },
};

const isOurs = ({ finalizerNames }: TerminationContext, { metadata: { finalizers = [] } }: KubernetesObject): boolean =>
  finalizers.some(name => finalizerNames.includes(name));

/** The version that was looked at is the precondition: nothing is deleted twice (I4), nor what changed in between. */
async function deleteObject(context: TerminationContext, object: KubernetesObject): Promise<StepOutcome> {
  const { kind, metadata } = object;
  const { name, uid, resourceVersion } = metadata;
  const type = kind === 'Node' ? RESOURCES.Node : RESOURCES.NodeClaim;
  const outcome = await context.deps.kubernetes.delete({ type, name }, { preconditions: { uid, resourceVersion } });
  // Here, for the steps that follow may fail for hours.
  if (outcome.kind === 'ok') {
    const message = 'deleted: it goes with the other of NodeClaim and Node';
    await context.reporter.report({ about: object, decision: 'delete', reason: 'DeletedTogether', message });
  }
  return lookAgainAfter(context, outcome, `${kind} ${name} was deleted`);
}

async function addNodeFinalizer(
  context: TerminationContext,
  node: KubernetesObject,
  claim: KubernetesObject,
): Promise<StepOutcome | undefined> {
  const { name, finalizers } = toTerminatedObject(node);
  const finalizerName = isOurs(context, node) ? undefined : finalizerToAdd(context, finalizers, claim);
  if (finalizerName === undefined) return undefined;
  const answer = await setFinalizers(context.deps, node, [...finalizers, finalizerName], finalizerName);
  const kind = answer === 'changed' ? 'conflict' : answer === 'gone' ? 'notFound' : 'ok';
  return lookAgainAfter(context, { kind }, `Node ${name} got the finalizer`);
}

/**
 * What is in force; where nothing asks for it any more, the one that still keeps the NodeClaim, for a deletion runs our steps then too
 * (I1, I2). A Node that Karpenter's keeps does not go before it is drained.
 */
function finalizerToAdd(
  { settings, finalizerNames }: TerminationContext,
  finalizers: readonly string[],
  claim: KubernetesObject,
): string | undefined {
  if (settings !== undefined && settings.scope !== 'None') return settings.finalizerName;
  if (finalizers.includes(KARPENTER_FINALIZER)) return undefined;
  return claim.metadata.finalizers?.find(name => finalizerNames.includes(name));
}
