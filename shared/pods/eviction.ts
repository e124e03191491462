/**
 * Evicts and deletes pods. Both carry the UID, so that another pod of that name is never reached (I10). An eviction also carries the
 * version that was looked at, and so does a deletion that protection forbids: a pod that was annotated in between is looked at again
 * before anything happens to it (I2).
 */
import { instant } from '../contract/instant.ts';
import { RESOURCES } from '../contract/resources.ts';
import * as z from '../contract/zod.ts';
import { cutText } from '../domain/cut-text.ts';
import type { JsonObject, ObjectRef } from '../domain/kubernetes-object.ts';
import type { PodView } from '../domain/pod.ts';
import { addDuration, durationBetween, seconds, toDurationMs, toTimestamp } from '../domain/time.ts';
import type { DurationMs, EpochMs } from '../domain/time.ts';
import { TerminalError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { KubernetesApi } from '../ports/kubernetes-api.ts';
import { orNotKnown, type NotKnown } from '../ports/read-answer.ts';

interface Deps {
  readonly kubernetes: Pick<KubernetesApi, 'evict'>;
  readonly clock: Pick<Clock, 'now'>;
}

interface DeletionDeps {
  readonly kubernetes: Pick<KubernetesApi, 'delete' | 'patch'>;
  readonly clock: Pick<Clock, 'now'>;
}

export type EvictionAnswer =
  | { readonly kind: 'evicted' }
  /** 404: nothing to do. */
  | { readonly kind: 'gone' }
  /** 409: it changed in between, or is another pod of that name: look again. */
  | { readonly kind: 'changed' }
  /** 429: a PodDisruptionBudget or an admission webhook forbids it now. */
  | {
      readonly kind: 'blocked';
      readonly message: string;
      readonly retryAfter: DurationMs | undefined;
      /** It was refused a moment ago, and was not asked for again. */
      readonly isHeld?: boolean;
    }
  | UnansweredPod;

/** Evictions that were refused a moment ago, by UID of the pod: until when none of them is asked for again, and what is said (I11). */
export type HeldEvictions = Readonly<Record<string, { readonly message: string; readonly until: EpochMs }>>;

export const heldEvictionsSchema = z.record(z.string(), z.object({ message: z.string(), until: instant }));

const MESSAGE_CHARS = 200;

/** What is to be remembered of evictions. */
export function heldAfter(
  before: HeldEvictions | undefined,
  answers: readonly { readonly uid: string; readonly answer: { readonly kind: string; readonly message?: string } }[],
  now: EpochMs,
): HeldEvictions | undefined {
  const held = answers.flatMap(({ uid, answer: { kind, message = '' } }) => {
    if (kind !== 'blocked' && kind !== 'refused' && kind !== 'failed') return [];
    const known = before?.[uid];
    if (known !== undefined && known.until > now) return [[uid, known] as const];
    return [[uid, { message: cutText(message, MESSAGE_CHARS), until: addDuration(now, RETRY) }] as const];
  });
  return held.length === 0 ? undefined : Object.fromEntries(held);
}

/** The call failed, for this pod alone: the other pods are dealt with all the same. */
export type UnansweredPod = RefusedPod | FailedPod;

/** Several PodDisruptionBudgets select it, one cannot be used, or an admission policy denies it. Nothing succeeds until somebody changes that. */
export interface RefusedPod {
  readonly kind: 'refused';
  readonly message: string;
}

/** No permission, an error of the server or of a webhook, a time-out: a later try may succeed, and what came of this one is not known. */
export interface FailedPod {
  readonly kind: 'failed';
  readonly message: string;
  readonly retryAfter: DurationMs | undefined;
}

function unanswered({ error }: NotKnown): UnansweredPod {
  if (error instanceof TerminalError) return { kind: 'refused', message: error.message };
  const { message, retryAfterMs } = error;
  return { kind: 'failed', message, retryAfter: retryAfterMs === undefined ? undefined : toDurationMs(retryAfterMs) };
}

const refOf = ({ namespace, name }: PodView): ObjectRef => ({ type: RESOURCES.Pod, namespace, name });

/** Asks for one eviction, unless it was refused a moment ago; without `gracePeriodSeconds` with the pod's own grace period. */
export async function evictPod(
  { kubernetes, clock }: Deps,
  pod: PodView,
  {
    gracePeriodSeconds,
    held,
  }: { readonly gracePeriodSeconds?: number | undefined; readonly held?: HeldEvictions | undefined } = {},
): Promise<EvictionAnswer> {
  const { uid, resourceVersion } = pod;
  const now = clock.now();
  const known = held?.[uid];
  if (known !== undefined && known.until > now) {
    return { kind: 'blocked', message: known.message, retryAfter: durationBetween(now, known.until), isHeld: true };
  }
  const outcome = await orNotKnown(
    kubernetes.evict(refOf(pod), {
      preconditions: { uid, resourceVersion },
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    }),
  );
  switch (outcome.kind) {
    case 'ok':
      return { kind: 'evicted' };
    case 'notFound':
      return { kind: 'gone' };
    case 'conflict':
      return { kind: 'changed' };
    case 'blocked': {
      const { message, retryAfterMs } = outcome;
      return {
        kind: 'blocked',
        message,
        retryAfter: retryAfterMs === undefined ? undefined : toDurationMs(retryAfterMs),
      };
    }
    case 'misconfigured':
      return { kind: 'refused', message: outcome.message };
    case 'notKnown':
      return unanswered(outcome);
  }
}

/** Kubernetes' condition of pods that are disrupted: a Job's `podFailurePolicy` and others tell by it that the pod did not fail by itself. */
const DISRUPTION_TARGET = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByCurfew' } as const;

/**
 * Writes the condition on a pod that is about to be deleted by force, as an eviction does by itself. It only informs: what comes of it holds
 * no deletion back. Answers the pod's version afterwards.
 */
async function markDisrupted({ kubernetes, clock }: DeletionDeps, pod: PodView): Promise<string> {
  const { uid, resourceVersion, conditions = [] } = pod;
  const isIts = (condition: JsonObject): boolean => condition['type'] === DISRUPTION_TARGET.type;
  if (conditions.some(each => isIts(each) && each['status'] === DISRUPTION_TARGET.status)) return resourceVersion;
  const message = 'the node is emptied, and the time that was given for that is over';
  const written = { ...DISRUPTION_TARGET, message, lastTransitionTime: toTimestamp(clock.now()) };
  const body = {
    metadata: { uid, resourceVersion },
    status: { conditions: [...conditions.filter(each => !isIts(each)), written] },
  };
  const outcome = await orNotKnown(kubernetes.patch(refOf(pod), { type: 'merge', body }, { subresource: 'status' }));
  return outcome.kind === 'ok' ? outcome.object.metadata.resourceVersion : resourceVersion;
}

/** Deletes one pod whatever protects it. `gone`: it is no longer there, or another pod has its name. */
export async function deletePod(
  deps: DeletionDeps,
  pod: PodView,
  gracePeriodSeconds: number,
): Promise<{ readonly kind: 'deleted' | 'gone' } | UnansweredPod> {
  const { kubernetes } = deps;
  const { uid } = pod;
  await markDisrupted(deps, pod);
  const outcome = await orNotKnown(kubernetes.delete(refOf(pod), { preconditions: { uid }, gracePeriodSeconds }));
  if (outcome.kind === 'notKnown') return unanswered(outcome);
  return { kind: outcome.kind === 'ok' ? 'deleted' : 'gone' };
}

/** Deletes one pod that is as it was looked at. `changed`: it is not, or is another pod of that name: look again (I2). */
export async function deleteUnchangedPod(
  deps: DeletionDeps,
  pod: PodView,
  gracePeriodSeconds: number,
): Promise<{ readonly kind: 'deleted' | 'gone' | 'changed' } | UnansweredPod> {
  const { kubernetes } = deps;
  const { uid } = pod;
  const preconditions = { uid, resourceVersion: await markDisrupted(deps, pod) };
  const outcome = await orNotKnown(kubernetes.delete(refOf(pod), { preconditions, gracePeriodSeconds }));
  if (outcome.kind === 'notKnown') return unanswered(outcome);
  return { kind: outcome.kind === 'ok' ? 'deleted' : outcome.kind === 'conflict' ? 'changed' : 'gone' };
}

/** Failures after which an eviction is tried only as a safety net: the budget's own event wakes the drain sooner. */
const PATIENT_AFTER = 20;
/** More of them make no difference to the next delay. */
export const REFUSALS_COUNTED = PATIENT_AFTER + 1;
const PATIENT_RETRY = seconds(60);
const RETRY = seconds(10);

/**
 * How long to wait before an eviction that was refused is tried again: 10 s (I11), and once a minute after the twentieth refusal. What the API server asked for (`Retry-After`) is respected where it is longer.
 *
 * @param failures refusals in a row, from 1
 */
export function evictionRetryDelay(failures: number, retryAfter: DurationMs | undefined): DurationMs {
  const own = failures > PATIENT_AFTER ? PATIENT_RETRY : RETRY;
  return toDurationMs(Math.max(own, retryAfter ?? 0));
}
