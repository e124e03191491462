/** What server-side apply sees in a value: its fields, and how two values differ, according to a merge schema. */
import type { JsonObject, JsonValue } from '../json.ts';
import { equalJson, isArray, isObject } from '../json.ts';
import type { MergeSchema } from '../patch/merge-schema.ts';
import { UNTYPED, fieldSchema } from '../patch/merge-schema.ts';
import type { FieldSet } from './field-set.ts';
import { EMPTY_SET, LEAF, setOf, union } from './field-set.ts';
import { fieldElement, itemElement } from './path-elements.ts';

/** True for an object or list whose members are owned one by one. */
export function isGranular(value: JsonValue, schema: MergeSchema): value is JsonObject | readonly JsonValue[] {
  if (isObject(value)) return schema.atomic !== true;
  return isArray(value) && (schema.list === 'map' || schema.list === 'set');
}

/** The fields that a configuration is an opinion about. */
export function fieldsOf(value: JsonValue, schema: MergeSchema): FieldSet {
  if (!isGranular(value, schema)) return LEAF;
  if (isArray(value)) {
    const items = schema.items ?? UNTYPED;
    return setOf(
      false,
      value.map(item => [itemElement(item, schema), union(LEAF, fieldsOf(item, items))]),
    );
  }
  return setOf(
    false,
    Object.entries(value).flatMap(([key, field]): [string, FieldSet][] => {
      if (field === undefined) return [];
      const below = fieldsOf(field, fieldSchema(schema, key));
      const isOwned = isMapKey(schema, key) || (isObject(field) && Object.keys(field).length === 0);
      return [[fieldElement(key), isOwned ? union(LEAF, below) : below]];
    }),
  );
}

/** A key of a free-form map is owned as such, a field of a structure only through what is in it. */
function isMapKey({ fields, values }: MergeSchema, key: string): boolean {
  return values !== undefined && !(fields !== undefined && Object.hasOwn(fields, key));
}

/** The set with every structure field on the way to a member made a member too: what removal must be able to name. */
export function withNamedFields(set: FieldSet, schema: MergeSchema): FieldSet {
  return setOf(
    set.member,
    [...set.children].map(([element, child]): [string, FieldSet] => {
      if (!element.startsWith('f:')) return [element, withNamedFields(child, schema.items ?? UNTYPED)];
      const key = element.slice(2);
      const below = withNamedFields(child, fieldSchema(schema, key));
      return [element, isMapKey(schema, key) ? below : union(LEAF, below)];
    }),
  );
}

/** How `next` differs from `old`, in paths. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const SAME: Comparison = { added: EMPTY_SET, modified: EMPTY_SET, removed: EMPTY_SET };

/** Compares two values; `undefined` is an absent one. Shared parts are equal without a look. */
export function compareValues(
  old: JsonValue | undefined,
  next: JsonValue | undefined,
  schema: MergeSchema,
): Comparison {
  if (old === next) return SAME;
  if (old === undefined && next !== undefined) return { ...SAME, added: allOf(next, schema) };
  const granular = (value: JsonValue | undefined) => value === undefined || value === null || isGranular(value, schema);
  const bothEmpty = isEmptyValue(old) && isEmptyValue(next);
  const alike = isNothing(old) || isNothing(next) || isArray(old) === isArray(next);
  if (!granular(old) || !granular(next) || bothEmpty || !alike) return compareLeaves(old, next);
  const members = isArray(old) || isArray(next) ? compareItems(old, next, schema) : compareFields(old, next, schema);
  const of = (kind: keyof Comparison, member: boolean) =>
    setOf(
      member,
      members.map(([element, each]) => [element, each[kind]]),
    );
  return {
    added: of('added', old === undefined),
    modified: of('modified', false),
    removed: of('removed', next === undefined),
  };
}

/** Every path of a value that was not there before. */
function allOf(value: JsonValue, schema: MergeSchema): FieldSet {
  if (isEmptyValue(value) || !isGranular(value, schema)) return LEAF;
  const children = new Map<string, FieldSet>();
  if (isArray(value)) {
    const items = schema.items ?? UNTYPED;
    for (const [element, item] of indexItems(value, schema)) children.set(element, allOf(item, items));
  } else {
    for (const [key, field] of Object.entries(value)) {
      if (field !== undefined) children.set(fieldElement(key), allOf(field, fieldSchema(schema, key)));
    }
  }
  return children.size === 0 ? LEAF : { member: true, children };
}

function compareLeaves(old: JsonValue | undefined, next: JsonValue | undefined): Comparison {
  if (next === undefined) return { ...SAME, removed: LEAF };
  return equalJson(old, next) ? SAME : { ...SAME, modified: LEAF };
}

function isNothing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

function isEmptyValue(value: JsonValue | undefined): boolean {
  return isNothing(value) || (isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);
}

type Members = [string, Comparison][];

function compareFields(old: JsonValue | undefined, next: JsonValue | undefined, schema: MergeSchema): Members {
  const left = isObject(old) ? old : {};
  const right = isObject(next) ? next : {};
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keys].map(key => [fieldElement(key), compareValues(left[key], right[key], fieldSchema(schema, key))]);
}

function compareItems(old: JsonValue | undefined, next: JsonValue | undefined, schema: MergeSchema): Members {
  const left = indexItems(isArray(old) ? old : [], schema);
  const right = indexItems(isArray(next) ? next : [], schema);
  const elements = new Set([...left.keys(), ...right.keys()]);
  const items = schema.items ?? UNTYPED;
  return [...elements].map(element => [element, compareValues(left.get(element), right.get(element), items)]);
}

/** A list's items by their elements; of items with the same element the last one counts. */
export function indexItems(list: readonly JsonValue[], schema: MergeSchema): Map<string, JsonValue> {
  return new Map(list.map(item => [itemElement(item, schema), item]));
}
