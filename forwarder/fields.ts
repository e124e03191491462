/** Reading fields of objects whose shape is not known: what is missing or of another type is absent, nothing throws. */
import { isJsonObject } from '../shared/domain/json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The value at `path`, or undefined as soon as a step of it is missing. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isJsonObject(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** The text at `path`; undefined when it is missing, empty or not text. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = fieldAt(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The list at `path`; empty when it is missing or not a list. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found: unknown = fieldAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The named fields of `value` that are set, as a new object. */
export function pick(value: unknown, keys: readonly string[]): Fields {
  const picked: Record<string, unknown> = {};
  for (const key of keys) {
    const found = fieldAt(value, key);
    if (found !== undefined) picked[key] = found;
  }
  return picked;
}

/** The entries of a string map whose key passes; undefined when there are none, so that `{}` and absent are equal. */
export function pickEntries(value: unknown, passes: (key: string) => boolean): Fields | undefined {
  if (!isJsonObject(value)) return undefined;
  const kept = Object.entries(value).filter(([key]) => passes(key));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** JSON text that is equal for equal values, whatever the order of their keys. */
export function canonicalText(value: unknown): string {
  // Most parts are plain text, for which a replacer is ten times the work.
  if (typeof value === 'string') return JSON.stringify(value);
  return JSON.stringify(value, (_key, nested: unknown) =>
    isJsonObject(nested) ? Object.fromEntries(Object.entries(nested).toSorted(byKey)) : nested,
  );
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0;
