/** JSON of which nothing is known yet. */
import type { JsonObject, JsonValue } from './kubernetes-object.ts';

/** Whether a parsed JSON value is an object: neither null nor a list. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether two JSON values are equal, whatever the order of their keys. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, index) => isSameJson(each, b[index]));
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && isSameJson(a[key], b[key]))
  );
}

/** The fields of an object; none of what is no object. */
export const fieldsOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** The object that stands there; an empty one where that is none. */
export const objectIn = (object: unknown, key: string): JsonObject => fieldsOf(fieldsOf(object)[key]);

/** The list that stands there; an empty one where that is none. */
export const listIn = (object: unknown, key: string): readonly JsonValue[] => {
  const value = fieldsOf(object)[key];
  return Array.isArray(value) ? value : [];
};

/** The text; an empty one of what is no text. */
export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A text that says something; undefined: there is none. */
export const optionalText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Parses a text that anybody may have written. undefined: it is no JSON. */
export function readJson(text: string | undefined): unknown {
  // An error costs more than the rest of it.
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Throws a `TypeError` (and a `SyntaxError`, as `JSON.parse`) for a text that is no JSON object. */
export function parseJsonObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new TypeError('this is no JSON object');
  return value;
}

/** A copy as JSON has it, which carries no undefined. */
export const toJson = (value: unknown): JsonObject => parseJsonObject(JSON.stringify(value));

/** A copy without what stands at these paths; a value that is not there is no fault. Entries of lists stay, so that later paths still fit. */
export function withoutPaths(value: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  const own = paths.filter(path => path.length === 1).map(([key]) => String(key));
  const below = (key: string): readonly (readonly PropertyKey[])[] =>
    paths.flatMap(([first, ...rest]) => (rest.length > 0 && String(first) === key ? [rest] : []));
  if (Array.isArray(value)) return value.map((each: unknown, index) => withoutPaths(each, below(String(index))));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (own.includes(key) ? [] : [[key, withoutPaths(each, below(key))]])),
  );
}
