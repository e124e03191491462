/** The parts of a Pod that rules look at. Reading never throws: what cannot be read is absent. */
import { fieldsOf, isJsonObject, listIn, objectIn, optionalText, textOrEmpty } from './json.ts';
import type { JsonObject, KubernetesObject, OwnerReference } from './kubernetes-object.ts';
import { LONGEST_DURATION } from './go-duration.ts';
import { readConditions } from './node.ts';
import { parseTimestamp, seconds, toDurationMs, type DurationMs, type EpochMs } from './time.ts';

/** Karpenter's annotation: `"true"` or a Go duration on a Pod, `"true"` on a Node. */
export const DO_NOT_DISRUPT_ANNOTATION = 'karpenter.sh/do-not-disrupt';

/** A toleration of a pod: an absent key matches every taint, an absent effect every effect. */
export interface Toleration {
  readonly key: string | undefined;
  /** `Equal` when not given, as in Kubernetes. */
  readonly operator: string;
  readonly value: string;
  readonly effect: string | undefined;
}

export interface PodView {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Absent until the pod is bound. */
  readonly nodeName: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly OwnerReference[];
  /** `Pending`, `Running`, `Succeeded`, `Failed`, `Unknown`; empty when not reported yet. */
  readonly phase: string;
  /** The pod's condition `Ready` is `True`. */
  readonly ready: boolean;
  /** Since when its condition `Ready` is `False` or `Unknown`; absent when it is not, or when nobody says since when. */
  readonly notReadySince: EpochMs | undefined;
  readonly creationTime: EpochMs | undefined;
  /** `status.conditions` as they stand; absent: there are none. */
  readonly conditions?: readonly JsonObject[];
  /** Time at which the kubelet accepted the pod (`status.startTime`). */
  readonly startTime: EpochMs | undefined;
  /** While the pod terminates: when its grace period ends, which is how Kubernetes writes `deletionTimestamp` of a pod. */
  readonly deletionTime: EpochMs | undefined;
  /** The grace that its deletion granted (`deletionGracePeriodSeconds`); `deletionTime` minus that is when the deletion was asked for. */
  readonly deletionGracePeriod: DurationMs | undefined;
  /** `spec.terminationGracePeriodSeconds`; absent only in objects that no API server has defaulted. */
  readonly terminationGracePeriod: DurationMs | undefined;
  readonly priorityClassName: string | undefined;
  readonly tolerations: readonly Toleration[];
  /** Resources that some container is limited to more than none of, e.g. `nvidia.com/gpu`. */
  readonly limitedResources: readonly string[];
  /** PersistentVolumeClaims that the pod mounts, by name in its namespace; those of ephemeral volumes too. */
  readonly volumeClaims: readonly string[];
}

const instant = (value: unknown): EpochMs | undefined =>
  typeof value === 'string' ? parseTimestamp(value) : undefined;

/** Reads a Pod object. */
export function readPod({ metadata, spec, status }: KubernetesObject): PodView {
  const ready = readConditions(status?.['conditions']).find(({ type }) => type === 'Ready');
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    nodeName: optionalText(spec?.['nodeName']),
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    ownerReferences: metadata.ownerReferences ?? [],
    phase: textOrEmpty(status?.['phase']),
    ready: ready?.status === 'True',
    notReadySince: ready === undefined || ready.status === 'True' ? undefined : ready.lastTransitionTime,
    conditions: listIn(status, 'conditions').filter(isJsonObject),
    creationTime: instant(metadata.creationTimestamp),
    startTime: instant(status?.['startTime']),
    deletionTime: instant(metadata.deletionTimestamp),
    deletionGracePeriod: gracePeriodOf(metadata.deletionGracePeriodSeconds),
    terminationGracePeriod: gracePeriodOf(spec?.['terminationGracePeriodSeconds']),
    priorityClassName: optionalText(spec?.['priorityClassName']),
    tolerations: listIn(spec, 'tolerations').map(readToleration),
    limitedResources: [...listIn(spec, 'initContainers'), ...listIn(spec, 'containers')].flatMap(limitsOf),
    volumeClaims: listIn(spec, 'volumes').flatMap(volume => claimOf(volume, metadata.name)),
  };
}

/** The API server takes any 64-bit number. */
function gracePeriodOf(value: unknown): DurationMs | undefined {
  return typeof value === 'number' && value >= 0 ? toDurationMs(Math.min(seconds(value), LONGEST_DURATION)) : undefined;
}

function readToleration(value: unknown): Toleration {
  const { key, operator, value: tolerated, effect } = fieldsOf(value);
  return {
    key: optionalText(key),
    operator: optionalText(operator) ?? 'Equal',
    value: textOrEmpty(tolerated),
    effect: optionalText(effect),
  };
}

/** A quantity is zero when it has no other digit; Kubernetes writes `0`. */
function limitsOf(container: unknown): readonly string[] {
  const limits = objectIn(objectIn(container, 'resources'), 'limits');
  return Object.entries<unknown>(limits).flatMap(([resource, quantity]) =>
    /[1-9]/.test(String(quantity)) ? [resource] : [],
  );
}

/** The claim of an ephemeral volume is named after pod and volume. */
function claimOf(volume: unknown, podName: string): readonly string[] {
  const { name, persistentVolumeClaim, ephemeral } = fieldsOf(volume);
  const claimName = optionalText(fieldsOf(persistentVolumeClaim)['claimName']);
  if (claimName !== undefined) return [claimName];
  return ephemeral === undefined || typeof name !== 'string' ? [] : [`${podName}-${name}`];
}

/** Whether all of the pod's containers have ended for good. */
export function isFinished({ phase }: Pick<PodView, 'phase'>): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Whether the pod is being deleted. */
export function isTerminating({ deletionTime }: Pick<PodView, 'deletionTime'>): boolean {
  return deletionTime !== undefined;
}
