/**
 * How much of a node a drain is about: all of it, or the pods that use some of its GPUs, as in NVSentinel.
 * Pure. Of several GPUs in one event all count, where NVSentinel takes the first.
 */
import { COMPONENT_RESET, type HealthEvent } from '../../shared/domain/health-event.ts';

/** Entity types that a drain can be limited to, and the resources by which a pod uses one. */
const ENTITY_RESOURCES: ReadonlyMap<string, readonly string[]> = new Map([
  ['GPU_UUID', ['nvidia.com/gpu', 'nvidia.com/pgpu']],
]);
/** Resources whose users must say which of them they use, while a drain is limited to entities. */
export const PARTIAL_DRAIN_RESOURCES: readonly string[] = [...ENTITY_RESOURCES.values()].flat();

export type DrainScope =
  | { readonly kind: 'full' }
  /** UUIDs of GPUs, sorted. */
  | { readonly kind: 'entities'; readonly entities: readonly string[] };

export const FULL: DrainScope = { kind: 'full' };

export type WantedScope = DrainScope | { readonly kind: 'unusable'; readonly message: string };

/** What an event asks for. `unusable`: a partial drain without an entity that a pod could be matched with; never a full one instead. */
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

/** Wide enough for each of these requests. */
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

/** In words: `all pods`, or the GPUs. */
export function formatScope(scope: DrainScope): string {
  return scope.kind === 'full' ? 'all pods' : `pods on ${scope.entities.join(', ')}`;
}
