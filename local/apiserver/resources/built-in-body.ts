/** Bodies of built-in kinds as Go decodes them: a null is the same as an absent field. */
import type { JsonObject, JsonValue } from '../json.ts';
import { isArray, isObject, setField } from '../json.ts';
import type { WriteOptions } from '../types.ts';

/** The body without nulls; the body itself when it has none. What it shares with the old object is not looked at again. */
export function cleanBuiltIn(body: JsonObject, _options: WriteOptions, old?: JsonObject): JsonObject {
  return withoutNulls(body, old);
}

function withoutNulls(value: JsonObject, old: JsonValue | undefined): JsonObject {
  let copy: Record<string, JsonValue | undefined> | undefined;
  for (const key in value) {
    const field = value[key];
    const oldField = isObject(old) ? old[key] : undefined;
    if (field === oldField && field !== undefined) continue;
    if (field === null || field === undefined) {
      copy ??= { ...value };
      delete copy[key];
      continue;
    }
    const cleaned = clean(field, oldField);
    if (cleaned === field) continue;
    copy ??= { ...value };
    setField(copy, key, cleaned);
  }
  return copy ?? value;
}

function clean(value: JsonValue, old: JsonValue | undefined): JsonValue {
  if (isObject(value)) return withoutNulls(value, old);
  if (!isArray(value)) return value;
  let changed = false;
  const items = value.map((item, index) => {
    const oldItem = isArray(old) ? old[index] : undefined;
    const cleaned = item === oldItem ? item : clean(item, oldItem);
    if (cleaned !== item) changed = true;
    return cleaned;
  });
  return changed ? items : value;
}
