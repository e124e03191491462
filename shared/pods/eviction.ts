/**
 * One call about one pod. Both carry the UID, so that another pod of that name is never reached (I10). An eviction also carries the version
 * that was looked at, and so does a deletion that protection forbids: a pod that was annotated in between is looked at again before anything
 * happens to it (I2). Whatever refuses a call is thrown.
 */
import { RESOURCES } from '../contract/resources.ts';
import type { JsonObject, ObjectRef } from '../domain/kubernetes-object.ts';
import type { PodView } from '../domain/pod.ts';
import { toDurationMs, toTimestamp, type DurationMs } from '../domain/time.ts';
import { RetryableError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import { changeStatus } from '../ports/exact-change.ts';
import type { KubernetesApi } from '../ports/kubernetes-api.ts';
import { orUnavailable } from '../ports/read-answer.ts';

export interface PodDeps {
  readonly kubernetes: Pick<KubernetesApi, 'evict' | 'delete' | 'patch'>;
  readonly clock: Pick<Clock, 'now'>;
}

export type EvictionAnswer =
  | { readonly kind: 'evicted' }
  /** 409: it changed in between, or is another pod of that name: look again. */
  | { readonly kind: 'changed' }
  /** 429: a PodDisruptionBudget or an admission webhook forbids it now. */
  | { readonly kind: 'blocked'; readonly message: string; readonly retryAfter: DurationMs | undefined };

export type DeletionAnswer =
  | { readonly kind: 'deleted' }
  /** 409 of a deletion with a resourceVersion: as `changed` of an eviction. */
  | { readonly kind: 'changed' }
  /** 409 of a deletion by UID alone: another pod has its name. */
  | { readonly kind: 'replaced' };

/** 404 of a pod that the API server had listed a moment ago: it has just gone, or the API server contradicts itself. */
export const NO_SUCH_POD = 'the API server lists the pod, and answers that there is none';

const noSuchPod = (): RetryableError => new RetryableError(NO_SUCH_POD, { reason: 'NotFound' });

const refOf = ({ namespace, name }: PodView): ObjectRef => ({ type: RESOURCES.Pod, namespace, name });

/**
 * Evicts a pod that is as it was looked at; without `gracePeriodSeconds` with its own grace period.
 *
 * @throws {RetryableError | TerminalError} whatever refuses it, a PodDisruptionBudget that cannot be used and 404 included
 */
export async function evictPod(
  { kubernetes }: Pick<PodDeps, 'kubernetes'>,
  pod: PodView,
  gracePeriodSeconds?: number,
): Promise<EvictionAnswer> {
  const { uid, resourceVersion } = pod;
  const outcome = await kubernetes.evict(refOf(pod), {
    preconditions: { uid, resourceVersion },
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
  });
  switch (outcome.kind) {
    case 'ok':
      return { kind: 'evicted' };
    case 'notFound':
      throw noSuchPod();
    case 'conflict':
      return { kind: 'changed' };
    case 'blocked': {
      const { message, retryAfterMs } = outcome;
      const retryAfter = retryAfterMs === undefined ? undefined : toDurationMs(retryAfterMs);
      return { kind: 'blocked', message, retryAfter };
    }
    case 'misconfigured':
      throw new RetryableError(outcome.message, { reason: 'Misconfigured' });
  }
}

/**
 * Deletes a pod, which gets the condition `DisruptionTarget` before.
 *
 * @param options `unchanged`: only as it was looked at (I2); else whatever it is by now
 * @throws {RetryableError | TerminalError} whatever refuses it, 404 included
 */
export async function deletePod(
  deps: PodDeps,
  pod: PodView,
  { gracePeriodSeconds, unchanged }: { readonly gracePeriodSeconds: number; readonly unchanged: boolean },
): Promise<DeletionAnswer> {
  const { uid } = pod;
  const resourceVersion = await markDisrupted(deps, pod);
  const preconditions = { uid, ...(unchanged && { resourceVersion }) };
  const outcome = await deps.kubernetes.delete(refOf(pod), { preconditions, gracePeriodSeconds });
  if (outcome.kind === 'notFound') throw noSuchPod();
  if (outcome.kind === 'ok') return { kind: 'deleted' };
  return { kind: unchanged ? 'changed' : 'replaced' };
}

/** Kubernetes' condition of pods that are disrupted: a Job's `podFailurePolicy` and others tell by it that the pod did not fail by itself. */
const DISRUPTION_TARGET = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByCurfew' } as const;

/**
 * Writes the condition on a pod that is about to be deleted by force, as an eviction does by itself. It only informs: if it fails,
 * the pod is deleted all the same. Answers the pod's version afterwards.
 */
async function markDisrupted({ kubernetes, clock }: PodDeps, pod: PodView): Promise<string> {
  const { resourceVersion, conditions = [] } = pod;
  const isIts = (condition: JsonObject): boolean => condition['type'] === DISRUPTION_TARGET.type;
  if (conditions.some(each => isIts(each) && each['status'] === DISRUPTION_TARGET.status)) return resourceVersion;
  const message = 'the node is emptied, and the time for the pod to end by itself is over';
  const written = { ...DISRUPTION_TARGET, message, lastTransitionTime: toTimestamp(clock.now()) };
  const status = { conditions: [...conditions.filter(each => !isIts(each)), written] };
  const outcome = await orUnavailable(changeStatus(kubernetes, refOf(pod), pod, status));
  return outcome.kind === 'ok' ? outcome.object.metadata.resourceVersion : resourceVersion;
}
