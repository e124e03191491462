/** Sets and maps by key must not hold the same item twice, and maps hold objects only. */
import type { JsonObject, JsonValue } from '../json.ts';
import { isArray, isObject } from '../json.ts';
import type { Cause } from '../status-errors.ts';
import type { Structural } from './structural.ts';
import { memberSchema } from './structural.ts';
import { render } from './violations.ts';

/** One cause for each item of a set or map list that stands there a second time, and for the first of a map that is no object. Unchanged parts are not looked at again. */
export function complainAboutLists(
  value: JsonValue,
  old: JsonValue | undefined,
  schema: Structural,
  path = '',
): Cause[] {
  if (value === old || !schema.within.lists) return [];
  if (isObject(value)) {
    return Object.entries(value).flatMap(([key, field]) => {
      const member = memberSchema(schema, key);
      if (field === undefined || member === undefined || member === 'any') return [];
      return complainAboutLists(
        field,
        isObject(old) ? old[key] : undefined,
        member,
        path === '' ? key : `${path}.${key}`,
      );
    });
  }
  const { items } = schema;
  if (!isArray(value) || items === undefined) return [];
  const below = value.flatMap((item, index) =>
    complainAboutLists(item, isArray(old) ? old[index] : undefined, items, `${path}[${index}]`),
  );
  return [...duplicates(value, schema, path), ...below];
}

function duplicates(list: readonly JsonValue[], schema: Structural, path: string): Cause[] {
  if (schema.list === 'atomic') return [];
  const odd = schema.list === 'map' ? list.findIndex(item => item !== null && !isObject(item)) : -1;
  if (odd !== -1) {
    const message = `Invalid value: ${render(list[odd])}: must be an object for an array of list-type map`;
    return [{ reason: 'FieldValueInvalid', field: `${path}[${odd}]`, message }];
  }
  const seen = new Set<string>();
  const causes: Cause[] = [];
  for (const [index, item] of list.entries()) {
    const identity = schema.list === 'map' && isObject(item) ? keysOf(item, schema) : item;
    const text = render(identity);
    if (seen.has(text)) {
      causes.push({ reason: 'FieldValueDuplicate', field: `${path}[${index}]`, message: `Duplicate value: ${text}` });
    }
    seen.add(text);
  }
  return causes;
}

/** The keys of an item, in the order in which Go prints a map. */
function keysOf(item: JsonObject, { keys }: Structural): JsonObject {
  const present = keys.filter(key => item[key] !== undefined).toSorted();
  return Object.fromEntries(present.map(key => [key, item[key]]));
}
