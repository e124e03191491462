/** How Karpenter empties the Node of a NodeClaim that ends: by evictions, which honour budgets and protection, until its termination timestamp. */
import { nanosecondsToDuration, parseGoDuration } from '../../shared/domain/go-duration.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, parseTimestamp, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { ApiStatusError } from '../../packages/kube-apiserver/src/types.ts';
import { refOf, RESOURCE_TYPES, textIn, unlessRefused, type ActorApi } from './actor.ts';
import { hasFinished } from './disruption-budget.ts';
import { tolerates } from './tolerations.ts';

const USER = 'actor:karpenter';
export const TERMINATION_TIMESTAMP = 'karpenter.sh/nodeclaim-termination-timestamp';
export const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';
const MIRROR = 'kubernetes.io/config.mirror';
export const DISRUPTED = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' };
/** A pod that should be gone since then is stuck, and is not waited for. */
const STUCK_AFTER = minutes(1);

/** When whatever is left is deleted; undefined: never. */
export function terminationTime(claim: KubernetesObject): EpochMs | undefined {
  const stated = claim.metadata.annotations?.[TERMINATION_TIMESTAMP];
  return stated === undefined ? graceEnd(claim) : parseTimestamp(stated);
}

/** By the NodeClaim's own grace period. */
function graceEnd({ metadata, spec }: KubernetesObject): EpochMs | undefined {
  const grace = parseGoDuration(textIn(spec, 'terminationGracePeriod') ?? '');
  const deletion = parseTimestamp(metadata.deletionTimestamp ?? '');
  return grace.ok && deletion !== undefined
    ? addDuration(deletion, nanosecondsToDuration(grace.nanoseconds))
    : undefined;
}

/** Karpenter writes the end of the grace period down when a NodeClaim begins to end, unless somebody has stated one. */
export function stateTermination(core: ActorApi, claim: KubernetesObject): void {
  const end = graceEnd(claim);
  if (end === undefined || claim.metadata.annotations?.[TERMINATION_TIMESTAMP] !== undefined) return;
  const annotations = { [TERMINATION_TIMESTAMP]: toTimestamp(end) };
  const body = { metadata: { uid: claim.metadata.uid, annotations } };
  unlessRefused(() => core.patch(refOf(RESOURCE_TYPES.nodeclaims, claim), { type: 'merge', body }, { user: USER }));
}

/** The pods that are waited for: not those that have finished, are stuck, belong to the machine, or tolerate its taint. */
export function podsToDrain(
  core: ActorApi,
  nodes: readonly KubernetesObject[],
  now: EpochMs,
): readonly KubernetesObject[] {
  return nodes.flatMap(({ metadata: { name } }) =>
    core.list(RESOURCE_TYPES.pods, { fieldSelector: `spec.nodeName=${name}` }).items.filter(pod => isDrained(pod, now)),
  );
}

const CRITICAL: readonly unknown[] = ['system-node-critical', 'system-cluster-critical'];

/** The group whose turn it is: those of DaemonSets after the others, critical ones last. */
export function firstGroup(pods: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const rank = ({ metadata, spec }: KubernetesObject): number =>
    (CRITICAL.includes(spec?.['priorityClassName']) ? 2 : 0) +
    (metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') === true ? 1 : 0);
  const first = Math.min(...pods.map(rank));
  return pods.filter(pod => rank(pod) === first);
}

export function isDrained(pod: KubernetesObject, now: EpochMs): boolean {
  const { annotations = {}, ownerReferences = [], deletionTimestamp } = pod.metadata;
  if (hasFinished(pod) || MIRROR in annotations || ownerReferences.some(({ kind }) => kind === 'Node')) return false;
  const end = parseTimestamp(deletionTimestamp ?? '');
  return end === undefined ? !tolerates(pod, DISRUPTED) : addDuration(end, STUCK_AFTER) > now;
}

interface Evictions {
  readonly now: EpochMs;
  readonly isDue: (pod: KubernetesObject) => boolean;
  readonly onAsked: (pod: KubernetesObject) => void;
}

export function evictPods(core: ActorApi, pods: readonly KubernetesObject[], { now, isDue, onAsked }: Evictions): void {
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp !== undefined || isProtected(pod, now) || !isDue(pod)) continue;
    onAsked(pod);
    try {
      core.evict(refOf(RESOURCE_TYPES.pods, pod), { user: USER, preconditions: { uid: pod.metadata.uid } });
    } catch (error) {
      // A budget forbids it, or the pod is gone: the next look shows.
      if (!(error instanceof ApiStatusError)) throw error;
    }
  }
}

/** By `"true"`, or for a duration of the pod's life. */
function isProtected({ metadata, status }: KubernetesObject, now: EpochMs): boolean {
  const value = metadata.annotations?.[DO_NOT_DISRUPT];
  if (value === undefined || value === 'true') return value === 'true';
  const asked = parseGoDuration(value);
  const begin = parseTimestamp(textIn(status, 'startTime') ?? metadata.creationTimestamp);
  return asked.ok && begin !== undefined && now < addDuration(begin, nanosecondsToDuration(asked.nanoseconds));
}

/** Past its end nothing has time left but to be told. */
export function deletePods(core: ActorApi, pods: readonly KubernetesObject[]): void {
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp !== undefined) continue;
    const options = { user: USER, gracePeriodSeconds: 1, preconditions: { uid: pod.metadata.uid } };
    unlessRefused(() => core.delete(refOf(RESOURCE_TYPES.pods, pod), options));
  }
}
