/** Lists in a strategic merge patch: merged by key or as sets, and brought into order. */
import type { JsonObject, JsonValue } from '../json.ts';
import { EMPTY_OBJECT, equalJson, isObject } from '../json.ts';
import { serverRefused } from '../status-errors.ts';
import type { MergeSchema } from './merge-schema.ts';
import { UNTYPED } from './merge-schema.ts';

type MergeObjects = (target: JsonObject, patch: JsonObject, schema: MergeSchema) => JsonObject;
type List = readonly JsonValue[];

/** The list with the patch's items merged in; `mergeObjects` merges an item with its patch. */
export function mergeList(old: List, patch: List, schema: MergeSchema, mergeObjects: MergeObjects): List {
  const { patchBy } = schema;
  if (patchBy === undefined) return patch;
  if (patchBy === 'set' || !patch.every(isObject)) {
    const merged = [...new Set([...old, ...patch])];
    return withOrder(merged, patch, old, undefined);
  }
  const { key } = patchBy;
  if (patch.some(item => item.$patch === 'replace')) return patch.filter(item => item.$patch === undefined);
  const deleted = patch.filter(item => item.$patch === 'delete').map(item => keyOf(item, key));
  const kept = old.filter(item => !deleted.some(value => isObject(item) && equalJson(item[key], value)));
  const merged: JsonValue[] = [...kept];
  const changes = patch.filter(item => item.$patch === undefined);
  for (const change of changes) {
    const value = keyOf(change, key);
    const index = merged.findIndex(item => isObject(item) && equalJson(item[key], value));
    const present = merged[index];
    const next = mergeObjects(isObject(present) ? present : EMPTY_OBJECT, change, schema.items ?? UNTYPED);
    if (index < 0) merged.push(next);
    else merged[index] = next;
  }
  return withOrder(merged, changes, kept, key);
}

function keyOf(item: JsonObject, key: string): JsonValue {
  const value = item[key];
  if (value === undefined)
    throw serverRefused(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
  return value;
}

/**
 * Items that `order` names stand in its order. The others stay where they stood on the server relative to those that the server
 * knew; an item that is new to the server comes before them.
 */
export function withOrder(merged: List, order: List, serverOrder: List, key: string | undefined): List {
  const rank = (list: List, item: JsonValue) => list.findIndex(other => same(other, item, key));
  const byRank = (list: List) => (a: JsonValue, b: JsonValue) => rank(list, a) - rank(list, b);
  const named = merged.filter(item => rank(order, item) >= 0).toSorted(byRank(order));
  const others = merged.filter(item => rank(order, item) < 0).toSorted(byRank(serverOrder));
  const ordered: JsonValue[] = [];
  for (const item of named) {
    const place = rank(serverOrder, item);
    const after = others.findIndex(other => !standsBefore(rank(serverOrder, other), place));
    ordered.push(...others.splice(0, after < 0 ? others.length : after), item);
  }
  return [...ordered, ...others];
}

/** True when the server knows both places and the first comes before the second. */
function standsBefore(place: number, other: number): boolean {
  return place >= 0 && other >= 0 && place < other;
}

function same(left: JsonValue, right: JsonValue, key: string | undefined): boolean {
  if (key === undefined) return equalJson(left, right);
  return isObject(left) && isObject(right) && equalJson(left[key], right[key]);
}
