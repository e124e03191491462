/** A cluster that never rests: nodes come, fall ill, recover, are drained and go, pods with and without protection too. By the API server alone. */
import { CONFIG_MAP, KARPENTER } from '../../shared/contract/names.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject, ObjectRef, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';
import {
  claimFor,
  CONFIGURATION,
  drainRequested,
  NAMESPACE,
  nodeFor,
  podFor,
  POOL,
  readyIs,
  SETTINGS,
} from './objects.ts';

const NODES = 24;
const PODS = 60;
const PROTECTED_FOR = '15s';
/** In steps of a second. */
const EVERY = { pod: 2, illness: 15, drain: 20, removal: 40 } as const;
const RECOVERS_AFTER = 5;
const WITHDRAWN_AFTER = 5;
/** A node that was drained goes after this. */
const REMOVED_AFTER = 30;

export interface Churn {
  /** What happens in one second. */
  step(): Promise<void>;
}

/** Makes the pool and its policy. */
export async function startChurn(api: KubernetesApi): Promise<Churn> {
  for (const manifest of SETTINGS) {
    const type = manifest.kind === 'NodePool' ? RESOURCES.NodePool : RESOURCES.NodeLifecyclePolicy;
    await api.create(type, manifest);
  }
  const { namespace, name: configName } = CONFIG_MAP;
  const configRef = { type: RESOURCES.ConfigMap, namespace, name: configName };
  await api.patch(configRef, { type: 'merge', body: CONFIGURATION });
  /** Never before this step. */
  const later: { readonly at: number; readonly act: () => Promise<unknown> }[] = [];
  let steps = 0;
  let made = 0;
  let turn = 0;

  const own = async (type: ResourceType, labelSelector: string): Promise<readonly KubernetesObject[]> =>
    objectsOf(await api.list(type, { labelSelector }), { ifNotServed: 'empty' }).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
  const claims = () => own(RESOURCES.NodeClaim, `${KARPENTER.nodePoolLabel}=${POOL}`);
  /** Another one each time. */
  const someNode = async (): Promise<string | undefined> => {
    const nodes = await own(RESOURCES.Node, `${KARPENTER.nodePoolLabel}=${POOL}`);
    turn += 1;
    return nodes[(turn * 7) % Math.max(1, nodes.length)]?.metadata.name;
  };
  const remove = (ref: ObjectRef) => api.delete(ref, { preconditions: {} });
  const isReady = (name: string, status: 'True' | 'False') =>
    api.patch(
      { type: RESOURCES.Node, name },
      { type: 'strategic', body: readyIs(status, systemClock.now()) },
      { subresource: 'status' },
    );
  const asksForDrain = (name: string, id: string | undefined) =>
    api.patch({ type: RESOURCES.Node, name }, { type: 'merge', body: drainRequested(id) });

  /** As Karpenter and the kubelet do it. A create leaves the status out. */
  async function launch(): Promise<void> {
    made += 1;
    for (const [type, manifest] of [
      [RESOURCES.NodeClaim, claimFor(made)],
      [RESOURCES.Node, nodeFor(made, systemClock.now())],
    ] as const) {
      const { status, metadata } = manifest;
      await api.create(type, manifest);
      await api.patch(
        { type, name: metadata.name ?? '' },
        { type: 'merge', body: { status } },
        { subresource: 'status' },
      );
    }
  }
  async function pods(): Promise<void> {
    made += 1;
    await api.create(RESOURCES.Pod, podFor(`pod-${made}`, made % 3 === 0 ? PROTECTED_FOR : undefined));
    const all = await own(RESOURCES.Pod, `soak=${POOL}`);
    const ages = ({ metadata }: KubernetesObject): number => Number(metadata.name.split('-')[1]);
    const oldest = all.toSorted((a, b) => ages(a) - ages(b)).slice(0, Math.max(0, all.length - PODS));
    for (const { metadata } of oldest) await remove({ type: RESOURCES.Pod, namespace: NAMESPACE, name: metadata.name });
  }
  /** Every third recovers before it is due. */
  async function illness(): Promise<void> {
    const name = await someNode();
    if (name === undefined) return;
    await isReady(name, 'False');
    if (turn % 3 === 0) later.push({ at: steps + RECOVERS_AFTER, act: () => isReady(name, 'True') });
  }
  /** Every third is withdrawn; the others are followed by the end of the node. */
  async function drain(): Promise<void> {
    const name = await someNode();
    if (name === undefined) return;
    await asksForDrain(name, `soak-${steps}`);
    if (turn % 3 === 0) later.push({ at: steps + WITHDRAWN_AFTER, act: () => asksForDrain(name, undefined) });
    else later.push({ at: steps + REMOVED_AFTER, act: () => remove({ type: RESOURCES.NodeClaim, name }) });
  }
  async function removal(): Promise<void> {
    const name = await someNode();
    if (name !== undefined) await remove({ type: RESOURCES.NodeClaim, name });
  }

  return {
    async step() {
      steps += 1;
      if ((await claims()).length < NODES) {
        await launch();
      }
      const due = later.filter(({ at }) => at <= steps);
      for (const each of due) {
        later.splice(later.indexOf(each), 1);
        await each.act();
      }
      if (steps % EVERY.pod === 0) await pods();
      if (steps % EVERY.illness === 0) await illness();
      if (steps % EVERY.drain === 0) await drain();
      if (steps % EVERY.removal === 0) await removal();
    },
  };
}
