/**
 * Sets of field paths, as `managedFields` records them: a tree whose nodes are path elements (`f:name`, `k:{"type":"Ready"}`,
 * `v:"x"`), each of them a member of the set or only on the way to members.
 */
import type { JsonObject } from '../json.ts';
import { isObject } from '../json.ts';
import { byText } from '../store/collection.ts';

export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

const NO_CHILDREN: ReadonlyMap<string, FieldSet> = new Map();

export const EMPTY_SET: FieldSet = { member: false, children: NO_CHILDREN };
export const LEAF: FieldSet = { member: true, children: NO_CHILDREN };

export function isEmptySet(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

/** A node over those children that are not empty. */
export function setOf(member: boolean, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  const kept = new Map<string, FieldSet>();
  for (const [element, child] of children) if (!isEmptySet(child)) kept.set(element, child);
  if (kept.size > 0) return { member, children: kept };
  return member ? LEAF : EMPTY_SET;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  if (isEmptySet(a)) return b;
  const children = new Map(a.children);
  for (const [element, child] of b.children) children.set(element, union(children.get(element) ?? EMPTY_SET, child));
  return { member: a.member || b.member, children };
}

/** The paths of `a` that are not paths of `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(b)) return a;
  return setOf(
    a.member && !b.member,
    [...a.children].map(([element, child]) => [element, difference(child, b.children.get(element) ?? EMPTY_SET)]),
  );
}

/** The paths that are in both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return setOf(
    a.member && b.member,
    [...a.children].map(([element, child]) => [element, intersection(child, b.children.get(element) ?? EMPTY_SET)]),
  );
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.member !== b.member || a.children.size !== b.children.size) return false;
  return [...a.children].every(([element, child]) => equalSets(child, b.children.get(element) ?? EMPTY_SET));
}

/** Every path of the set: at each level the members in order, then what is below them. */
export function* pathsOf(set: FieldSet, prefix: readonly string[] = []): Iterable<readonly string[]> {
  const children = [...set.children].toSorted(([a], [b]) => byText(a, b));
  for (const [element, child] of children) if (child.member) yield [...prefix, element];
  for (const [element, child] of children) yield* pathsOf(child, [...prefix, element]);
}

/** FieldsV1: a member without children is `{}`, one with children has the key `.`. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const json: Record<string, JsonObject> = {};
  if (set.member && set.children.size > 0) json['.'] = {};
  for (const element of [...set.children.keys()].toSorted())
    json[element] = toFieldsV1(set.children.get(element) ?? EMPTY_SET);
  return json;
}

/** The set in a FieldsV1; the root is never a member. */
export function fromFieldsV1(json: JsonObject): FieldSet {
  return readNode(json, true);
}

function readNode(json: JsonObject, isRoot: boolean): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, child] of Object.entries(json)) {
    if (element !== '.' && isObject(child)) children.set(element, readNode(child, false));
  }
  const member = !isRoot && (children.size === 0 || json['.'] !== undefined);
  return { member, children };
}
