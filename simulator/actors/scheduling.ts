/**
 * The scheduler of clusters to live in: a pod without a node goes to the Node with the fewest pods among those that are Ready, take new
 * pods, have the labels of its `nodeSelector`, and no taint that it does not tolerate. It knows no requests, affinities or priorities. A
 * pod that fits nowhere waits for a Node to change. Scenarios state where their pods are, so the simulation runs without it.
 */
import type { JsonValue, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { arrayAt, isObject, objectAt, textAt } from '../../packages/kube-apiserver/src/json.ts';
import { follow, getSame, refOf, RESOURCE_TYPES, says, textIn, unlessRefused, type StartActor } from './actor.ts';
import { tolerates } from './tolerations.ts';

const USER = 'actor:scheduler';
const KEEPS_AWAY: ReadonlySet<string | undefined> = new Set(['NoSchedule', 'NoExecute']);

export const startScheduling: StartActor = ({ core, scheduler }) => {
  const waiting = new Map<string, KubernetesObject>();

  const bind = (seen: KubernetesObject): void => {
    const ref = refOf(RESOURCE_TYPES.pods, seen);
    const pod = getSame(core, ref, seen.metadata.uid);
    if (pod === undefined || !isUnbound(pod)) return void waiting.delete(seen.metadata.uid);
    const pods = new Map<string | undefined, number>();
    for (const { spec } of core.list(RESOURCE_TYPES.pods).items) {
      const name = textIn(spec, 'nodeName');
      pods.set(name, (pods.get(name) ?? 0) + 1);
    }
    const countOf = ({ metadata: { name } }: KubernetesObject): number => pods.get(name) ?? 0;
    const [best] = core
      .list(RESOURCE_TYPES.nodes)
      .items.filter(node => takesPods(node) && fits(pod, node))
      .toSorted((a, b) => countOf(a) - countOf(b));
    if (best === undefined) return void waiting.set(pod.metadata.uid, pod);
    waiting.delete(pod.metadata.uid);
    unlessRefused(() =>
      core.patch(ref, { type: 'merge', body: { spec: { nodeName: best.metadata.name } } }, { user: USER }),
    );
  };

  follow(
    core,
    RESOURCE_TYPES.pods,
    pod => {
      if (isUnbound(pod)) scheduler.at(scheduler.now(), () => bind(pod));
    },
    pod => waiting.delete(pod.metadata.uid),
  );
  follow(core, RESOURCE_TYPES.nodes, node => {
    if (waiting.size === 0 || !takesPods(node)) return;
    for (const pod of waiting.values()) scheduler.at(scheduler.now(), () => bind(pod));
  });
};

const isUnbound = ({ spec, metadata }: KubernetesObject): boolean =>
  textIn(spec, 'nodeName') === undefined && metadata.deletionTimestamp === undefined;

function takesPods(node: KubernetesObject): boolean {
  const { spec, metadata } = node;
  if (spec?.['unschedulable'] === true || metadata.deletionTimestamp !== undefined) return false;
  return says(node, 'Ready');
}

function fits(pod: KubernetesObject, node: KubernetesObject): boolean {
  const labels = node.metadata.labels ?? {};
  const selector = Object.entries(objectAt(pod.spec ?? {}, 'nodeSelector'));
  return (
    selector.every(([key, value]) => labels[key] === value) &&
    arrayAt(node.spec ?? {}, 'taints').every(taint => !keepsAway(taint, pod))
  );
}

function keepsAway(taint: JsonValue, pod: KubernetesObject): boolean {
  return isObject(taint) && KEEPS_AWAY.has(textAt(taint, 'effect')) && !tolerates(pod, taint);
}
