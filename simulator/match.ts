/** Deep subset, as expectations use it, and dotted paths that must not exist. */
import { isJsonObject } from '../shared/domain/json.ts';
import type { JsonValue } from '../shared/domain/kubernetes-object.ts';

/** The first place where `actual` does not contain `expected`; undefined when it does. */
export interface Mismatch {
  readonly path: string;
  readonly expected: JsonValue;
  readonly actual: JsonValue | undefined;
}

/**
 * Whether `actual` contains `expected`: an object holds each expected field, an array has for each expected element one that
 * contains it, anything else is equal.
 */
export function mismatch(expected: JsonValue, actual: JsonValue | undefined, path = ''): Mismatch | undefined {
  if (isArray(expected)) {
    if (!isArray(actual)) return { path, expected, actual };
    for (const [index, element] of expected.entries()) {
      if (!actual.some(candidate => mismatch(element, candidate) === undefined)) {
        return { path: `${path}[${index}]`, expected: element, actual };
      }
    }
    return undefined;
  }
  if (!isJsonObject(expected)) return expected === actual ? undefined : { path, expected, actual };
  if (!isJsonObject(actual)) return { path, expected, actual };
  for (const [key, value] of Object.entries(expected)) {
    if (value === undefined) continue;
    const found = mismatch(value, actual[key], path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Number of leaves of `expected` that `actual` has: how near a miss is. */
export function nearness(expected: JsonValue, actual: JsonValue | undefined): number {
  if (isJsonObject(expected)) {
    const fields = isJsonObject(actual) ? actual : {};
    return Object.entries(expected).reduce((sum, [key, value = null]) => sum + nearness(value, fields[key]), 0);
  }
  return mismatch(expected, actual) === undefined ? 1 : 0;
}

/** The keys of a dotted path: `metadata.annotations["karpenter.sh/do-not-disrupt"]`, `spec.taints[0].key`. */
export function parsePath(path: string): readonly string[] {
  const keys: string[] = [];
  for (const { 1: quoted, 2: index, 3: plain } of path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)) {
    keys.push(quoted === undefined ? (index ?? plain ?? '') : quoted.replaceAll(/\\(.)/g, '$1'));
  }
  return keys;
}

/** What stands at a dotted path. */
export function valueAt(value: JsonValue | undefined, path: string): JsonValue | undefined {
  let current = value;
  for (const key of parsePath(path)) {
    if (isArray(current)) current = current[Number(key)];
    else if (isJsonObject(current)) current = current[key];
    else return undefined;
  }
  return current;
}

const isArray = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value);
