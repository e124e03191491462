/**
 * Deletes the other of NodeClaim and Node when one was deleted, as Karpenter does. A Node gets our finalizer before it is deleted: without one
 * it would be gone with its pods before anybody drains it.
 */
import { oneByOne } from '../../../shared/cluster/in-parallel.ts';
import { loadPodsOnNode } from '../../../shared/cluster/protected-pods.ts';
import { KARPENTER } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { fieldsOf, listIn } from '../../../shared/domain/json.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { Step, StepOutcome } from './steps.ts';
import { setFinalizers } from './finalizers.ts';
import { nextDeletion } from './rule/deletion.ts';
import { planDrain } from './rule/drain-plan.ts';
import { isLive, isRegistered, toTerminatedClaim, toTerminatedObject } from './rule/objects.ts';
import { claimAndNodes, lookAgainAfter, stepDone, type StepContext } from './context.ts';

export const deleteObjects: Step<StepContext> = {
  name: 'DeleteObjects',
  role: 'deletion',
  async run(context) {
    const { finalizerNames, settings } = context;
    const { claim, sharedWith } = context.observed;
    const nodes = await nodesOfClaim(context);
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
 * The Nodes that go with their NodeClaim. As in Karpenter, one that has not registered leaves its Node alone: a taint keeps pods off it. A Node
 * without that taint may run pods all the same, and is emptied before its instance ends (I2).
 */
export async function nodesOfClaim({
  deps,
  now,
  deadline,
  observed,
}: StepContext): Promise<readonly KubernetesObject[]> {
  const { claim, nodes, protection } = observed;
  if (claim === undefined || isRegistered(claim)) return nodes;
  const objects: KubernetesObject[] = [];
  await oneByOne(nodes, async node => {
    if (isLive(node)) {
      if (listIn(node.spec, 'taints').map(fieldsOf).some(isUnregisteredTaint)) return;
      const pods = await loadPodsOnNode(deps, node.metadata.name);
      const plan = planDrain({ now, pods, deadline: deadline?.time, protection: protection.policy });
      if (plan.isDrained) return;
    }
    objects.push(node);
  });
  return objects;
}

const isUnregisteredTaint = ({ key, effect }: JsonObject): boolean =>
  key === KARPENTER.unregisteredTaint && effect === 'NoExecute';

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
