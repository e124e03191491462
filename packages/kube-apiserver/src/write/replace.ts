/** What every change of a stored object goes through, whether it came as a PUT, a patch or an apply. */
import { admitMutating } from '../admission/mutating.ts';
import { admitValidating } from '../admission/validating.ts';
import { trackUpdate } from '../apply/tracking.ts';
import type { JsonObject } from '../json.ts';
import { arrayAt, equalJson, numberAt, objectAt, shareObject, withField } from '../json.ts';
import { metadataOf, withMetadata } from '../objects.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { kindOf, rfc3339 } from '../server-context.ts';
import { invalid, notServed } from '../status-errors.ts';
import type { Request } from './commit.ts';
import { commit, finish } from './commit.ts';
import { afterChange } from './containers.ts';
import { complainAboutMetadata, complainAboutMetadataUpdate } from './metadata-validation.ts';
import { decodeMetadata, updatedMetadata } from './metadata.ts';
import { checkWritePreconditions } from './preconditions.ts';

/** A proposed new state of an object, in full. */
export interface Replacement {
  readonly current: JsonObject;
  readonly proposed: JsonObject;
  readonly request: Request;
  /** Sets managedFields itself (server-side apply), so that the write is not tracked as an update. */
  readonly tracked?: true;
}

/**
 * Replaces an object by the proposed state, as far as the resource and the subresource allow: preconditions, server-owned fields,
 * validation, generation. An object that is being deleted and has lost its last finalizer goes.
 */
export function replace(server: ServerContext, target: Target, replacement: Replacement): JsonObject {
  const { current, request } = replacement;
  const { served } = target;
  const { options } = request;
  // Over HTTP there is no such path.
  if (options.subresource === 'status' && !served.info.hasStatus) throw notServed();
  checkWritePreconditions(target, current, metadataOf(replacement.proposed), request.verb === 'update');
  const allowed = allowedState(server, served, replacement);
  const tracked = replacement.tracked
    ? allowed
    : trackUpdate(served, { current, next: allowed, request }, rfc3339(server.clock.now()));
  const { subresource } = options;
  const admission = { target, operation: 'UPDATE', subresource, oldObject: current, options } as const;
  const mutated = admitMutating(server, { ...admission, object: tracked });
  const next =
    mutated === tracked
      ? tracked
      : allowedState(server, served, { current, request: quiet(request), proposed: shareObject(current, mutated) });
  validate(server, target, { old: current, next }, request);
  admitValidating(server, { ...admission, object: next });
  if (isReadyToGo(next)) {
    // The event shows the object as it was stored, with its last finalizer; the caller gets what it wrote.
    commit(server, target, { before: current, after: undefined }, options.dryRun);
    if (options.dryRun !== true) afterChange(server, target);
    finish(server, target, request, { before: current, after: undefined });
    return next;
  }
  const stored = commit(server, target, { before: current, after: next }, options.dryRun);
  if (options.dryRun !== true) afterChange(server, target);
  finish(server, target, request, { before: current, after: stored });
  return stored;
}

/** The request for what policies made of its object: what they add that is not known is dropped without a word. */
function quiet(request: Request): Request {
  return { ...request, options: { ...request.options, fieldValidation: 'Ignore' } };
}

/** The proposed state without what this write may not change. */
function allowedState(
  server: ServerContext,
  served: ServedResource,
  { current, proposed, request }: Replacement,
): JsonObject {
  const { rules, info } = served;
  const { options } = request;
  const old = metadataOf(current);
  const sent = metadataOf(proposed);
  const isStatusWrite = options.subresource === 'status';
  const metadata =
    sent === old
      ? old
      : shareObject(
          old,
          keepMetadata(
            served,
            isStatusWrite,
            old,
            updatedMetadata(old, decodeMetadata(proposed, served, options, old)),
          ),
        );
  let next: JsonObject;
  if (isStatusWrite) next = withField({ ...current, metadata }, 'status', proposed.status);
  else
    next = info.hasStatus ? withField({ ...proposed, metadata }, 'status', current.status) : { ...proposed, metadata };
  const cleaned = sharedIfChanged(current, next, rules.clean(next, options, current));
  const transition = {
    old: current,
    subresource: options.subresource,
    context: { now: rfc3339(server.clock.now()), options },
  };
  const prepared = sharedIfChanged(current, cleaned, rules.prepare?.({ ...transition, next: cleaned }) ?? cleaned);
  const counts = rules.counted && !isStatusWrite && wantsChanged(current, prepared, info.hasStatus);
  return counts ? withMetadata(prepared, { generation: (numberAt(old, 'generation') ?? 0) + 1 }) : prepared;
}

/** A step's result, sharing what it can with the stored object. What went into the step shares that already. */
function sharedIfChanged(current: JsonObject, before: JsonObject, after: JsonObject): JsonObject {
  return after === before ? after : shareObject(current, after);
}

/** Metadata as a write of the status subresource leaves it: which fields it may touch differs from kind to kind. */
function keepMetadata(
  { rules }: ServedResource,
  isStatusWrite: boolean,
  old: JsonObject,
  next: JsonObject,
): JsonObject {
  if (!isStatusWrite) return next;
  if (rules.statusWriteKeeps === 'all') return withField(old, 'managedFields', next.managedFields);
  let kept = next;
  for (const key of rules.statusWriteKeeps) kept = withField(kept, key, old[key]);
  return kept;
}

/** True when something else than metadata and status changed: what `generation` counts. */
function wantsChanged(old: JsonObject, next: JsonObject, hasStatus: boolean): boolean {
  const keys = new Set([...Object.keys(old), ...Object.keys(next)]);
  keys.delete('metadata');
  if (hasStatus) keys.delete('status');
  return [...keys].some(key => !equalJson(old[key], next[key]));
}

function validate(
  server: ServerContext,
  { served, name }: Target,
  { old, next }: { readonly old: JsonObject; readonly next: JsonObject },
  { options }: Request,
): void {
  const metadata = metadataOf(next);
  const causes =
    metadata === old.metadata
      ? []
      : [
          ...complainAboutMetadata(metadata, metadataOf(old), served.rules),
          ...complainAboutMetadataUpdate(metadata, metadataOf(old)),
        ];
  const { subresource } = options;
  const context = { now: rfc3339(server.clock.now()), options };
  const found = served.rules.validate?.({ next, old, subresource, context }) ?? [];
  if (causes.length + found.length > 0) throw invalid(kindOf(served), name, [...causes, ...found]);
}

/** A deleted object goes when nothing holds it any more: no finalizer, no grace period. */
function isReadyToGo(object: JsonObject): boolean {
  const metadata = metadataOf(object);
  return (
    metadata.deletionTimestamp !== undefined &&
    arrayAt(metadata, 'finalizers').length === 0 &&
    (numberAt(metadata, 'deletionGracePeriodSeconds') ?? 0) === 0 &&
    arrayAt(objectAt(object, 'spec'), 'finalizers').length === 0
  );
}
