/**
 * The parts of an object that matter, by kind, and hints for the reader of the event. Pure.
 *
 * Two versions of an object whose parts are equal are the same to every consumer, and nothing is sent. A kubelet posts
 * a node's status at least every five minutes, and that heartbeat is not a change. What a function reads of an object
 * must stand here, or the function does not learn that it changed.
 */
import { ANNOTATIONS, CURFEW_GROUP, KARPENTER } from '../shared/contract/names.ts';
import { withoutWaiter } from '../shared/cluster/pod-watchers.ts';
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { parseTimestamp, type EpochMs } from '../shared/domain/time.ts';
import { STATE_LABEL } from '../shared/domain/quarantine.ts';
import { fieldAt, listAt, pick, pickEntries, textAt } from './fields.ts';
import { isOwnCondition } from '../shared/domain/node-drain-conditions.ts';
import { conditions, finalizers, hints, sortedList, statuses, type PodInterest, type Project } from './projection.ts';

/**
 * Annotations that hold a Node for protected pods: one function reads them, and mostly it is the one that writes them.
 */
const PROTECTION_KEYS: readonly string[] = [KARPENTER.doNotDisruptAnnotation, ANNOTATIONS.protectedUntil];

/**
 * The protection's and the drains' own writes are parts of their own, so that `node-messages.ts` can tell them from all
 * else. Capacity, images and addresses are left out: no consumer reads them.
 */
export const projectNode: Project = object => ({
  parts: {
    annotations: pickEntries(withoutDrains(object), key => isRelevantKey(key) && !PROTECTION_KEYS.includes(key)),
    bootID: textAt(object, 'status', 'nodeInfo', 'bootID'),
    // What Curfew itself says of a Node is news to none of its functions.
    conditions: conditions(object, isOfOthers),
    deletionTimestamp: object.metadata.deletionTimestamp,
    drain: pickEntries(
      { ...object.metadata.annotations, ...object.metadata.labels },
      key => key === STATE_LABEL || DRAIN_ANNOTATIONS.has(key),
    ),
    finalizers: finalizers(object),
    labels: pickEntries(object.metadata.labels, key => isRelevantKey(key) && key !== STATE_LABEL),
    protection: pickEntries(object.metadata.annotations, key => PROTECTION_KEYS.includes(key)),
    providerID: textAt(object, 'spec', 'providerID'),
    statuses: statuses(object, isOfOthers),
    taints: sortedList(listAt(object, 'spec', 'taints').map(taint => pick(taint, ['key', 'value', 'effect']))),
    unschedulable: fieldAt(object, 'spec', 'unschedulable') === true ? true : undefined,
  },
  hints: hints({
    nodePool: object.metadata.labels?.[KARPENTER.nodePoolLabel],
    nodeName: object.metadata.name,
    providerID: textAt(object, 'spec', 'providerID'),
  }),
});

const isOfOthers = (_: string, reason: string): boolean => !isOwnCondition({ reason });

/** Time at which the part `protection` of a Node is over by its own mark; undefined: never by itself. */
export function endOfProtection(node: KubernetesObject): EpochMs | undefined {
  const mark = node.metadata.annotations?.[ANNOTATIONS.protectedUntil];
  return mark === undefined ? undefined : parseTimestamp(mark);
}

const DRAIN_ANNOTATIONS: ReadonlySet<string> = new Set([
  ANNOTATIONS.watchPods,
  ANNOTATIONS.cordonedByDrain,
  ANNOTATIONS.drainRequested,
  ANNOTATIONS.drainUnderWay,
  ANNOTATIONS.drainAnswer,
]);

/** The annotations without those of drains; of those who wait for the pods, the others stay. */
function withoutDrains(node: KubernetesObject): Readonly<Record<string, string>> {
  const others = withoutWaiter(node, 'drain');
  const kept = Object.entries(node.metadata.annotations ?? {}).filter(([key]) => !DRAIN_ANNOTATIONS.has(key));
  return { ...Object.fromEntries(kept), ...(others !== null && { [ANNOTATIONS.watchPods]: others }) };
}

/**
 * No conditions: none of them has to wake a function, and Karpenter flips `Consolidatable` with every pod. A deadline counts once the NodeClaim is
 * being deleted: a repair sets it just before the deletion, and nobody need look twice.
 */
export const projectNodeClaim: Project = object => ({
  parts: {
    annotations: pickEntries(
      object.metadata.annotations,
      key =>
        isRelevantKey(key) &&
        (key !== KARPENTER.terminationTimestampAnnotation || object.metadata.deletionTimestamp !== undefined),
    ),
    deletionTimestamp: object.metadata.deletionTimestamp,
    finalizers: finalizers(object),
    labels: pickEntries(object.metadata.labels, isRelevantKey),
    nodeName: textAt(object, 'status', 'nodeName'),
    providerID: textAt(object, 'status', 'providerID'),
    terminationGracePeriod: fieldAt(object, 'spec', 'terminationGracePeriod'),
  },
  hints: hints({
    nodePool: object.metadata.labels?.[KARPENTER.nodePoolLabel],
    nodeName: textAt(object, 'status', 'nodeName'),
    providerID: textAt(object, 'status', 'providerID'),
  }),
});

