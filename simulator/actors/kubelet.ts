/**
 * kubelet: a pod that was deleted is gone after `min(grace period, sim.curfew.dev/stops-after)`, an annotation of the pod that says
 * how long its containers take to stop (default: at once; `never`: only the end of the grace period stops them). The kubelet of a
 * Node annotated `sim.curfew.dev/kubelet: dead` does nothing; its pods go by a delete with grace period 0 alone.
 */
import { nanosecondsToDuration, parseGoDuration } from '../../shared/domain/go-duration.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import {
  addDuration,
  parseTimestamp,
  seconds,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import type { Cancel } from '../../runtime/scheduler.ts';
import { follow, getSame, refOf, RESOURCE_TYPES, textIn, unlessRefused, type StartActor } from './actor.ts';

const STOPS_AFTER = 'sim.curfew.dev/stops-after';
const KUBELET = 'sim.curfew.dev/kubelet';
const USER = 'actor:kubelet';

interface Stopping {
  /** The grace period that the plan was made for. */
  readonly gracePeriod: DurationMs;
  readonly callOff: Cancel;
}

export const startKubelet: StartActor = ({ core, scheduler }) => {
  const stopping = new Map<string, Stopping>();
  /** Pods whose time has come on a node whose kubelet is dead, by node. */
  const stuck = new Map<string, Map<string, KubernetesObject>>();

  const isDead = (nodeName: string): boolean => {
    const node = unlessRefused(() => core.get({ type: RESOURCE_TYPES.nodes, name: nodeName }));
    return node?.metadata.annotations?.[KUBELET] === 'dead';
  };

  const stop = (pod: KubernetesObject): void => {
    const ref = refOf(RESOURCE_TYPES.pods, pod);
    if (getSame(core, ref, pod.metadata.uid) === undefined) return;
    const nodeName = nodeOf(pod);
    if (nodeName !== undefined && isDead(nodeName)) {
      const waiting = stuck.get(nodeName) ?? new Map<string, KubernetesObject>();
      stuck.set(nodeName, waiting.set(pod.metadata.uid, pod));
      return;
    }
    const options = { user: USER, gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } };
    unlessRefused(() => core.delete(ref, options));
  };

  follow(
    core,
    RESOURCE_TYPES.pods,
    pod => {
      const { uid, deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
      if (deletionTimestamp === undefined) return;
      const gracePeriod = seconds(deletionGracePeriodSeconds);
      const planned = stopping.get(uid);
      if (planned?.gracePeriod === gracePeriod) return;
      planned?.callOff();
      const now = scheduler.now();
      const end = parseTimestamp(deletionTimestamp) ?? now;
      const goneTime = earlier(
        endOfGrace(now, end, gracePeriod),
        addDuration(stopBegin(now, end, gracePeriod), stopsAfter(pod)),
      );
      stopping.set(uid, { gracePeriod, callOff: scheduler.at(goneTime, () => stop(pod)) });
    },
    pod => {
      stopping.get(pod.metadata.uid)?.callOff();
      stopping.delete(pod.metadata.uid);
      stuck.get(nodeOf(pod) ?? '')?.delete(pod.metadata.uid);
    },
  );

  // A kubelet that comes back catches up; so does the removal of its Node.
  const catchUp = (node: KubernetesObject): void => {
    const waiting = stuck.get(node.metadata.name);
    if (waiting === undefined || isDead(node.metadata.name)) return;
    stuck.delete(node.metadata.name);
    for (const pod of waiting.values()) stop(pod);
  };
  follow(core, RESOURCE_TYPES.nodes, catchUp, catchUp);
};

const earlier = (a: EpochMs, b: EpochMs): EpochMs => (a <= b ? a : b);

/**
 * `deletionTimestamp` has whole seconds, so the delete that is seen now may have cut a part of one: the grace period counts from
 * now then, and from the timestamp for a pod that was being deleted before.
 */
function endOfGrace(now: EpochMs, deletionTime: EpochMs, gracePeriod: DurationMs): EpochMs {
  const full = addDuration(now, gracePeriod);
  const cut = full - deletionTime;
  return cut >= 0 && cut < 1000 ? full : deletionTime;
}

function stopBegin(now: EpochMs, deletionTime: EpochMs, gracePeriod: DurationMs): EpochMs {
  return addDuration(endOfGrace(now, deletionTime, gracePeriod), toDurationMs(0 - gracePeriod));
}

function stopsAfter(pod: KubernetesObject): DurationMs {
  const text = pod.metadata.annotations?.[STOPS_AFTER];
  if (text === undefined) return seconds(0);
  const parsed = parseGoDuration(text);
  // `never`, and anything else that is no duration: nothing but the end of the grace period stops it.
  return parsed.ok && parsed.nanoseconds >= 0n ? nanosecondsToDuration(parsed.nanoseconds) : toDurationMs(Infinity);
}

function nodeOf(pod: KubernetesObject): string | undefined {
  return textIn(pod.spec, 'nodeName');
}
