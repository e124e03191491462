/** The seam between stored JSON and the typed objects that leave the server. */
import type { StoredObject } from './kubernetes-object.ts';
import type { JsonObject } from './json.ts';
import { isObject, objectAt, textAt } from './json.ts';

/** True for a complete object: the store gives every object these fields. */
function isStoredObject(value: JsonObject): value is StoredObject {
  if (typeof value.apiVersion !== 'string' || typeof value.kind !== 'string') return false;
  const { metadata } = value;
  return (
    isObject(metadata) &&
    typeof metadata.name === 'string' &&
    typeof metadata.uid === 'string' &&
    typeof metadata.resourceVersion === 'string' &&
    typeof metadata.creationTimestamp === 'string'
  );
}

/**
 * JSON as the typed, read-only object that readers get.
 * @throws TypeError for JSON that lacks what the store gives every object: a bug
 */
export function toObject(object: JsonObject): StoredObject {
  if (isStoredObject(object)) return object;
  throw new TypeError('a stored object lacks apiVersion, kind or metadata');
}

export function metadataOf(object: JsonObject): JsonObject {
  return objectAt(object, 'metadata');
}

/** Empty before `generateName` has been used. */
export function nameOf(object: JsonObject): string {
  return textAt(metadataOf(object), 'name') ?? '';
}

/** The namespace; the empty text for a cluster-scoped object. */
export function namespaceOf(object: JsonObject): string {
  return textAt(metadataOf(object), 'namespace') ?? '';
}

/** A copy with some metadata fields set; `undefined` removes one. */
export function withMetadata(object: JsonObject, fields: JsonObject): JsonObject {
  const metadata: Record<string, JsonObject[string]> = { ...metadataOf(object) };
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) delete metadata[key];
    else metadata[key] = value;
  }
  return { ...object, metadata };
}
