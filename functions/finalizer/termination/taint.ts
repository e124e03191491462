/** Keeps new pods and new connections away from the Nodes, as Karpenter does, and asks the forwarder to publish their pods. */
import { OWNER } from '../common/context.ts';
import { oneByOne } from '../../../shared/cluster/in-parallel.ts';
import { isWatchedFor, withWaiter } from '../../../shared/cluster/pod-watchers.ts';
import { ANNOTATIONS } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { DISRUPTED_TAINT } from '../../../shared/domain/drainable-pod.ts';
import { fieldsOf, listIn } from '../../../shared/domain/json.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { StepOutcome } from './steps.ts';
import { isLive } from './rule/objects.ts';
import { changeExactly, type Change } from '../../../shared/ports/exact-change.ts';
import type { WriteOutcome } from '../../../shared/ports/kubernetes-api.ts';
import { lookAgainAfter, stepDone, type StepContext } from './context.ts';

const EXCLUDE_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';

export const taintNodes = {
  name: 'Taint',
  async run(context: StepContext): Promise<StepOutcome> {
    const { nodes } = context.observed;
    const writes: WriteOutcome[] = [];
    const leaves = nodes.filter(each => !isLive(each));
    await oneByOne(leaves, async node => {
      const change = disruption(node);
      if (change === undefined) return;
      const ref = { type: RESOURCES.Node, name: node.metadata.name };
      writes.push(await changeExactly(context.deps.kubernetes, ref, node.metadata, change));
    });
    const write = writes.find(({ kind }) => kind !== 'ok') ?? writes[0];
    return write === undefined ? stepDone : lookAgainAfter(context, write, 'Nodes were tainted');
  },
};

/** The change of a Node that taints it. A taint of that key and effect is kept whatever its value; one of that key with another effect is replaced. */
function disruption(node: KubernetesObject): Change | undefined {
  const { metadata, spec } = node;
  const taints = listIn(spec, 'taints');
  const ofKey = taints.filter(taint => fieldsOf(taint)['key'] === DISRUPTED_TAINT.key);
  const isTainted = ofKey.length === 1 && fieldsOf(ofKey[0])['effect'] === DISRUPTED_TAINT.effect;
  const isExcluded = metadata.labels?.[EXCLUDE_LABEL] === 'karpenter';
  const isWatched = isWatchedFor(node, OWNER);
  if (isTainted && isExcluded && isWatched) return undefined;
  const others = taints.filter(taint => !ofKey.includes(taint));
  return {
    labels: { [EXCLUDE_LABEL]: 'karpenter' },
    annotations: { [ANNOTATIONS.watchPods]: withWaiter(node, OWNER) },
    ...(!isTainted && { spec: { taints: [...others, { ...DISRUPTED_TAINT }] } }),
  };
}
