/** Strategic merge patch: a merge patch that merges lists by key or as sets, with directives. For built-in kinds only. */
import type { JsonObject, JsonValue } from '../json.ts';
import { EMPTY_OBJECT, copyJson, isArray, isObject, setField, textAt } from '../json.ts';
import { badRequest, serverRefused } from '../status-errors.ts';
import { mergeList, withOrder } from './merge-list.ts';
import type { MergeSchema } from './merge-schema.ts';
import { fieldSchema } from './merge-schema.ts';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const ORDER = '$setElementOrder/';

/**
 * @returns the target with the patch merged in; the target and the patch are left as they are
 * @throws ApiStatusError 400 for directives that make no sense
 */
export function strategicMergePatch(target: JsonObject, patch: JsonObject, schema: MergeSchema): JsonObject {
  if (patch[DIRECTIVE] !== undefined) return directed(patch);
  const merged: Record<string, JsonValue | undefined> = retained(target, patch);
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined || key === RETAIN_KEYS || key.startsWith(ORDER)) continue;
    if (key.startsWith(DELETE_FROM)) {
      deleteFrom(merged, key.slice(DELETE_FROM.length), value);
      continue;
    }
    const old = Object.hasOwn(merged, key) ? merged[key] : undefined;
    const next = value === null ? undefined : mergeValue(old, value, fieldSchema(schema, key));
    if (next === undefined) delete merged[key];
    else setField(merged, key, next);
  }
  for (const [key, order] of Object.entries(patch)) {
    if (key.startsWith(ORDER)) applyOrder(merged, target, { key: key.slice(ORDER.length), order }, schema);
  }
  return merged;
}

function mergeValue(old: JsonValue | undefined, value: JsonValue, schema: MergeSchema): JsonValue | undefined {
  if (isObject(value)) {
    if (!isObject(old)) return withoutDirectives(value);
    return schema.patchReplaces === true ? withoutDirectives(value) : strategicMergePatch(old, value, schema);
  }
  if (!isArray(value)) return value;
  if (schema.patchBy === undefined || !isArray(old)) return withoutDirectives(value);
  return mergeList(old, value, schema, strategicMergePatch);
}

/** `$patch: replace` takes the patch as it is, `$patch: delete` empties the object. */
function directed(patch: JsonObject): JsonObject {
  switch (textAt(patch, DIRECTIVE) ?? '') {
    case 'replace': {
      const { [DIRECTIVE]: _directive, ...rest } = patch;
      return asObject(copyJson(rest));
    }
    case 'delete':
      return EMPTY_OBJECT;
    default:
      throw serverRefused(`unknown patch type: ${JSON.stringify(patch[DIRECTIVE])} in map`);
  }
}

/** A copy of the target, with `$retainKeys` limited to the named keys. */
function retained(target: JsonObject, patch: JsonObject): Record<string, JsonValue | undefined> {
  const keys = patch[RETAIN_KEYS];
  if (keys === undefined) return { ...target };
  if (!isArray(keys)) throw badRequest('invalid patch format of retainKeys');
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)));
}

function deleteFrom(merged: Record<string, JsonValue | undefined>, key: string, values: JsonValue): void {
  const list = merged[key];
  if (!isArray(values)) throw badRequest('invalid patch format of primitive list');
  if (isArray(list))
    setField(
      merged,
      key,
      list.filter(item => !values.includes(item)),
    );
}

/** Puts a merged list into the order that the patch asks for; items it does not name keep their place among the others. */
function applyOrder(
  merged: Record<string, JsonValue | undefined>,
  target: JsonObject,
  { key, order }: { readonly key: string; readonly order: JsonValue | undefined },
  schema: MergeSchema,
): void {
  const list = merged[key];
  if (!isArray(order)) throw badRequest('invalid patch format of setElementOrder list');
  if (!isArray(list)) return;
  const old = target[key];
  const { patchBy } = fieldSchema(schema, key);
  setField(
    merged,
    key,
    withOrder(list, order, isArray(old) ? old : [], typeof patchBy === 'object' ? patchBy.key : undefined),
  );
}

/** A value that has nothing to merge with: directives in it are dropped, as are nulls, and items that a directive deletes. */
function withoutDirectives(value: JsonValue): JsonValue {
  if (isArray(value)) {
    return value.filter(item => !(isObject(item) && item[DIRECTIVE] !== undefined)).map(withoutDirectives);
  }
  if (!isObject(value)) return value;
  const kept: Record<string, JsonValue> = {};
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined || field === null || key === DIRECTIVE || key === RETAIN_KEYS) continue;
    if (key.startsWith(ORDER) || key.startsWith(DELETE_FROM)) continue;
    setField(kept, key, withoutDirectives(field));
  }
  return kept;
}

function asObject(value: JsonValue): JsonObject {
  return isObject(value) ? value : EMPTY_OBJECT;
}
