/** Merging an applied configuration into the stored object, and taking fields out of it. */
import type { JsonObject, JsonValue } from '../json.ts';
import { isArray, isObject, setField } from '../json.ts';
import type { MergeSchema } from '../patch/merge-schema.ts';
import { UNTYPED, fieldSchema } from '../patch/merge-schema.ts';
import type { FieldSet } from './field-set.ts';
import { EMPTY_SET, isEmptySet } from './field-set.ts';
import { fieldElement, itemElement } from './path-elements.ts';
import { indexItems, isGranular } from './typed-values.ts';

/** The stored value with the configuration merged in: where both have an indivisible value, the configuration's. */
export function mergeValues(live: JsonValue | undefined, config: JsonValue, schema: MergeSchema): JsonValue {
  if (live === undefined || !isGranular(config, schema) || !isGranular(live, schema)) return config;
  if (isArray(config)) return isArray(live) ? mergeItems(live, config, schema) : config;
  return isObject(live) ? mergeFields(live, config, schema) : config;
}

function mergeFields(live: JsonObject, config: JsonObject, schema: MergeSchema): JsonObject {
  const merged: Record<string, JsonValue | undefined> = { ...live };
  for (const [key, value] of Object.entries(config)) {
    if (value === undefined) continue;
    const present = Object.hasOwn(live, key) ? live[key] : undefined;
    setField(merged, key, mergeValues(present, value, fieldSchema(schema, key)));
  }
  return merged;
}

/**
 * Items of the configuration stand in its order, the others where they stood: before the next item that is in both lists. (Walks
 * both lists at once; an item of both waits until the configuration comes to it.)
 */
function mergeItems(
  live: readonly JsonValue[],
  config: readonly JsonValue[],
  schema: MergeSchema,
): readonly JsonValue[] {
  const liveItems = indexItems(live, schema);
  const configItems = indexItems(config, schema);
  const stored = [...liveItems.keys()];
  const wanted = [...configItems.keys()];
  const shared = wanted.filter(element => liveItems.has(element));
  const merged: JsonValue[] = [];
  const placed = new Set<string>();
  let [atStored, atWanted, atShared] = [0, 0, 0];
  while (atStored < stored.length || atWanted < wanted.length) {
    const mine = stored[atStored];
    const theirs = wanted[atWanted];
    const isShared = mine !== undefined && configItems.has(mine);
    const waits =
      isShared && theirs !== undefined && mine !== theirs && atShared < shared.length && shared[atShared] !== mine;
    if (mine !== undefined && !isShared) merged.push(liveItems.get(mine) ?? null);
    if (mine !== undefined && (!isShared || waits || mine === theirs || placed.has(mine))) atStored += 1;
    if (theirs === undefined || waits || (mine !== undefined && !isShared)) continue;
    merged.push(mergeValues(liveItems.get(theirs), configItems.get(theirs) ?? null, schema.items ?? UNTYPED));
    placed.add(theirs);
    atWanted += 1;
    if (shared[atShared] === theirs) atShared += 1;
  }
  return merged;
}

/**
 * The value without the fields and items in a set. An object or list of which nothing is left becomes null: it is empty, not
 * gone, until somebody who owns it takes it away.
 */
export function withoutFields(value: JsonValue, removed: FieldSet, schema: MergeSchema): JsonValue {
  if (isEmptySet(removed) || !isGranular(value, schema)) return value;
  if (isArray(value)) {
    const items = value.flatMap(item => {
      const child = removed.children.get(itemElement(item, schema)) ?? EMPTY_SET;
      return child.member ? [] : [withoutFields(item, child, schema.items ?? UNTYPED)];
    });
    return items.length === 0 ? null : items;
  }
  const kept: Record<string, JsonValue> = {};
  for (const [key, field] of Object.entries(value)) {
    const child = removed.children.get(fieldElement(key)) ?? EMPTY_SET;
    if (field === undefined || child.member) continue;
    setField(kept, key, isEmptySet(child) ? field : withoutFields(field, child, fieldSchema(schema, key)));
  }
  return Object.keys(kept).length === 0 ? null : kept;
}
