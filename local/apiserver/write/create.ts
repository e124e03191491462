/** Creation: names, namespaces, server-owned metadata, defaults and validation. */
import type { KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { trackCreate } from '../apply/tracking.ts';
import type { JsonObject } from '../json.ts';
import { EMPTY_OBJECT, copyObject, textAt, without } from '../json.ts';
import { metadataOf } from '../objects.ts';
import { generateName, newUid } from '../randomness.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { kindOf, resourceOf, rfc3339 } from '../server-context.ts';
import { alreadyExists, badRequest, invalid, methodNotAllowed } from '../status-errors.ts';
import { CLUSTER } from '../store/collection.ts';
import type { WriteOptions } from '../types.ts';
import { commit, finish } from './commit.ts';
import { complainAboutNewMetadata, decodeMetadata } from './metadata.ts';
import { checkNamespaceAcceptsContent } from './namespaces.ts';

type CreateOptions = WriteOptions & { readonly namespace?: string };

/** @throws ApiStatusError 400, 403, 404, 409, 422 as kube-apiserver would */
export function create(
  server: ServerContext,
  served: ServedResource,
  manifest: KubernetesManifest,
  options: CreateOptions,
): JsonObject {
  const body = decodeBody(served, copyObject(manifest));
  const stored = createObject(server, served, body, options);
  const target = targetOfObject(served, stored);
  finish(server, target, { verb: 'create', options, body: manifest }, { before: undefined, after: stored });
  return stored;
}

/** Creates an object and leaves it to the caller to report the request. */
export function createObject(
  server: ServerContext,
  served: ServedResource,
  body: JsonObject,
  options: CreateOptions,
): JsonObject {
  const context = { now: rfc3339(server.clock.now()), options };
  const { rules, info } = served;
  if (rules.refusesCreate !== undefined) throw methodNotAllowed(resourceOf(served), rules.refusesCreate);
  const draft = withServerMetadata(server, served, body, options, context.now);
  const kept = info.hasStatus && !rules.keepsStatusOnCreate ? without(draft, 'status') : draft;
  const cleaned = rules.clean(kept, options);
  const transition = { old: undefined, subresource: undefined, context };
  const next = rules.prepare?.({ ...transition, next: cleaned }) ?? cleaned;
  const target = targetOfObject(served, next);
  if (info.namespaced) checkNamespaceAcceptsContent(server, target);
  const causes = [
    ...complainAboutNewMetadata(metadataOf(next), served),
    ...(rules.validate?.({ ...transition, next }) ?? []),
  ];
  if (causes.length > 0) throw invalid(kindOf(served), target.name, causes);
  if (served.storage.collection.get(target.namespace, target.name) !== undefined) {
    throw alreadyExists(resourceOf(served), target.name);
  }
  const tracked = trackCreate(served, next, options, context.now);
  return commit(server, target, { before: undefined, after: tracked }, options.dryRun);
}

/**
 * The body with `apiVersion` and `kind` of the resource.
 * @throws ApiStatusError 400 when it says that it is something else
 */
export function decodeBody({ apiVersion, info }: ServedResource, body: JsonObject): JsonObject {
  if (body.apiVersion !== undefined && body.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${String(body.apiVersion)}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (body.kind !== undefined && body.kind !== info.kind) {
    throw badRequest(
      `${String(body.kind)} in version "${info.version}" cannot be handled as a ${info.kind}: no kind "${String(body.kind)}" is registered for this resource`,
    );
  }
  return { ...body, apiVersion, kind: info.kind };
}

function withServerMetadata(
  server: ServerContext,
  served: ServedResource,
  body: JsonObject,
  options: CreateOptions,
  now: string,
): JsonObject {
  const { info, rules } = served;
  const sent = decodeMetadata(body, info.kind);
  if (sent.resourceVersion !== undefined)
    throw badRequest('resourceVersion should not be set on objects to be created');
  const prefix = textAt(sent, 'generateName');
  const name = textAt(sent, 'name') ?? (prefix === undefined ? undefined : generateName(prefix, server.random));
  const namespace = namespaceFor(served, textAt(sent, 'namespace'), options.namespace);
  const kept = without(
    sent,
    'name',
    'namespace',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'managedFields',
  );
  const metadata: JsonObject = {
    ...(name === undefined ? EMPTY_OBJECT : { name }),
    ...(namespace === undefined ? EMPTY_OBJECT : { namespace }),
    ...kept,
    uid: newUid(server.random),
    resourceVersion: '',
    creationTimestamp: now,
    ...(rules.counted ? { generation: 1 } : EMPTY_OBJECT),
  };
  return { ...body, metadata };
}

/**
 * The namespace of an object: that of the request, else that of the object. (In kube-apiserver the request always has one; a
 * caller in the same process may leave it to the object, and none at all means `default`.)
 * @throws ApiStatusError 400 when both are given and differ
 */
export function namespaceFor(
  { info }: ServedResource,
  sent: string | undefined,
  requested: string | undefined,
): string | undefined {
  if (!info.namespaced) {
    if (sent === undefined || sent === '') return undefined;
    throw badRequest(MISMATCH);
  }
  if (sent !== undefined && requested !== undefined && sent !== requested) throw badRequest(MISMATCH);
  return requested ?? sent ?? 'default';
}

const MISMATCH = 'the namespace of the provided object does not match the namespace sent on the request';

function targetOfObject(served: ServedResource, object: JsonObject): Target {
  const metadata = metadataOf(object);
  return {
    served,
    namespace: textAt(metadata, 'namespace') ?? CLUSTER,
    name: textAt(metadata, 'name') ?? '',
  };
}
