/**
 * Pods of a node that a drain is about, all or those that use some of its GPUs, and how each of them is drained, as in NVSentinel. Pure. Mirror
 * pods never count: nobody but their kubelet can end them. Of several GPUs in one event all count, where NVSentinel takes the first.
 */
import type { DrainMode } from '../../../shared/domain/drain-settings.ts';
import { gracePeriodOf, isStatic } from '../../../shared/domain/drainable-pod.ts';
import { COMPONENT_RESET, type HealthEvent } from '../../../shared/domain/health-event.ts';
import { fieldsOf, isJsonObject, listIn, readJson } from '../../../shared/domain/json.ts';
import { qualifiedName } from '../../../shared/domain/kubernetes-object.ts';
import { isFinished, isTerminating, type PodView } from '../../../shared/domain/pod.ts';
import { addDuration, latest, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';

/** Annotation of a pod with the devices that it uses, kept up to date by NVSentinel's metadata-collector. */
const DEVICES_ANNOTATION = 'dgxc.nvidia.com/devices';

/** Reason why a drain has nothing to do with a pod. */
export type OutOfScope =
  'SystemNamespace' | 'NoRule' | 'DaemonSet' | 'Static' | 'Finished' | 'NoDevices' | 'OtherEntity';

/** Reason why a pod that should go is not waited for. It is reported, never counted as gone. */
export type LeftBehind = 'StuckTerminating' | 'NotReady';

export type PodDrainability =
  | { readonly kind: 'outOfScope'; readonly because: OutOfScope }
  | { readonly kind: 'leftBehind'; readonly because: LeftBehind; readonly mode: DrainMode }
  | {
      readonly kind: 'counts';
      readonly mode: DrainMode;
      /** Instant after which the pod no longer counts, even if nothing happens; at that very instant it still does. */
      readonly until: EpochMs | undefined;
    }
  /** The pod may use an entity of the drain, and nothing says whether it does: unknown blocks (I6). */
  | { readonly kind: 'unknown'; readonly mode: DrainMode; readonly message: string };

/** The mode for a pod; undefined: no setting matches it. `system`: its namespace is never drained. */
export type ModeOf = (pod: Pick<PodView, 'namespace' | 'labels'>) => DrainMode | 'system' | undefined;

export interface PodCriteria {
  readonly scope: DrainScope;
  readonly modeOf: ModeOf;
  /** Every mode is `Immediate`. */
  readonly force: boolean;
  readonly gpuPodsOnly: boolean;
  readonly notReadyTimeout: DurationMs;
  /** Time since which the node's kubelet has not answered (`Ready` is `Unknown`): pods that it never took on do not start any more. */
  readonly kubeletSilentSince: EpochMs | undefined;
}

/** Tells whether a pod counts in a drain at `now`, and by which mode it goes. */
export function podDrainability(pod: PodView, criteria: PodCriteria, now: EpochMs): PodDrainability {
  const outOfScope = (because: OutOfScope): PodDrainability => ({ kind: 'outOfScope', because });
  const stated = criteria.modeOf(pod);
  if (stated === 'system') return outOfScope('SystemNamespace');
  if (stated === undefined) return outOfScope('NoRule');
  if (pod.ownerReferences.some(({ kind }) => kind === 'DaemonSet')) return outOfScope('DaemonSet');
  if (isStatic(pod)) return outOfScope('Static');
  if (isFinished(pod)) return outOfScope('Finished');
  const mode = criteria.force ? 'Immediate' : stated;

  if (criteria.scope.kind === 'entities') {
    const use = usesEntity(pod, criteria.scope.entities);
    if (use.kind === 'unknown') return { kind: 'unknown', mode, message: use.message };
    // Whatever its state, such a pod may still use the device that is about to be reset.
    return use.kind === 'yes' ? { kind: 'counts', mode, until: undefined } : outOfScope('OtherEntity');
  }
  if (criteria.gpuPodsOnly && pod.annotations[DEVICES_ANNOTATION] === undefined) return outOfScope('NoDevices');
  const { deletionTime } = pod;
  const notReadySince = notReadySinceOf(pod, criteria);
  if (isTerminating(pod) && deletionTime !== undefined) {
    const until = addDuration(deletionTime, gracePeriodOf(pod));
    return isPast(now, until)
      ? { kind: 'leftBehind', because: 'StuckTerminating', mode }
      : { kind: 'counts', mode, until };
  }
  if (notReadySince === undefined) return { kind: 'counts', mode, until: undefined };
  const until = addDuration(notReadySince, criteria.notReadyTimeout);
  return isPast(now, until) ? { kind: 'leftBehind', because: 'NotReady', mode } : { kind: 'counts', mode, until };
}

/** Whether `now` is later than `until`. Unlike with `isDue`, the pod still has that very instant, as in NVSentinel. */
const isPast = (now: EpochMs, until: EpochMs): boolean => now > until;

/** Time since which a pod is not ready. A pod that waits for a silent kubelet is not ready either, from when both hold. */
function notReadySinceOf(
  { notReadySince, phase, ready, startTime, creationTime }: PodView,
  { kubeletSilentSince }: PodCriteria,
): EpochMs | undefined {
  if (notReadySince !== undefined || ready || kubeletSilentSince === undefined) return notReadySince;
  if (phase !== 'Pending' || startTime !== undefined) return undefined;
  return creationTime === undefined ? kubeletSilentSince : latest(kubeletSilentSince, creationTime);
}

type Use = { readonly kind: 'yes' } | { readonly kind: 'no' } | { readonly kind: 'unknown'; readonly message: string };

function usesEntity(pod: PodView, entities: readonly string[]): Use {
  const name = qualifiedName(pod);
  const annotation = pod.annotations[DEVICES_ANNOTATION];
  if (annotation === undefined) {
    return pod.limitedResources.some(resource => PARTIAL_DRAIN_RESOURCES.includes(resource))
      ? { kind: 'unknown', message: `pod ${name} is requesting devices but is missing device annotation` }
      : { kind: 'no' };
  }
  const devices = readDevices(annotation);
  if (devices === undefined) {
    return { kind: 'unknown', message: `the annotation ${DEVICES_ANNOTATION} of pod ${name} cannot be read` };
  }
  return devices.some(device => entities.includes(device)) ? { kind: 'yes' } : { kind: 'no' };
}

/** Reads `{"devices": {"nvidia.com/gpu": ["GPU-…"]}}`: the devices of the resources that a drain can be limited to. */
function readDevices(annotation: string): readonly string[] | undefined {
  const { devices } = fieldsOf(readJson(annotation));
  if (!isJsonObject(devices)) return undefined;
  return PARTIAL_DRAIN_RESOURCES.flatMap(resource =>
    listIn(devices, resource).filter(device => typeof device === 'string'),
  );
}

/** Entity types that a drain can be limited to, and the resources by which a pod uses one. */
const ENTITY_RESOURCES: ReadonlyMap<string, readonly string[]> = new Map([
  ['GPU_UUID', ['nvidia.com/gpu', 'nvidia.com/pgpu']],
]);
/** Resources whose users must say which of them they use, while a drain is limited to entities. */
const PARTIAL_DRAIN_RESOURCES: readonly string[] = [...ENTITY_RESOURCES.values()].flat();

export type DrainScope =
  | { readonly kind: 'full' }
  /** UUIDs of GPUs, sorted. */
  | { readonly kind: 'entities'; readonly entities: readonly string[] };

export const FULL: DrainScope = { kind: 'full' };

export type WantedScope = DrainScope | { readonly kind: 'unusable'; readonly message: string };

/** The scope that an event asks for. `unusable`: a partial drain without an entity that a pod could be matched with; never a full one instead. */
export function scopeOf(
  event: Pick<HealthEvent, 'recommendedAction' | 'entitiesImpacted'>,
  partialDrainEnabled: boolean,
): WantedScope {
  if (!partialDrainEnabled || event.recommendedAction !== COMPONENT_RESET) return FULL;
  const entities = event.entitiesImpacted
    .filter(({ entityType, entityValue }) => ENTITY_RESOURCES.has(entityType) && entityValue !== '')
    .map(({ entityValue }) => entityValue);
  if (entities.length > 0) return { kind: 'entities', entities: [...new Set(entities)].toSorted() };
  return { kind: 'unusable', message: 'no supported entities for a partial drain found' };
}

/** A scope wide enough for each of these requests. */
export function scopeOfAll(
  requests: readonly { readonly event: Parameters<typeof scopeOf>[0] }[],
  partialDrainEnabled: boolean,
): DrainScope {
  return requests.map(({ event }) => scopeOf(event, partialDrainEnabled)).reduce<DrainScope>(union, NOTHING);
}

const NOTHING: DrainScope = { kind: 'entities', entities: [] };

function union(a: DrainScope, b: WantedScope): DrainScope {
  if (b.kind === 'unusable') return a;
  if (a.kind === 'full' || b.kind === 'full') return FULL;
  return { kind: 'entities', entities: [...new Set([...a.entities, ...b.entities])].toSorted() };
}

/** Whether a drain of `earlier` has done, or does, what one of `wanted` would. */
export function covers(earlier: DrainScope, wanted: DrainScope): boolean {
  if (earlier.kind === 'full') return true;
  return wanted.kind === 'entities' && wanted.entities.every(entity => earlier.entities.includes(entity));
}

/** The scope in words: `all pods`, or the GPUs. */
export function formatScope(scope: DrainScope): string {
  return scope.kind === 'full' ? 'all pods' : `pods on ${scope.entities.join(', ')}`;
}
