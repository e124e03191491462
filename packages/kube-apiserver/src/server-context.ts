/** What the verbs of the server share. */
import type { ObjectRef, ResourceType } from './kubernetes-object.ts';
import type { JsonObject } from './json.ts';
import { withField } from './json.ts';
import type { Registry } from './resources/registry.ts';
import type { ServedResource } from './resources/resource-rules.ts';
import type { Qualified } from './status-errors.ts';
import { badRequest, notFound, notServed } from './status-errors.ts';
import type { ObjectStore } from './store/object-store.ts';
import { CLUSTER } from './store/collection.ts';

export interface ServerContext {
  readonly store: ObjectStore;
  readonly registry: Registry;
  /** Milliseconds since 1970. */
  readonly clock: { now(): number };
  readonly random: () => number;
}

/** A served resource and the place of one of its objects. */
export interface Target {
  readonly served: ServedResource;
  readonly namespace: string;
  readonly name: string;
}

/** @throws ApiStatusError 404 when the resource is not served */
export function servedResource(server: ServerContext, type: ResourceType): ServedResource {
  const served = server.registry.find(type.group, type.resource, type.version);
  if (served === undefined) throw notServed();
  return served;
}

/** @throws ApiStatusError 404 when the resource is not served, 400 when the namespace is missing */
export function targetOf(server: ServerContext, ref: ObjectRef): Target {
  const served = servedResource(server, ref.type);
  if (!served.info.namespaced) return { served, namespace: CLUSTER, name: ref.name };
  if (ref.namespace === undefined || ref.namespace === '') {
    throw badRequest('namespace is required for a namespaced resource');
  }
  return { served, namespace: ref.namespace, name: ref.name };
}

/** @throws ApiStatusError 404 */
export function existing({ served, namespace, name }: Target): JsonObject {
  const object = served.storage.collection.get(namespace, name);
  if (object === undefined) throw notFound(resourceOf(served), name);
  return inVersion(object, served);
}

/** An object in the version of the request: versions differ in nothing but `apiVersion` (conversion strategy None). */
export function inVersion(object: JsonObject, { apiVersion }: ServedResource): JsonObject {
  return withField(object, 'apiVersion', apiVersion);
}

/** The resource as refusals name it. */
export function resourceOf({ info }: ServedResource): Qualified {
  return { group: info.group, name: info.resource };
}

/** The kind as validation names it. */
export function kindOf({ info }: ServedResource): Qualified {
  return { group: info.group, name: info.kind };
}

/** The last second that was written as text: writes of one second are many. */
let lastSecond = { second: Number.NaN, text: '' };

/** RFC 3339 text of an instant in whole seconds (the precision of `metav1.Time`; what is left over is cut). */
export function rfc3339(epochMs: number): string {
  const second = Math.floor(epochMs / 1000);
  if (second !== lastSecond.second) {
    lastSecond = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` };
  }
  return lastSecond.text;
}
