/** Leaves fields out of an object, as long as the rest is accepted. */
import { isJsonObject } from '../../shared/domain/json.ts';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';

/** Fields that identify an object stay. */
const KEPT = new Set(['apiVersion', 'kind', 'name', 'namespace']);

/** One pass; `accept` is asked once for each field and list item, outer ones first. */
export async function simplify(
  body: JsonObject,
  accept: (simpler: JsonObject) => Promise<boolean>,
): Promise<JsonObject> {
  let best = body;
  for (const path of pathsOf(body)) {
    const simpler = without(best, path);
    if (simpler !== undefined && (await accept(simpler))) best = simpler;
  }
  return best;
}

/** All fields and list items, outer ones before what is in them; list items from the last. */
function pathsOf(value: JsonValue | undefined): readonly (readonly (string | number)[])[] {
  if (Array.isArray(value)) {
    return value
      .map((item: JsonValue, index: number) => [[index], ...pathsOf(item).map(path => [index, ...path])])
      .toReversed()
      .flat();
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value)
    .filter(([key]) => !KEPT.has(key))
    .flatMap(([key, field]) => [...(key === 'metadata' ? [] : [[key]]), ...pathsOf(field).map(path => [key, ...path])]);
}

/** undefined when there is nothing at the path any more. */
function without(value: JsonObject, path: readonly (string | number)[]): JsonObject | undefined {
  const result = removed(value, path);
  return isJsonObject(result) ? result : undefined;
}

function removed(value: JsonValue | undefined, [key, ...rest]: readonly (string | number)[]): JsonValue | undefined {
  if (key === undefined) return undefined;
  if (Array.isArray(value)) {
    const index = Number(key);
    if (!(index in value)) return undefined;
    if (rest.length === 0) return value.toSpliced(index, 1);
    const inner = removed(value[index], rest);
    return inner === undefined ? undefined : value.with(index, inner);
  }
  if (!isJsonObject(value) || value[key] === undefined) return undefined;
  if (rest.length === 0) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
  const inner = removed(value[key], rest);
  return inner === undefined ? undefined : { ...value, [key]: inner };
}
