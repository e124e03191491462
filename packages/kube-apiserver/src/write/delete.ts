/**
 * Deletion.
 *
 *   delete ──▶ no finalizers, no grace period ──────────────▶ gone
 *          ├─▶ finalizers ──▶ deletionTimestamp, grace 0 ───▶ gone when the last finalizer is taken off
 *          └─▶ pod on a node ──▶ deletionTimestamp in the future ──▶ gone by a delete with grace period 0 (the kubelet's)
 */
import { admitValidating } from '../admission/validating.ts';
import type { JsonObject } from '../json.ts';
import { arrayAt, equalJson, numberAt, objectAt, textAt } from '../json.ts';
import { metadataOf, nameOf, namespaceOf, withMetadata } from '../objects.ts';
import { DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS } from '../resources/kind-rules.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { existing, resourceOf, rfc3339 } from '../server-context.ts';
import { deleted } from '../status-errors.ts';
import type { DeleteOptions, Status } from '../types.ts';
import { commit, finish } from './commit.ts';
import type { Container } from './containers.ts';
import { checkDeletePreconditions } from './preconditions.ts';
import { afterChange, containerOf, finalize } from './containers.ts';
import type { Remains } from './containers.ts';

/**
 * @returns the object while it stays, else a success Status
 * @throws ApiStatusError 403, 404, 409
 */
export function deleteObject(server: ServerContext, target: Target, options: DeleteOptions): JsonObject | Status {
  const current = existing(target);
  checkDeletePreconditions(target, current, options.preconditions);
  admitValidating(server, {
    target,
    operation: 'DELETE',
    subresource: undefined,
    object: undefined,
    oldObject: current,
    options,
  });
  const remains = remove(server, target, current, options);
  const { gracePeriodSeconds } = options;
  const request = {
    verb: 'delete',
    options,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  } as const;
  const after = 'stays' in remains ? remains.stays : undefined;
  finish(server, target, request, { before: current, after });
  if (after !== undefined) return after;
  if ('removed' in remains && target.served.rules.returnsDeleted) return remains.removed;
  return deleted(resourceOf(target.served), target.name, textAt(metadataOf(current), 'uid'));
}

/** Deletes without reporting the request: for requests that delete as a part of what they do. */
export function remove(server: ServerContext, target: Target, current: JsonObject, options: DeleteOptions): Remains {
  checkDeletePreconditions(target, current, options.preconditions);
  const container = containerOf(server, target);
  if (container !== undefined) return removeContainer(server, target, { container, current, options });
  const nowMs = server.clock.now();
  const marked = withDependentsFinalizer(current, options);
  const graceful = target.served.rules.graceful ? gracefulState(current, marked, options, nowMs) : undefined;
  if (graceful === 'pending') return { stays: current };
  const held = arrayAt(metadataOf(marked), 'finalizers').length > 0;
  const state = graceful?.state ?? (held ? markAsDeleting(marked, nowMs) : undefined);
  const stored =
    state === undefined ? current : commit(server, target, { before: current, after: state }, options.dryRun);
  if (held || (graceful !== undefined && graceful.seconds > 0)) return { stays: stored };
  return finallyRemove(server, target, stored, options.dryRun);
}

