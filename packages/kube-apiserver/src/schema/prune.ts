/** Pruning: fields that a custom resource's schema does not know are not stored. */
import type { JsonObject, JsonValue } from '../json.ts';
import { isArray, isObject, setField, without } from '../json.ts';
import { OBJECT_META_TYPES } from '../resources/object-meta.ts';
import type { Structural } from './structural.ts';
import { memberSchema } from './structural.ts';

/** Paths of what was pruned, such as `spec.replcas`. */
export type Pruned = string[];

/** Fields of every object, whatever the schema says. */
const TYPE_AND_METADATA = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * The object without unknown fields, and without nulls where null is not a value. Parts that are the old object's own were
 * pruned before and are not looked at again.
 */
export function pruneObject(
  object: JsonObject,
  schema: Structural,
  old: JsonValue | undefined,
  pruned: Pruned,
): JsonObject {
  return pruneMembers({ value: object, old, path: '', isResource: true }, schema, pruned);
}

interface Place {
  readonly value: JsonObject;
  readonly old: JsonValue | undefined;
  readonly path: string;
  readonly isResource: boolean;
}

function pruneMembers({ value, old, path, isResource }: Place, schema: Structural, pruned: Pruned): JsonObject {
  let copy: Record<string, JsonValue | undefined> | undefined;
  for (const key of Object.keys(value)) {
    const field = value[key];
    const oldField = isObject(old) && Object.hasOwn(old, key) ? old[key] : undefined;
    if (field === undefined || (field === oldField && field !== null)) continue;
    const fieldPath = path === '' ? key : `${path}.${key}`;
    const next =
      isResource && TYPE_AND_METADATA.has(key)
        ? pruneEmbedded(field, key, fieldPath, pruned)
        : pruneMember({ field, oldField, path: fieldPath, schema }, memberSchema(schema, key), pruned);
    if (next === field) continue;
    copy ??= { ...value };
    if (next === undefined) delete copy[key];
    else setField(copy, key, next);
  }
  return copy ?? value;
}

/** Of an object within the object, metadata holds nothing but ObjectMeta. That of the object itself is decoded elsewhere. */
function pruneEmbedded(field: JsonValue, key: string, path: string, pruned: Pruned): JsonValue {
  if (key !== 'metadata' || path === 'metadata' || !isObject(field)) return field;
  const unknown = Object.keys(field).filter(name => !Object.hasOwn(OBJECT_META_TYPES, name));
  pruned.push(...unknown.map(name => `${path}.${name}`));
  return without(field, ...unknown);
}

interface Member {
  readonly field: JsonValue;
  readonly oldField: JsonValue | undefined;
  readonly path: string;
  readonly schema: Structural;
}

function pruneMember(
  { field, oldField, path, schema }: Member,
  member: Structural | 'any' | undefined,
  pruned: Pruned,
): JsonValue | undefined {
  if (member === 'any') return field;
  if (member === undefined) {
    if (schema.preservesUnknown) return field;
    pruned.push(path);
    return undefined;
  }
  // A null for a field that has a default means the default; defaulting replaces it.
  if (field === null) return member.nullable || member.defaultValue !== undefined ? field : undefined;
  return pruneValue({ value: field, old: oldField, path }, member, pruned);
}

function pruneValue(
  { value, old, path }: Pick<Place, 'old' | 'path'> & { readonly value: JsonValue },
  schema: Structural,
  pruned: Pruned,
): JsonValue {
  if (value === old || schema.intOrString) return value;
  if (isObject(value)) {
    if (schema.type !== 'object' && schema.properties.size === 0 && schema.preservesUnknown) return value;
    return pruneMembers({ value, old, path, isResource: schema.embedded }, schema, pruned);
  }
  const { items } = schema;
  if (!isArray(value) || items === undefined) return value;
  let changed = false;
  const next = value.map((item, index) => {
    const place = { value: item, old: isArray(old) ? old[index] : undefined, path: `${path}[${index}]` };
    const kept = pruneValue(place, items, pruned);
    if (kept !== item) changed = true;
    return kept;
  });
  return changed ? next : value;
}
