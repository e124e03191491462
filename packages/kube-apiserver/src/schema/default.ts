/** Defaulting: fields that are absent get the default of their schema. */
import type { JsonObject, JsonValue } from '../json.ts';
import { isArray, isObject, setField } from '../json.ts';
import type { Structural } from './structural.ts';

/**
 * The object with defaults filled in, also inside of defaults. A null where null is no value counts as absent. Parts that are
 * the old object's own have been defaulted before.
 */
export function defaultObject(object: JsonObject, schema: Structural, old: JsonValue | undefined): JsonObject {
  if (!schema.within.defaults) return object;
  let copy: Record<string, JsonValue | undefined> | undefined;
  const set = (key: string, field: JsonValue) => {
    copy ??= { ...object };
    setField(copy, key, field);
  };
  for (const [key, property] of schema.properties) {
    if (!property.within.defaults) continue;
    const present = Object.hasOwn(object, key) ? object[key] : undefined;
    const isAbsent = present === undefined || (present === null && !property.nullable);
    if (isAbsent && property.defaultValue === undefined) continue;
    const field = isAbsent ? property.defaultValue : present;
    if (field === undefined) continue;
    const next = defaultValue(field, property, isObject(old) ? old[key] : undefined);
    if (next !== present) set(key, next);
  }
  const { additional } = schema;
  if (additional === undefined || additional === 'any' || !additional.within.defaults) return copy ?? object;
  for (const [key, field] of Object.entries(object)) {
    if (field === undefined || schema.properties.has(key)) continue;
    const next = defaultValue(field, additional, isObject(old) ? old[key] : undefined);
    if (next !== field) set(key, next);
  }
  return copy ?? object;
}

function defaultValue(value: JsonValue, schema: Structural, old: JsonValue | undefined): JsonValue {
  if (value === old || !schema.within.defaults) return value;
  if (isObject(value)) return defaultObject(value, schema, old);
  const { items } = schema;
  if (!isArray(value) || items === undefined) return value;
  let changed = false;
  const next = value.map((item, index) => {
    const filled = defaultValue(item, items, isArray(old) ? old[index] : undefined);
    if (filled !== item) changed = true;
    return filled;
  });
  return changed ? next : value;
}
