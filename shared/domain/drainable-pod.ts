/**
 * Tells which pods of a node a drain counts, and in which order they go, as in Karpenter. Pure: Curfew's termination
 * and its drains share these answers.
 */
import { isFinished, type PodView, type Toleration } from './pod.ts';
import { addDuration, rightAfter, seconds, type DurationMs, type EpochMs } from './time.ts';

/** The taint that keeps new pods away from a node that is terminated (Karpenter's name). */
export const DISRUPTED_TAINT = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' } as const;
/** The kubelet's mark on the API copy of a static pod. */
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const CRITICAL_PRIORITY_CLASSES: readonly string[] = ['system-cluster-critical', 'system-node-critical'];

/** The kubelet's grace period for pods that do not say. */
const DEFAULT_GRACE_PERIOD = seconds(30);
/** The grace period that a pod asks for. */
export const gracePeriodOf = ({ terminationGracePeriod }: Pick<PodView, 'terminationGracePeriod'>): DurationMs =>
  terminationGracePeriod ?? DEFAULT_GRACE_PERIOD;
/** A pod whose grace period ended longer ago than this is not waited for: its kubelet does not answer. */
const STUCK_AFTER = seconds(60);

/** The reason why a drain skips a pod. */
export type SkipReason =
  /** Succeeded or Failed. */
  | 'Finished'
  /** Run by the kubelet from a file, or owned by the Node: nobody else can end it. */
  | 'Static'
  /** It asked to stay: it tolerates the disrupted taint. */
  | 'ToleratesDisruption'
  /** Terminating for longer than its grace period and `STUCK_AFTER`. */
  | 'StuckTerminating';

/**
 * The order in which pods go; each class is gone before the next begins. Numeric priority does not count, as in Karpenter.
 * 0 others, 1 pods of DaemonSets, 2 critical pods, 3 critical pods of DaemonSets.
 */
export const DRAIN_GROUPS = ['NonCritical', 'NonCriticalDaemon', 'Critical', 'CriticalDaemon'] as const;
export type DrainGroup = (typeof DRAIN_GROUPS)[number];

export type Drainability =
  { readonly kind: 'skipped'; readonly because: SkipReason } | { readonly kind: 'counts'; readonly group: DrainGroup };

/** Whether a drain counts a pod at `now`, and in which group it goes. */
export function drainabilityOf(pod: PodView, now: EpochMs): Drainability {
  if (isFinished(pod)) return { kind: 'skipped', because: 'Finished' };
  if (isStatic(pod)) return { kind: 'skipped', because: 'Static' };
  if (toleratesDisruption(pod)) return { kind: 'skipped', because: 'ToleratesDisruption' };
  if (isStuckTerminating(pod, now)) return { kind: 'skipped', because: 'StuckTerminating' };
  return { kind: 'counts', group: drainGroupOf(pod) };
}

/** A mirror pod, or one that the Node itself owns. */
export function isStatic({ annotations, ownerReferences }: Pick<PodView, 'annotations' | 'ownerReferences'>): boolean {
  return (
    annotations[MIRROR_ANNOTATION] !== undefined ||
    ownerReferences.some(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Node')
  );
}

/** Whether a DaemonSet owns the pod. An owner of that kind in another API group or version is something else. */
function isDaemonSetPod({ ownerReferences }: Pick<PodView, 'ownerReferences'>): boolean {
  return ownerReferences.some(({ apiVersion, kind }) => apiVersion === 'apps/v1' && kind === 'DaemonSet');
}

function isCritical({ priorityClassName }: Pick<PodView, 'priorityClassName'>): boolean {
  return priorityClassName !== undefined && CRITICAL_PRIORITY_CLASSES.includes(priorityClassName);
}

/** The group of the pod in the order of a drain. */
export function drainGroupOf(pod: Pick<PodView, 'ownerReferences' | 'priorityClassName'>): DrainGroup {
  if (isCritical(pod)) return isDaemonSetPod(pod) ? 'CriticalDaemon' : 'Critical';
  return isDaemonSetPod(pod) ? 'NonCriticalDaemon' : 'NonCritical';
}

/** Whether the pod tolerates `karpenter.sh/disrupted:NoSchedule`. That it tolerates a cordon says nothing. */
export function toleratesDisruption({ tolerations }: Pick<PodView, 'tolerations'>): boolean {
  return tolerations.some(toleratesTaint);
}

function toleratesTaint({ key, operator, value, effect }: Toleration): boolean {
  if (effect !== undefined && effect !== DISRUPTED_TAINT.effect) return false;
  if (key !== undefined && key !== DISRUPTED_TAINT.key) return false;
  // Without a key only `Exists` is valid, and matches every taint.
  return operator === 'Exists' || (operator === 'Equal' && key !== undefined && value === '');
}

/** Whether the pod's grace period ended more than `STUCK_AFTER` ago. */
function isStuckTerminating({ deletionTime }: Pick<PodView, 'deletionTime'>, now: EpochMs): boolean {
  return deletionTime !== undefined && now > addDuration(deletionTime, STUCK_AFTER);
}

/** Time from which a pod that terminates now counts as stuck; undefined for one that does not terminate. */
export function stuckTime({ deletionTime }: Pick<PodView, 'deletionTime'>): EpochMs | undefined {
  // A pod is stuck strictly later than the end of its wait.
  return deletionTime === undefined ? undefined : rightAfter(addDuration(deletionTime, STUCK_AFTER));
}
