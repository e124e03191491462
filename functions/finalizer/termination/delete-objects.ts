/**
 * Deletes the other of NodeClaim and Node when one was deleted, as Karpenter does. A Node gets our finalizer before it is deleted: without one
 * it would be gone with its pods before anybody drains it.
 */
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { Step, StepOutcome } from './steps.ts';
import { setFinalizers } from './finalizers.ts';
import { nextDeletion } from './decide.ts';
import { isLive, toTerminatedClaim, toTerminatedObject } from './rule/objects.ts';
import { claimAndNodes, lookAgainAfter, stepDone, type StepContext } from './context.ts';

export const deleteObjects: Step<StepContext> = {
  name: 'DeleteObjects',
  role: 'deletion',
  async run(context) {
    const { finalizerNames, settings } = context;
    const { claim, nodes, sharedWith } = context.observed;
    const next = nextDeletion({
      claim: claim && toTerminatedClaim(claim),
      nodes: nodes.map(toTerminatedObject),
      isShared: sharedWith.length > 0,
      finalizerNames,
      settings,
    });
    if (next.kind === 'done') return stepDone;
    const source = claimAndNodes(context).find(({ metadata }) => metadata.uid === next.object.uid);
    if (source === undefined) return stepDone;
    return next.kind === 'delete'
      ? await deleteObject(context, source)
      : await addNodeFinalizer(context, source, next.finalizerName);
  },
};

/**
 * Deletes a NodeClaim that no finalizer of ours or Karpenter's holds (scope NodeOnly), once its instance has ended: before that it would be gone
 * at once, and nobody would end its instance.
 */
export const deleteClaimWithoutFinalizer: Step<StepContext> = {
  name: 'DeleteNodeClaim',
  role: 'end',
  async run(context) {
    const { claim, sharedWith } = context.observed;
    if (claim === undefined || sharedWith.length > 0 || !isLive(claim)) return stepDone;
    return await deleteObject(context, claim);
  },
};

/** Deletes the object in the version that was looked at: nothing is deleted twice (I4), nor if it changed in between. */
async function deleteObject(context: StepContext, object: KubernetesObject): Promise<StepOutcome> {
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
  context: StepContext,
  node: KubernetesObject,
  finalizerName: string,
): Promise<StepOutcome> {
  const { name, finalizers = [] } = node.metadata;
  const outcome = await setFinalizers(context.deps, node, [...finalizers, finalizerName], finalizerName);
  return lookAgainAfter(context, outcome, `Node ${name} got the finalizer`);
}
