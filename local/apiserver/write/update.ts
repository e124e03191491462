/** Updates: PUT, and what every patch ends in. */
import type { KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { trackUpdate } from '../apply/tracking.ts';
import type { JsonObject } from '../json.ts';
import { arrayAt, copyObject, equalJson, numberAt, objectAt, shareObject, textAt, withField } from '../json.ts';
import { metadataOf, withMetadata } from '../objects.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { existing, kindOf, resourceOf, rfc3339 } from '../server-context.ts';
import { MODIFIED, badRequest, conflict, invalid } from '../status-errors.ts';
import type { WriteOptions } from '../types.ts';
import type { Request } from './commit.ts';
import { commit, finish } from './commit.ts';
import { createObject, decodeBody, namespaceFor } from './create.ts';
import { afterChange } from './containers.ts';
import {
  complainAboutMetadata,
  complainAboutMetadataUpdate,
  decodeMetadata,
  invalidValue,
  updatedMetadata,
} from './metadata.ts';

/** @throws ApiStatusError 400, 404, 409, 422 as kube-apiserver would */
export function update(
  server: ServerContext,
  target: Target,
  manifest: KubernetesManifest,
  options: WriteOptions,
): JsonObject {
  const { served, namespace, name } = target;
  const body = decodeBody(served, copyObject(manifest));
  const sent = decodeMetadata(body, served.info.kind);
  if (sent.name !== name) {
    throw badRequest(
      `the name of the object (${textAt(sent, 'name') ?? ''}) does not match the name on the URL (${name})`,
    );
  }
  namespaceFor(served, textAt(sent, 'namespace'), served.info.namespaced ? namespace : undefined);
  const request: Request = { verb: 'update', options, body: manifest, ...subresourceOf(options) };
  if (served.rules.createOnUpdate && served.storage.collection.get(namespace, name) === undefined) {
    if (sent.uid !== undefined) throw conflict(resourceOf(served), name, uidMismatch(sent.uid, ''));
    const stored = createObject(server, served, body, { ...options, ...(served.info.namespaced ? { namespace } : {}) });
    finish(server, target, request, { before: undefined, after: stored });
    return stored;
  }
  const current = existing(target);
  return replace(server, target, { current, proposed: shareObject(current, { ...body, metadata: sent }), request });
}

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
  checkPreconditions(target, current, metadataOf(replacement.proposed));
  const allowed = allowedState(server, served, replacement);
  const next = replacement.tracked
    ? allowed
    : trackUpdate(served, { current, next: allowed, request }, rfc3339(server.clock.now()));
  validate(server, target, current, next, request);
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

function subresourceOf(options: WriteOptions): Pick<Request, 'subresource'> {
  return options.subresource === undefined ? {} : { subresource: options.subresource };
}

/**
 * `resourceVersion` and `uid` in what is written are preconditions.
 * @throws ApiStatusError 409; 422 when the resource wants a resourceVersion and none was sent
 */
function checkPreconditions({ served, name }: Target, current: JsonObject, sent: JsonObject): void {
  const stored = metadataOf(current);
  if (sent === stored) return;
  if (sent.uid !== undefined && sent.uid !== stored.uid) {
    throw conflict(resourceOf(served), name, uidMismatch(sent.uid, stored.uid));
  }
  const version = textAt(sent, 'resourceVersion') ?? '';
  if (version === '' && !served.rules.unconditionalUpdate) {
    const causes = invalidValue('metadata.resourceVersion', '', ['must be specified for an update']);
    throw invalid(kindOf(served), name, causes);
  }
  if (version !== '' && version !== stored.resourceVersion) throw conflict(resourceOf(served), name, MODIFIED);
}

function uidMismatch(sent: unknown, stored: unknown): string {
  return `Precondition failed: UID in precondition: ${String(sent)}, UID in object meta: ${String(stored)}`;
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
      : keepMetadata(served, isStatusWrite, old, updatedMetadata(old, decodeMetadata(proposed, info.kind)));
  let next: JsonObject;
  if (isStatusWrite) next = withField({ ...current, metadata }, 'status', proposed.status);
  else
    next = info.hasStatus ? withField({ ...proposed, metadata }, 'status', current.status) : { ...proposed, metadata };
  const cleaned = shareObject(current, rules.clean(next, options, current));
  const transition = {
    old: current,
    subresource: options.subresource,
    context: { now: rfc3339(server.clock.now()), options },
  };
  const prepared =
    rules.prepare === undefined ? cleaned : shareObject(current, rules.prepare({ ...transition, next: cleaned }));
  const counts = rules.counted && !isStatusWrite && wantsChanged(current, prepared, info.hasStatus);
  return counts ? withMetadata(prepared, { generation: (numberAt(old, 'generation') ?? 0) + 1 }) : prepared;
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
  old: JsonObject,
  next: JsonObject,
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
