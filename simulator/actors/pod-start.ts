/**
 * The other half of a kubelet, for clusters to live in: a pod that is bound to a Node which is there becomes Running and Ready at once.
 * Scenarios state what their pods are, so the simulation runs without it. The kubelet of a Node annotated
 * `sim.curfew.dev/kubelet: dead` starts nothing.
 */
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { arrayAt, isObject, textAt } from '../../packages/kube-apiserver/src/json.ts';
import { follow, getSame, refOf, RESOURCE_TYPES, textIn, unlessRefused, type StartActor } from './actor.ts';

const KUBELET = 'sim.curfew.dev/kubelet';
const USER = 'actor:kubelet';

export const startPods: StartActor = ({ core, scheduler }) => {
  /** Pods that wait for the kubelet of their node, by node and UID. */
  const waiting = new Map<string, Map<string, KubernetesObject>>();

  const runs = (nodeName: string): boolean => {
    const node = unlessRefused(() => core.get({ type: RESOURCE_TYPES.nodes, name: nodeName }));
    return node !== undefined && node.metadata.annotations?.[KUBELET] !== 'dead';
  };

  const start = (pod: KubernetesObject, nodeName: string): void => {
    const ref = refOf(RESOURCE_TYPES.pods, pod);
    const current = getSame(core, ref, pod.metadata.uid);
    if (current === undefined || !isDue(current)) return;
    if (!runs(nodeName)) {
      const pods = waiting.get(nodeName) ?? new Map<string, KubernetesObject>();
      waiting.set(nodeName, pods.set(pod.metadata.uid, pod));
      return;
    }
    const status = runningStatus(current, scheduler.now());
    unlessRefused(() => core.patch(ref, { type: 'merge', body: { status } }, { user: USER, subresource: 'status' }));
  };

  follow(
    core,
    RESOURCE_TYPES.pods,
    pod => {
      const nodeName = textIn(pod.spec, 'nodeName');
      if (nodeName !== undefined && isDue(pod)) scheduler.at(scheduler.now(), () => start(pod, nodeName));
    },
    pod => waiting.get(textIn(pod.spec, 'nodeName') ?? '')?.delete(pod.metadata.uid),
  );
  follow(core, RESOURCE_TYPES.nodes, ({ metadata: { name } }) => {
    const pods = waiting.get(name);
    if (pods === undefined || !runs(name)) return;
    waiting.delete(name);
    for (const pod of pods.values()) scheduler.at(scheduler.now(), () => start(pod, name));
  });
};

/** A pod that has not begun and is not going. */
function isDue({ status, metadata }: KubernetesObject): boolean {
  return (textIn(status, 'phase') ?? 'Pending') === 'Pending' && metadata.deletionTimestamp === undefined;
}

function runningStatus(pod: KubernetesObject, now: EpochMs): JsonObject {
  const time = toTimestamp(now);
  const condition = (type: string): JsonObject => ({ type, status: 'True', lastTransitionTime: time });
  const containerStatuses = arrayAt(pod.spec ?? {}, 'containers')
    .filter(isObject)
    .map(container => ({
      name: textAt(container, 'name') ?? '',
      image: textAt(container, 'image') ?? '',
      imageID: '',
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: time } },
    }));
  return {
    phase: 'Running',
    startTime: time,
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map(condition),
    containerStatuses,
  };
}
