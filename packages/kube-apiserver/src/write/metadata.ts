/** `metadata` as the server decodes it: what a client may send, and what stays the server's own. */
import type { JsonObject, JsonValue } from '../json.ts';
import { isArray, isObject, textAt } from '../json.ts';
import { UnreadableTime, normalTime } from '../resources/built-in-times.ts';
import { OBJECT_META_TYPES } from '../resources/object-meta.ts';
import type { ServedResource } from '../resources/resource-rules.ts';
import { badRequest } from '../status-errors.ts';
import type { WriteOptions } from '../types.ts';
import { reportUnknownFields } from './field-validation.ts';

/**
 * The metadata of a request: known fields only, nothing that is null or empty. What is the old object's own is not looked at.
 * @throws ApiStatusError 400 for a field of the wrong type, and for unknown ones under strict field validation
 */
export function decodeMetadata(
  body: JsonObject,
  { info }: ServedResource,
  options: WriteOptions,
  old: JsonObject = {},
): JsonObject {
  const sent = body.metadata ?? {};
  if (!isObject(sent)) throw undecodable({ kind: info.kind, body, path: 'metadata', value: sent, type: 'ObjectMeta' });
  const decoded: Record<string, JsonValue> = {};
  const unknown: string[] = [];
  for (const [key, value] of Object.entries(sent)) {
    const type = Object.hasOwn(OBJECT_META_TYPES, key) ? OBJECT_META_TYPES[key] : undefined;
    if (type === undefined) unknown.push(`metadata.${key}`);
    else if (value !== undefined && value === old[key]) decoded[key] = value;
    else if (key !== 'selfLink' && value !== null && value !== undefined && !isEmpty(value)) {
      const path = `metadata.${key}`;
      const wrong = wrongPart(value, type);
      if (wrong !== undefined) throw undecodable({ kind: info.kind, body, path, ...wrong });
      decoded[key] = normal(value, key, type);
    }
  }
  reportUnknownFields(unknown, { kind: info.kind, version: info.version, options });
  return decoded;
}

function isEmpty(value: JsonValue): boolean {
  return value === '' || (isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);
}

/** A value as Go keeps it. @throws ApiStatusError 400 for a time that is none */
function normal(value: JsonValue, key: string, type: string): JsonValue {
  if (type === 'map[string]string' && isObject(value)) return withoutNulls(value);
  if (type !== 'Time' || typeof value !== 'string') return value;
  try {
    return normalTime(key, value);
  } catch (error) {
    throw error instanceof UnreadableTime ? badRequest(error.message) : error;
  }
}

/** A null in a map of texts is the empty text. */
function withoutNulls(map: JsonObject): JsonObject {
  if (!Object.values(map).includes(null)) return map;
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, value ?? '']));
}

interface Wrong {
  readonly value: JsonValue;
  readonly type: string;
}

/** The part of a value that does not fit its Go type. */
function wrongPart(value: JsonValue, type: string): Wrong | undefined {
  switch (type) {
    case 'string':
    case 'Time':
      return typeof value === 'string' ? undefined : { value, type };
    case 'int64':
      return Number.isInteger(value) ? undefined : { value, type };
    case 'map[string]string':
      return isObject(value) ? wrongMember(Object.values(value), 'string') : { value, type };
    default:
      return isArray(value) ? wrongMember(value, type.slice(2)) : { value, type };
  }
}

/** The first member that is neither a text, where texts are wanted, nor an object, where those are. */
function wrongMember(members: readonly (JsonValue | undefined)[], type: string): Wrong | undefined {
  const fits = type === 'string' ? (member: unknown) => typeof member === 'string' || member === null : isObject;
  const wrong = members.find(member => !fits(member));
  return wrong === undefined ? undefined : { value: wrong, type };
}

function undecodable(of: Wrong & { readonly kind: string; readonly body: JsonObject; readonly path: string }) {
  const { kind, body, path, value, type } = of;
  const version = (textAt(body, 'apiVersion') ?? '').split('/').at(-1) ?? '';
  const found = isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: json: cannot unmarshal ${found} into Go struct field ObjectMeta.${path} of type ${type}`,
  );
}

/**
 * The metadata of an update. What only the server sets stays as stored; an attempt to change it shows, so that validation can
 * refuse it, where kube-apiserver refuses it too.
 */
export function updatedMetadata(old: JsonObject, sent: JsonObject): JsonObject {
  const next: Record<string, JsonValue | undefined> = {
    ...sent,
    name: sent.name ?? old.name,
    namespace: old.namespace,
    uid: sent.uid ?? old.uid,
    resourceVersion: old.resourceVersion,
    generation: old.generation,
    creationTimestamp: old.creationTimestamp,
    deletionTimestamp: old.deletionTimestamp ?? sent.deletionTimestamp,
    deletionGracePeriodSeconds: sent.deletionGracePeriodSeconds ?? old.deletionGracePeriodSeconds,
  };
  for (const key of Object.keys(next)) if (next[key] === undefined) delete next[key];
  return next;
}
