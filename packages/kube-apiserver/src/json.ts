/** JSON as the API server handles it: immutable values that are compared, copied and shared, never edited in place. */
import type { JsonObject, JsonValue } from './kubernetes-object.ts';

export type { JsonObject, JsonValue };

export const EMPTY_OBJECT: JsonObject = Object.freeze({});

/** True for a JSON object. Looks at the outer value only: what is stored was copied by `copyJson` and is JSON all through. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for a JSON array. */
export function isArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The object under a key, or an empty one. */
export function objectAt(value: JsonObject, key: string): JsonObject {
  const field = value[key];
  return isObject(field) ? field : EMPTY_OBJECT;
}

/** The array under a key, or an empty one. */
export function arrayAt(value: JsonObject, key: string): readonly JsonValue[] {
  const field = value[key];
  return isArray(field) ? field : [];
}

/** The text under a key, or undefined. */
export function textAt(value: JsonObject, key: string): string | undefined {
  const field = value[key];
  return typeof field === 'string' ? field : undefined;
}

/** The number under a key, or undefined. */
export function numberAt(value: JsonObject, key: string): number | undefined {
  const field = value[key];
  return typeof field === 'number' ? field : undefined;
}

/** A value as a message shows it: a text as it is, everything else as JSON. */
export function show(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Copies foreign data into JSON: `undefined` members go, everything that JSON cannot say is refused with a TypeError. */
export function copyJson(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map(copyJson);
  if (typeof value === 'object') return copyObject(value);
  throw new TypeError(`JSON has no ${typeof value} like this`);
}

/** `copyJson` for an object. A value with `toJSON` (a Date) is taken as it serializes. */
export function copyObject(value: object): JsonObject {
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    const plain: unknown = value.toJSON();
    if (isObject(plain)) return copyObject(plain);
    throw new TypeError('JSON object expected');
  }
  const copy: Record<string, JsonValue> = {};
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue;
    setField(copy, key, field instanceof Date ? field.toISOString() : copyJson(field));
  }
  return copy;
}

/** Sets an own field, `__proto__` included: a key is data, never a prototype. */
export function setField<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** Deep equality of JSON values; shared references are equal at once, members that are `undefined` count as absent. */
export function equalJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (isArray(left)) {
    return isArray(right) && left.length === right.length && left.every((item, index) => equalJson(item, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  let members = 0;
  for (const key in left) {
    if (left[key] === undefined) continue;
    if (!Object.hasOwn(right, key) || !equalJson(left[key], right[key])) return false;
    members += 1;
  }
  for (const key in right) if (right[key] !== undefined) members -= 1;
  return members === 0;
}

/**
 * `next` with every part that equals the same part of `previous` replaced by that part itself. So an unchanged object comes
 * back as `previous`, and later comparisons of unchanged parts are one pointer comparison.
 */
function shareEqual(previous: JsonValue | undefined, next: JsonValue): JsonValue {
  if (previous === next || previous === undefined) return next;
  if (isArray(next)) return isArray(previous) ? shareArray(previous, next) : next;
  return isObject(next) && isObject(previous) ? shareObject(previous, next) : next;
}

/** `shareEqual` for objects. */
export function shareObject(previous: JsonObject, next: JsonObject): JsonObject {
  if (previous === next) return previous;
  const shared: Record<string, JsonValue> = {};
  let same = true;
  let members = 0;
  for (const key in next) {
    const field = next[key];
    if (field === undefined) continue;
    members += 1;
    const old = Object.hasOwn(previous, key) ? previous[key] : undefined;
    const kept = shareEqual(old, field);
    setField(shared, key, kept);
    if (kept !== old) same = false;
  }
  if (same) for (const key in previous) if (previous[key] !== undefined) members -= 1;
  return same && members === 0 ? previous : shared;
}

function shareArray(previous: readonly JsonValue[], next: readonly JsonValue[]): readonly JsonValue[] {
  let same = previous.length === next.length;
  const shared = next.map((item, index) => {
    const kept = shareEqual(previous[index], item);
    if (kept !== previous[index]) same = false;
    return kept;
  });
  return same ? previous : shared;
}

/** A copy of an object without some keys; the object itself when it has none of them. */
export function without(value: JsonObject, ...keys: readonly string[]): JsonObject {
  if (!keys.some(key => Object.hasOwn(value, key))) return value;
  const copy: Record<string, JsonValue | undefined> = { ...value };
  for (const key of keys) delete copy[key];
  return copy;
}

/** A copy with one field set, or removed when the value is undefined; the object itself when nothing changes. */
export function withField(value: JsonObject, key: string, field: JsonValue | undefined): JsonObject {
  if (value[key] === field) return value;
  return field === undefined ? without(value, key) : { ...value, [key]: field };
}
