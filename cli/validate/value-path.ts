/** Paths of fields, as messages write them. */
import { isJsonObject } from '../../shared/domain/json.ts';
import type { Path } from '../../simulator/scenario/places.ts';

/** Reads `spec.repair.policies[0].toleration`. */
export function toPath(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|\["?([^"\]]+)"?\]|([^.[\]]+)/g)].map(([, index, quoted, name]) =>
    index === undefined ? (quoted ?? name ?? '') : Number(index),
  );
}

/** Reads `spec.repair.policies.0.toleration`, as schemas write it. */
export const toDottedPath = (text: string): Path => toPath(text.replaceAll(/\.(\d+)/g, '[$1]'));

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (here, key) => (isJsonObject(here) || Array.isArray(here) ? Reflect.get(here, key) : undefined),
    value,
  );
}
