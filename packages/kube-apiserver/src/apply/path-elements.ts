/** Path elements: how a field, an item of a keyed list and an item of a set are named in field sets. */
import type { JsonValue } from '../json.ts';
import { isObject } from '../json.ts';
import type { MergeSchema } from '../patch/merge-schema.ts';

export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** The element of an item of a `map` or `set` list. A key that is missing counts as null: configurations are checked before. */
export function itemElement(item: JsonValue, { list, keys, keyDefaults }: MergeSchema): string {
  if (list === 'set') return `v:${JSON.stringify(item)}`;
  const values: Record<string, JsonValue> = {};
  for (const key of (keys ?? []).toSorted()) {
    values[key] = (isObject(item) ? item[key] : undefined) ?? keyDefaults?.[key] ?? null;
  }
  return `k:${JSON.stringify(values)}`;
}

/** The first key that an item of a `map` list lacks and that has no default. */
export function missingKey(item: JsonValue, { keys, keyDefaults }: MergeSchema): string | undefined {
  return (keys ?? []).find(key => ((isObject(item) ? item[key] : undefined) ?? keyDefaults?.[key]) === undefined);
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
