/** Bodies of built-in kinds as Go decodes them: nulls and empty lists are the same as absent fields, times have one form. */
import { parseApiVersion } from '../kubernetes-object.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { isArray, isObject, setField, textAt } from '../json.ts';
import { badRequest } from '../status-errors.ts';
import type { WriteOptions } from '../types.ts';
import { UnreadableTime, isZeroTime, normalTime } from './built-in-times.ts';

/**
 * The body as it is stored; the body itself when it is that already. What it shares with the old object is not looked at again.
 * @throws ApiStatusError 400 for a time that is none
 */
export function cleanBuiltIn(body: JsonObject, _options: WriteOptions, old?: JsonObject): JsonObject {
  try {
    return cleanObject(body, old);
  } catch (error) {
    if (!(error instanceof UnreadableTime)) throw error;
    const kind = textAt(body, 'kind') ?? '';
    const { version } = parseApiVersion(textAt(body, 'apiVersion') ?? '');
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`);
  }
}

function cleanObject(value: JsonObject, old: JsonValue | undefined): JsonObject {
  let copy: Record<string, JsonValue | undefined> | undefined;
  for (const key in value) {
    const field = value[key];
    const oldField = isObject(old) ? old[key] : undefined;
    if (field === oldField && field !== undefined) continue;
    if (field === null || field === undefined || (isArray(field) && field.length === 0) || isZeroTime(key, field)) {
      copy ??= { ...value };
      delete copy[key];
      continue;
    }
    const cleaned = typeof field === 'string' ? normalTime(key, field) : clean(field, oldField);
    if (cleaned === field) continue;
    copy ??= { ...value };
    setField(copy, key, cleaned);
  }
  return copy ?? value;
}

function clean(value: JsonValue, old: JsonValue | undefined): JsonValue {
  if (isObject(value)) return cleanObject(value, old);
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