function finallyRemove(server: ServerContext, target: Target, state: JsonObject, dryRun = false): Remains {
  const removed = commit(server, target, { before: state, after: undefined }, dryRun);
  if (!dryRun) afterChange(server, target);
  return { removed };
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** Orphan and foreground deletion are finalizers that the garbage collector takes off when it is done with the dependents. */
function withDependentsFinalizer(object: JsonObject, { propagationPolicy }: DeleteOptions): JsonObject {
  if (propagationPolicy === undefined) return object;
  const old = arrayAt(metadataOf(object), 'finalizers');
  const finalizers = old.filter(finalizer => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (propagationPolicy === 'Orphan') finalizers.push(ORPHAN);
  if (propagationPolicy === 'Foreground') finalizers.push(FOREGROUND);
  if (equalJson(old, finalizers)) return object;
  return withMetadata(object, { finalizers: finalizers.length === 0 ? undefined : finalizers });
}

/** An object that finalizers hold: deleted now, without a grace period. */
function markAsDeleting(object: JsonObject, nowMs: number): JsonObject {
  const metadata = metadataOf(object);
  const present = textAt(metadata, 'deletionTimestamp');
  const keeps = present !== undefined && Date.parse(present) <= nowMs;
  return withMetadata(object, {
    deletionTimestamp: keeps ? present : rfc3339(nowMs),
    deletionGracePeriodSeconds: 0,
    ...(present === undefined ? nextGeneration(metadata) : {}),
  });
}

/** A deletion changes what controllers should do with the object, so its generation counts it. */
function nextGeneration(metadata: JsonObject): JsonObject {
  const generation = numberAt(metadata, 'generation');
  return generation === undefined ? {} : { generation: generation + 1 };
}

/**
 * The pod after a delete with a grace period; `pending` when an earlier delete already gives it no more time than this one,
 * undefined when it goes without one.
 */
function gracefulState(
  current: JsonObject,
  marked: JsonObject,
  options: DeleteOptions,
  nowMs: number,
): { state: JsonObject; seconds: number } | 'pending' | undefined {
  const metadata = metadataOf(current);
  const deletionTimestamp = textAt(metadata, 'deletionTimestamp');
  const requested =
    options.gracePeriodSeconds === undefined ? undefined : atLeastOneIfNegative(options.gracePeriodSeconds);
  if (deletionTimestamp === undefined) {
    const seconds = gracePeriodOf(current, requested);
    const state = withMetadata(marked, {
      deletionTimestamp: rfc3339(nowMs + seconds * 1000),
      deletionGracePeriodSeconds: seconds,
      ...nextGeneration(metadata),
    });
    return { state, seconds };
  }
  const granted = numberAt(metadata, 'deletionGracePeriodSeconds') ?? 0;
  if (granted === 0) return undefined;
  if (requested === undefined || requested >= granted) return 'pending';
  const shortenedMs = Date.parse(deletionTimestamp) + (requested - granted) * 1000;
  const isPast = shortenedMs < nowMs;
  const seconds = isPast && requested !== 0 ? 1 : requested;
  const state = withMetadata(marked, {
    deletionTimestamp: rfc3339(isPast ? nowMs : shortenedMs),
    deletionGracePeriodSeconds: seconds,
  });
  return { state, seconds };
}

/** Seconds that a pod gets: none when it never started or has finished. */
function gracePeriodOf(pod: JsonObject, requested: number | undefined): number {
  const spec = objectAt(pod, 'spec');
  const phase = textAt(objectAt(pod, 'status'), 'phase');
  if ((textAt(spec, 'nodeName') ?? '') === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
  return (
    requested ??
    atLeastOneIfNegative(numberAt(spec, 'terminationGracePeriodSeconds') ?? DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS)
  );
}

function atLeastOneIfNegative(seconds: number): number {
  return seconds < 0 ? 1 : seconds;
}

/**
 * Deletes what a list selects, one by one.
 * @returns the objects that were deleted or marked
 */
export function deleteCollection(
  server: ServerContext,
  served: ServedResource,
  selected: readonly JsonObject[],
  options: DeleteOptions,
): JsonObject[] {
  return selected.flatMap(object => {
    const target: Target = { served, namespace: namespaceOf(object), name: nameOf(object) };
    // Deleting one object may have taken another one with it.
    if (served.storage.collection.get(target.namespace, target.name) === undefined) return [];
    const result = deleteObject(server, target, options);
    return [isStatus(result) ? object : result];
  });
}

export function isStatus(result: JsonObject | Status): result is Status {
  return 'kind' in result && result.kind === 'Status';
}

interface ContainerRemoval {
  readonly container: Container;
  readonly current: JsonObject;
  readonly options: DeleteOptions;
}

/** Marks a container as terminating, deletes what is in it, and removes it if that left it empty. */
function removeContainer(
  server: ServerContext,
  target: Target,
  { container, current, options }: ContainerRemoval,
): Remains {
  container.checkRemovable();
  const nowMs = server.clock.now();
  const state = container.terminating(markAsDeleting(current, nowMs), rfc3339(nowMs));
  const marked = commit(server, target, { before: current, after: state }, options.dryRun);
  if (options.dryRun === true) return { stays: marked };
  for (const content of container.contents()) {
    const object = content.served.storage.collection.get(content.namespace, content.name);
    if (object !== undefined) remove(server, content, object, {});
  }
  return finalize(server, target) ?? { stays: marked };
}
