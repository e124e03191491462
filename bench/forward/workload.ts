/**
 * Five minutes of a busy cluster as a list of writes, the same for everybody who watches. Pure.
 *
 * - Each node posts its status `HEARTBEATS_PER_NODE` times with newer heartbeats and nothing else.
 * - One pod in `PODS_PER_REPLACEMENT` is replaced: the new one is created, runs; the old one is told to go, stops, is gone.
 * - A few nodes lose and regain their kubelet, a few are cordoned. These, and the pods that carry the do-not-disrupt annotation,
 *   are what somebody wants to hear of.
 */
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { JsonObject, KubernetesManifest, ObjectRef, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  minutes,
  seconds,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import { CREATION_TIME, NAMESPACE, nodeConditions, nodeName, podName } from './objects.ts';
import { podManifest, podStatus, stoppedPodStatus } from './pods.ts';

export type Write =
  | { readonly kind: 'create'; readonly type: ResourceType; readonly manifest: KubernetesManifest }
  | { readonly kind: 'patch'; readonly ref: ObjectRef; readonly body: JsonObject; readonly subresource?: 'status' }
  | { readonly kind: 'delete'; readonly ref: ObjectRef; readonly gracePeriodSeconds: number };

export interface Step {
  /** From the start of the workload. */
  readonly after: DurationMs;
  /** `Node/ip-…`: what the write is about. */
  readonly object: string;
  /** How many of the watch events that the write causes change something that a consumer of Curfew's events reads. */
  readonly changes: number;
  readonly write: () => Write;
}

export interface ClusterSize {
  readonly nodes: number;
  readonly pods: number;
}

export const WORKLOAD_DURATION = minutes(5);
const HEARTBEATS_PER_NODE = 2;
/** In five minutes one pod of this many is replaced. */
const PODS_PER_REPLACEMENT = 20;
/** One node of this many loses its kubelet for a while. */
const NODES_PER_FLIP = 100;
/** One node of this many is cordoned. */
const NODES_PER_CORDON = 200;
/** One pod of this many carries the annotation. */
const PODS_PER_ANNOTATION = 100;

export const isAnnotated = (index: number): boolean => index % PODS_PER_ANNOTATION === 0;

/**
 * The steps of one run, in order of time. Each of the runs 1 … `PODS_PER_REPLACEMENT - 1` replaces other pods, so that they can
 * follow each other on one cluster.
 */
export function workload({ nodes, pods }: ClusterSize, run: number): Step[] {
  const start = addDuration(CREATION_TIME, minutes(10 * run));
  const steps: Step[] = [];
  for (let index = 0; index < nodes; index += 1) {
    if (index % NODES_PER_FLIP === 1) steps.push(...flips(index, start));
    else steps.push(...heartbeats(index, start));
    if (index % NODES_PER_CORDON === 2) steps.push(cordon(index, run));
  }
  // An annotated pod and 19 others per hundred: counting through both keeps the shares the same in every run.
  for (let index = 0; index < pods; index += 1) {
    if ((index + Math.floor(index / PODS_PER_ANNOTATION)) % PODS_PER_REPLACEMENT === run % PODS_PER_REPLACEMENT) {
      steps.push(...replacement(index, run, nodes, start));
    }
  }
  return steps.toSorted((a, b) => a.after - b.after);
}

/** Where in the workload the `index`th of many things happens: spread evenly, without chance (multiples of the golden ratio). */
function spread(index: number, over: DurationMs): DurationMs {
  const fraction = (index * 0.618_033_988_749_894_9) % 1;
  return toDurationMs(Math.floor(fraction * over));
}

function heartbeats(index: number, start: EpochMs): Step[] {
  const period = toDurationMs(WORKLOAD_DURATION / HEARTBEATS_PER_NODE);
  return Array.from({ length: HEARTBEATS_PER_NODE }, (_unused, beat) => {
    const after = toDurationMs(beat * period + spread(index, period));
    return nodeStatus(index, after, 0, {
      heartbeatTime: addDuration(start, after),
      ready: 'True',
      transitionTime: CREATION_TIME,
    });
  });
}

/** Unknown, and a while later ready again; both are published, in the place of the heartbeats. */
function flips(index: number, start: EpochMs): Step[] {
  const lost = spread(index, toDurationMs(WORKLOAD_DURATION / 2));
  const back = toDurationMs(lost + WORKLOAD_DURATION / 2);
  const at = (after: DurationMs, ready: 'True' | 'Unknown'): Step => {
    const time = addDuration(start, after);
    return nodeStatus(index, after, 1, { heartbeatTime: time, ready, transitionTime: time });
  };
  return [at(lost, 'Unknown'), at(back, 'True')];
}

function nodeStatus(
  index: number,
  after: DurationMs,
  changes: number,
  state: Parameters<typeof nodeConditions>[0],
): Step {
  const name = nodeName(index);
  return {
    after,
    object: `Node/${name}`,
    changes,
    write: () => ({
      kind: 'patch',
      ref: { type: RESOURCES.Node, name },
      body: { status: { conditions: [...nodeConditions(state)] } },
      subresource: 'status',
    }),
  };
}

/** Cordoned in odd runs, uncordoned in even ones. */
function cordon(index: number, run: number): Step {
  const name = nodeName(index);
  const body = { spec: { unschedulable: run % 2 === 1 ? true : null } };
  return {
    after: spread(index, WORKLOAD_DURATION),
    object: `Node/${name}`,
    changes: 1,
    write: () => ({ kind: 'patch', ref: { type: RESOURCES.Node, name }, body }),
  };
}

function replacement(index: number, run: number, nodes: number, start: EpochMs): Step[] {
  const annotated = isAnnotated(index);
  const after = spread(index, toDurationMs(WORKLOAD_DURATION - seconds(60)));
  const [oldName, newName] = [podName(index, 0), podName(index, run)];
  const at = (delay: number, name: string, changes: number, write: () => Write): Step => ({
    after: addTo(after, delay),
    object: `Pod/${name}`,
    changes: annotated ? changes : 0,
    write,
  });
  const startTime = addDuration(start, addTo(after, 5));
  return [
    at(0, newName, 1, () => ({
      kind: 'create',
      type: RESOURCES.Pod,
      manifest: podManifest({ index, generation: run, nodes, annotated }),
    })),
    at(5, newName, 1, () => podStatusPatch(newName, podStatus(index, startTime))),
    at(10, oldName, 1, () => ({ kind: 'delete', ref: podRef(oldName), gracePeriodSeconds: 30 })),
    at(40, oldName, 0, () => podStatusPatch(oldName, stoppedPodStatus(index, startTime))),
    // Two watch events: its end is moved to now, then it is gone.
    at(41, oldName, 2, () => ({ kind: 'delete', ref: podRef(oldName), gracePeriodSeconds: 0 })),
  ];
}

const podRef = (name: string): ObjectRef => ({ type: RESOURCES.Pod, namespace: NAMESPACE, name });

const podStatusPatch = (name: string, status: JsonObject): Write => ({
  kind: 'patch',
  ref: podRef(name),
  body: { status },
  subresource: 'status',
});

const addTo = (after: DurationMs, delaySeconds: number): DurationMs => toDurationMs(after + seconds(delaySeconds));
