/** The arithmetic of PodDisruptionBudgets, as the disruption controller does it. Pure. */
import type { JsonObject, KubernetesObject, OwnerReference } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, minutes, parseTimestamp, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { arrayAt, isObject, objectAt, textAt } from '../../packages/kube-apiserver/src/json.ts';
import { says } from './actor.ts';

/** An eviction that was granted and whose pod does not go counts for this long. */
const EVICTION_EXPIRES_AFTER = minutes(2);
const NOTHING: JsonObject = {};

/** By UID of the owner that has a pod, empty for pods without one: the owner, and the most of its pods at one time. */
export type KnownOwners = Map<string, { readonly owner: OwnerReference | undefined; readonly mostPods: number }>;

const controllerOf = ({ metadata }: KubernetesObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(owner => owner.controller === true);

/** The number of pods that a budget's pods should be; remembers their owners in `known`, and forgets all others. */
export function expectedPods(
  pods: readonly KubernetesObject[],
  known: KnownOwners,
  replicasOf: (owner: OwnerReference) => number | undefined,
): number {
  const groups = Map.groupBy(pods, pod => controllerOf(pod)?.uid ?? '');
  for (const uid of known.keys()) if (!groups.has(uid)) known.delete(uid);
  for (const [uid, group] of groups) {
    const [first] = group;
    const mostPods = Math.max(group.length, known.get(uid)?.mostPods ?? 0);
    known.set(uid, { owner: first && controllerOf(first), mostPods });
  }
  let expected = 0;
  for (const { owner, mostPods } of known.values()) expected += (owner && replicasOf(owner)) ?? mostPods;
  return expected;
}

export const hasFinished = ({ status = NOTHING }: KubernetesObject): boolean => {
  const phase = textAt(status, 'phase');
  return phase === 'Succeeded' || phase === 'Failed';
};

/**
 * @param expectedPodsOfOwners as `expectedPods` has it
 * @returns the status, and when an eviction that was granted counts no more, so that it must be computed again
 */
export function nextStatus(
  budget: KubernetesObject,
  pods: readonly KubernetesObject[],
  expectedPodsOfOwners: number,
  now: EpochMs,
): { status: JsonObject; recheck: EpochMs | undefined } {
  const { status: old = NOTHING, spec = NOTHING, metadata } = budget;
  const byName = new Map(pods.map(pod => [pod.metadata.name, pod]));
  const disruptedPods: Record<string, string> = {};
  let recheck: EpochMs | undefined;
  const granted = objectAt(old, 'disruptedPods');
  for (const name of Object.keys(granted)) {
    const since = textAt(granted, name) ?? '';
    const expiry = addDuration(parseTimestamp(since) ?? now, EVICTION_EXPIRES_AFTER);
    if (byName.get(name)?.metadata.deletionTimestamp !== undefined || !byName.has(name) || expiry <= now) continue;
    disruptedPods[name] = since;
    recheck = recheck === undefined || expiry < recheck ? expiry : recheck;
  }
  const currentHealthy = pods.filter(
    pod => says(pod, 'Ready') && pod.metadata.deletionTimestamp === undefined && !(pod.metadata.name in disruptedPods),
  ).length;
  const { expected, desired } = demandOf(spec, pods.length, expectedPodsOfOwners);
  const spare = currentHealthy - desired;
  const disruptionsAllowed = expected <= 0 || spare <= 0 ? 0 : spare;
  return {
    status: {
      ...(Object.keys(disruptedPods).length > 0 && { disruptedPods }),
      conditions: [conditionOf(old, disruptionsAllowed, metadata.generation ?? 0, now)],
      currentHealthy,
      desiredHealthy: desired,
      disruptionsAllowed,
      expectedPods: expected,
      observedGeneration: metadata.generation ?? 0,
    },
    recheck,
  };
}

function conditionOf(old: JsonObject, allowed: number, observedGeneration: number, now: EpochMs): JsonObject {
  const status = allowed > 0 ? 'True' : 'False';
  const before = arrayAt(old, 'conditions')
    .filter(isObject)
    .find(({ type }) => type === 'DisruptionAllowed');
  const unchanged = before?.['status'] === status ? textAt(before, 'lastTransitionTime') : undefined;
  return {
    type: 'DisruptionAllowed',
    status,
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration,
    lastTransitionTime: unchanged ?? toTimestamp(now),
  };
}

/** How many pods there should be, and how many of them must be healthy. */
function demandOf(spec: JsonObject, count: number, ofOwners: number): { expected: number; desired: number } {
  const { maxUnavailable, minAvailable = 1 } = spec;
  if (maxUnavailable !== undefined) {
    return { expected: ofOwners, desired: Math.max(0, ofOwners - scaled(maxUnavailable, ofOwners)) };
  }
  if (typeof minAvailable === 'number') return { expected: count, desired: minAvailable };
  return { expected: ofOwners, desired: scaled(minAvailable, ofOwners) };
}

/** An int-or-percent of a total, rounded up. */
function scaled(value: unknown, total: number): number {
  if (typeof value === 'number') return value;
  const percent = Number.parseInt(String(value), 10);
  return Number.isNaN(percent) ? 0 : Math.floor((percent * total + 99) / 100);
}
