/** The merge semantics of a custom resource, out of `x-kubernetes-list-type`, `-list-map-keys` and `-map-type`. */
import { METADATA, UNTYPED } from '../patch/merge-schema.ts';
import type { MergeSchema } from '../patch/merge-schema.ts';
import type { JsonValue } from '../json.ts';
import type { Structural } from './structural.ts';

/** The merge schema of an object of this kind. */
export function mergeSchemaOf(schema: Structural): MergeSchema {
  const root = mergeSchema(schema);
  return { ...root, fields: { apiVersion: UNTYPED, kind: UNTYPED, ...root.fields, metadata: METADATA } };
}

function mergeSchema(schema: Structural): MergeSchema {
  const fields = Object.fromEntries([...schema.properties].map(([name, property]) => [name, mergeSchema(property)]));
  const { additional, items } = schema;
  const defaults = schema.list === 'map' ? keyDefaults(schema) : {};
  return {
    ...(schema.properties.size === 0 ? UNTYPED : { fields }),
    ...(isClosed(schema) ? { closed: true } : UNTYPED),
    ...(additional === undefined || additional === 'any' ? UNTYPED : { values: mergeSchema(additional) }),
    ...(items === undefined ? UNTYPED : { items: mergeSchema(items) }),
    ...(schema.atomicMap ? { atomic: true } : UNTYPED),
    ...(schema.list === 'atomic' ? UNTYPED : { list: schema.list }),
    ...(schema.list === 'map' ? { keys: schema.keys, keyDefaults: defaults } : UNTYPED),
  };
}

/** True for an object that can have no other fields than those of its schema. */
function isClosed({ type, additional, preservesUnknown, embedded }: Structural): boolean {
  return type === 'object' && additional === undefined && !preservesUnknown && !embedded;
}

function keyDefaults({ items, keys }: Structural): Record<string, JsonValue> {
  const defaults: Record<string, JsonValue> = {};
  for (const key of keys) {
    const value = items?.properties.get(key)?.defaultValue;
    if (value !== undefined) defaults[key] = value;
  }
  return defaults;
}