/** All labels count: a policy selects NodePools by any of them. The status does not: it counts resources, often. */
export const projectNodePool: Project = object => ({
  parts: {
    annotations: pickEntries(object.metadata.annotations, isRelevantKey),
    deletionTimestamp: object.metadata.deletionTimestamp,
    labels: pickEntries(object.metadata.labels, () => true),
    spec: object.spec,
  },
  hints: { nodePool: object.metadata.name },
});

/** The status does not count: Curfew itself writes it. */
export const projectPolicy: Project = object => ({
  parts: { deletionTimestamp: object.metadata.deletionTimestamp, spec: object.spec },
  hints: {},
});

/** All data: which keys are templates stands in the configuration itself. */
export const projectConfigMap: Project = object => ({
  parts: {
    data: pickEntries(object, key => key === 'data' || key === 'binaryData'),
    deletionTimestamp: object.metadata.deletionTimestamp,
  },
  hints: {},
});

/**
 * Everywhere, `phase` says only whether the pod has ended: a protection does not depend on more. On a watched node, `ready` and the
 * whole phase count as well. That a pod is about to go matters where it ends a protection; who empties the node waits until it is gone.
 */
export const projectPod: Project = (object, interest = NO_WATCHED_NODES) => {
  const phase = textAt(object, 'status', 'phase');
  const nodeName = textAt(object, 'spec', 'nodeName');
  const watched = isOnWatchedNode(object, interest);
  const annotation = object.metadata.annotations?.[KARPENTER.doNotDisruptAnnotation];
  return {
    parts: {
      annotations: annotation,
      deletionTimestamp: annotation === undefined ? undefined : object.metadata.deletionTimestamp,
      nodeName,
      phase: phase === 'Succeeded' || phase === 'Failed' ? 'ended' : watched ? phase : undefined,
      ready: watched ? conditionStatus(object, 'Ready') : undefined,
      startTime: textAt(object, 'status', 'startTime'),
    },
    hints: hints({ nodeName }),
  };
};

/** Whether an eviction under this budget can succeed; how many can is of no interest. */
export const projectPodDisruptionBudget: Project = object => {
  const allowed = fieldAt(object, 'status', 'disruptionsAllowed');
  return { parts: { open: typeof allowed === 'number' && allowed > 0 ? true : undefined }, hints: {} };
};

/** Only whether it is there, is being deleted, or is gone: a termination waits for nothing else. */
export const projectVolumeAttachment: Project = object => {
  const nodeName = textAt(object, 'spec', 'nodeName');
  return { parts: { deletionTimestamp: object.metadata.deletionTimestamp }, hints: hints({ nodeName }) };
};

/** The whole spec; the status is Curfew's own and left out. */
export const projectFinalizerRule: Project = object => ({
  parts: {
    deletionTimestamp: object.metadata.deletionTimestamp,
    finalizers: finalizers(object),
    spec: object.spec,
  },
  hints: {},
});

export const NO_WATCHED_NODES: PodInterest = { watchedNodes: new Set<string>() };

/**
 * The reason why a pod is of interest; undefined: nobody needs to hear of it. The API server cannot select by
 * annotation.
 */
export function podInterest(pod: KubernetesObject, interest: PodInterest): 'itself' | 'node' | undefined {
  if (pod.metadata.annotations?.[KARPENTER.doNotDisruptAnnotation] !== undefined) return 'itself';
  return isOnWatchedNode(pod, interest) ? 'node' : undefined;
}

/** A pod that is being deleted and has not ended: who empties its node waits until it has, or is gone. */
export function isGoingPod({ metadata, status }: KubernetesObject): boolean {
  const phase = textAt(status, 'phase');
  return metadata.deletionTimestamp !== undefined && phase !== 'Succeeded' && phase !== 'Failed';
}

/** A VolumeAttachment matters on a watched node. */
export function attachmentInterest(attachment: KubernetesObject, interest: PodInterest): 'node' | undefined {
  return isOnWatchedNode(attachment, interest) ? 'node' : undefined;
}

function isOnWatchedNode(object: KubernetesObject, { watchedNodes }: PodInterest): boolean {
  const nodeName = textAt(object, 'spec', 'nodeName');
  return nodeName !== undefined && watchedNodes.has(nodeName);
}

function conditionStatus(object: KubernetesObject, type: string): string | undefined {
  return textAt(
    listAt(object, 'status', 'conditions').find(condition => textAt(condition, 'type') === type),
    'status',
  );
}

/** Domains of the label and annotation keys that some function reads; their subdomains count too. */
const RELEVANT_DOMAINS = [
  CURFEW_GROUP,
  'karpenter.sh',
  'karpenter.k8s.aws',
  'topology.kubernetes.io',
  'dgxc.nvidia.com',
  'k8saas.nvidia.com',
] as const;
/** NVSentinel's node annotations that have no domain. */
const RELEVANT_PREFIXES = ['quarantineHealthEvent', 'quarantinedNode', 'latestFaultRemediationState'] as const;

function isRelevantKey(key: string): boolean {
  const slash = key.indexOf('/');
  if (slash < 0) return RELEVANT_PREFIXES.some(prefix => key.startsWith(prefix));
  const domain = key.slice(0, slash);
  return RELEVANT_DOMAINS.some(relevant => domain === relevant || domain.endsWith(`.${relevant}`));
}
