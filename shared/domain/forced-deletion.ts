/**
 * Tells when a drain with a deadline deletes a pod instead of evicting it, and with how much grace
 * (docs/terminations.md). The instant is the deadline minus the pod's own grace period: the pod has its full grace and
 * is gone at the deadline. Protection and PodDisruptionBudgets do not count there (I2): the deadline is what the user
 * set. Pure.
 *
 * Karpenter forces strictly later than `deadline - grace`; here that instant counts, as every due instant does.
 */
import type { PodView } from './pod.ts';
import { addDuration, durationBetween, isDue, toDurationMs, toEpochMs, type EpochMs } from './time.ts';

/**
 * Grace is never below this: a deletion with grace 0 removes the object while its containers run on, and its successor may start
 * beside them, as in Karpenter.
 */
const MINIMUM_GRACE_SECONDS = 1;

type ForcedPod = Pick<PodView, 'deletionTime' | 'deletionGracePeriod' | 'terminationGracePeriod'>;

/**
 * From when on the pod is deleted whatever protects it; undefined: never. A pod that terminates already is deleted again, with less
 * grace, at once when it would end after the deadline. One that ends in time is left to end.
 */
export function forceTime(pod: ForcedPod, deadline: EpochMs | undefined): EpochMs | undefined {
  if (deadline === undefined) return undefined;
  if (pod.deletionTime !== undefined) return pod.deletionTime > deadline ? NOW : undefined;
  if (pod.terminationGracePeriod === undefined) return deadline;
  return addDuration(deadline, toDurationMs(0 - pod.terminationGracePeriod));
}

/** Earlier than any instant that a rule is asked about. */
const NOW = toEpochMs(Number.MIN_SAFE_INTEGER);

/**
 * Whether the pod must be deleted now. Once a deadline has passed, a pod that was deleted with the least grace ends after it by that
 * second: deleting it again would change nothing.
 */
export function isForced(pod: ForcedPod, deadline: EpochMs | undefined, now: EpochMs): boolean {
  const time = forceTime(pod, deadline);
  if (deadline === undefined || time === undefined || !isDue(now, time)) return false;
  return !endsBy(pod, addDuration(now, LEAST_GRACE));
}

const LEAST_GRACE = toDurationMs(MINIMUM_GRACE_SECONDS * 1000);

/** Kubernetes writes whole seconds, so that what ends within the least grace may be written as up to a second later. */
function endsBy({ deletionTime }: ForcedPod, instant: EpochMs): boolean {
  return deletionTime !== undefined && deletionTime <= instant;
}

/**
 * Whole seconds of grace of a deletion at `now` that is over at the deadline; at least `MINIMUM_GRACE_SECONDS`. Of a pod that stops
 * already they count from when that was asked for: so the API server counts them, and what would be over by now it cuts to one second.
 */
export function forcedGraceSeconds(pod: ForcedPod, deadline: EpochMs, now: EpochMs): number {
  const begin = isDue(now, deadline) ? now : (deletionBegin(pod) ?? now);
  return Math.max(Math.floor(durationBetween(begin, deadline) / 1000), MINIMUM_GRACE_SECONDS);
}

function deletionBegin({ deletionTime, deletionGracePeriod }: ForcedPod): EpochMs | undefined {
  if (deletionTime === undefined || deletionGracePeriod === undefined) return undefined;
  return addDuration(deletionTime, toDurationMs(0 - deletionGracePeriod));
}
