/** Data out: a Go value as a plain JavaScript value, for functions that a caller adds. */
import { decode } from '../text/bytes.ts';
import { isInt, isUint } from './type.ts';
import { asInteger, asMap, asSlice, asString, asStruct, elemOf, itemAt, type Value } from './value.ts';

/** Integers that a number can hold exactly become numbers, others bigints; maps and structs become objects without prototype. */
export function toJs(v: Value | undefined): unknown {
  if (v === undefined) return undefined;
  if (isInt(v.type.kind) || isUint(v.type.kind)) {
    const n = asInteger(v);
    return Number.isSafeInteger(Number(n)) ? Number(n) : n;
  }
  switch (v.type.kind) {
    case 'string':
      return decode(asString(v));
    case 'interface':
    case 'pointer':
      return toJs(elemOf(v));
    case 'slice': {
      const slice = asSlice(v);
      return Array.from({ length: slice?.length ?? 0 }, (_, i) => toJs(itemAt(slice!, i)));
    }
    case 'map':
      return record([...(asMap(v) ?? [])].map(([key, value]) => [decode(key), value]));
    case 'struct':
      return record(asStruct(v).map((field, i) => [v.type.fields![i]!.name, field]));
    default:
      return v.held;
  }
}

function record(entries: readonly (readonly [string, Value])[]): unknown {
  const out = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of entries) out[key] = toJs(value);
  return out;
}
