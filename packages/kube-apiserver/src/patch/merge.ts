/** JSON merge patch (RFC 7386). */
import type { JsonObject, JsonValue } from '../json.ts';
import { EMPTY_OBJECT, copyJson, equalJson, isObject, setField } from '../json.ts';

/**
 * The target with the patch merged in. Parts that the patch does not change are those of the target, and a patch that changes
 * nothing returns the target itself. The patch is copied: its author may go on editing it.
 */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  let merged: Record<string, JsonValue | undefined> | undefined;
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === undefined) continue;
    const old = Object.hasOwn(target, key) ? target[key] : undefined;
    const next = value === null ? undefined : mergeValue(old, value);
    if (next === old) continue;
    merged ??= { ...target };
    if (next === undefined) delete merged[key];
    else setField(merged, key, next);
  }
  return merged ?? target;
}

function mergeValue(old: JsonValue | undefined, value: Exclude<JsonValue, null>): JsonValue {
  if (isObject(value)) return isObject(old) ? mergePatch(old, value) : mergePatch(EMPTY_OBJECT, value);
  return old !== undefined && equalJson(old, value) ? old : copyJson(value);
}
