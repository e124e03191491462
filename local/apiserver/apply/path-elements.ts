/** Path elements: how a field, an item of a keyed list and an item of a set are named in field sets. */
import type { JsonObject, JsonValue } from '../json.ts';
import { isObject } from '../json.ts';
import type { MergeSchema } from '../patch/merge-schema.ts';
import { badRequest } from '../status-errors.ts';

export function fieldElement(name: string): string {
  return `f:${name}`;
}

/**
 * The element of an item of a `map` or `set` list.
 * @throws ApiStatusError 400 for an item without its keys
 */
export function itemElement(item: JsonValue, schema: MergeSchema): string {
  if (schema.list === 'set') return `v:${JSON.stringify(item)}`;
  const keys: Record<string, JsonValue> = {};
  if (!isObject(item)) throw badRequest('associative list with keys may not contain non-map elements');
  for (const key of (schema.keys ?? []).toSorted()) keys[key] = keyOf(item, key, schema);
  return `k:${JSON.stringify(keys)}`;
}

function keyOf(item: JsonObject, key: string, { keyDefaults }: MergeSchema): JsonValue {
  const value = item[key] ?? keyDefaults?.[key];
  if (value !== undefined) return value;
  throw badRequest(
    `associative list with keys has an element that omits key field "${key}" (and doesn't have default value)`,
  );
}

/** A path as refusals write it: `.spec.containers[name="c"].image`. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join('');
}

function elementText(element: string): string {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return `.${rest}`;
  if (element.startsWith('v:')) return `[=${rest}]`;
  const keys: unknown = JSON.parse(rest);
  if (!isObject(keys)) return `[${rest}]`;
  const parts = Object.entries(keys).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `[${parts.join(',')}]`;
}
