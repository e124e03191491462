/** `index`, `slice` and `len`. */
import { CallError } from '../errors.ts';
import { type Bytes } from '../text/bytes.ts';
import { isInt, isUint, STRING, UINT8 } from '../types/type.ts';
import {
  asInteger,
  asMap,
  asSlice,
  asString,
  indirect,
  indirectInterface,
  intValue,
  itemAt,
  type SliceData,
  Value,
  zeroValue,
} from '../types/value.ts';

type Arg = Value | undefined;

/** An index into something that is `limit` long (the limit itself is let through, as in Go). */
function indexArg(index: Arg, limit: number): number {
  if (index === undefined) throw new CallError('cannot index slice/array with nil');
  if (!isInt(index.type.kind) && !isUint(index.type.kind)) {
    throw new CallError(`cannot index slice/array with type ${index.type.name}`);
  }
  const x = BigInt.asIntN(64, asInteger(index));
  if (x < 0n || x > BigInt(limit)) throw new CallError(`index out of range: ${x}`);
  return Number(x);
}

/** A map's key: only strings will do. */
function keyArg(key: Arg): Bytes {
  if (key === undefined) throw new CallError('value is nil; should be of type string');
  if (key.type !== STRING) throw new CallError(`value has type ${key.type.name}; should be string`);
  return asString(key);
}

function elementAt(item: Value, index: Arg): Value {
  switch (item.type.kind) {
    case 'slice': {
      const slice = asSlice(item);
      const length = slice?.length ?? 0;
      const i = indexArg(index, length);
      if (i >= length) throw new CallError('reflect: slice index out of range');
      return itemAt(slice!, i);
    }
    case 'string': {
      const s = asString(item);
      const i = indexArg(index, s.length);
      if (i >= s.length) throw new CallError('reflect: string index out of range');
      return new Value(UINT8, BigInt(s.charCodeAt(i)));
    }
    case 'map': {
      const key = keyArg(index);
      return asMap(item)?.get(key) ?? zeroValue(item.type.elem!);
    }
    default:
      throw new CallError(`can't index item of type ${item.type.name}`);
  }
}

/** `index x 1 "k"` is x[1]["k"]. */
export function index([collection, ...indexes]: readonly Arg[]): Arg {
  let item = indirectInterface(collection);
  if (item === undefined) throw new CallError('index of untyped nil');
  for (const each of indexes) {
    const [target, isNil] = indirect(item);
    if (isNil) throw new CallError('index of nil pointer');
    item = elementAt(target!, indirectInterface(each));
  }
  return item;
}

/** `slice x 1 2` is x[1:2]; with three indexes the last one is the capacity's end. */
export function slice([collection, ...indexes]: readonly Arg[]): Arg {
  const outer = indirectInterface(collection);
  if (outer === undefined) throw new CallError('slice of untyped nil');
  const [item, isNil] = indirect(outer);
  if (isNil) throw new CallError('slice of nil pointer');
  if (indexes.length > 3) throw new CallError(`too many slice indexes: ${indexes.length}`);
  if (item!.type.kind === 'string') return sliceString(asString(item!), item!, indexes);
  if (item!.type.kind !== 'slice') throw new CallError(`can't slice item of type ${item!.type.name}`);
  const data = asSlice(item!) ?? { items: [], offset: 0, length: 0, capacity: 0 };
  const { from, to, max } = bounds(indexes, data.length, data.capacity);
  const part: SliceData = { items: data.items, offset: data.offset + from, length: to - from, capacity: max - from };
  return new Value(item!.type, asSlice(item!) === null ? null : part);
}

function sliceString(s: Bytes, item: Value, indexes: readonly Arg[]): Value {
  if (indexes.length === 3) throw new CallError('cannot 3-index slice a string');
  const { from, to } = bounds(indexes, s.length, s.length);
  return new Value(item.type, s.slice(from, to));
}

function bounds(indexes: readonly Arg[], length: number, capacity: number): { from: number; to: number; max: number } {
  const [from = 0, to = length, max = capacity] = indexes.map(each => indexArg(each, capacity));
  if (from > to) throw new CallError(`invalid slice index: ${from} > ${to}`);
  if (to > max) throw new CallError(`invalid slice index: ${to} > ${max}`);
  return { from, to, max };
}

/** Of texts in bytes. Throws a `CallError` with Go's text for what has no length. */
export function len([collection]: readonly Arg[]): Arg {
  const [item, isNil] = indirect(collection);
  if (isNil) throw new CallError('len of nil pointer');
  if (item === undefined) throw new CallError('reflect: call of reflect.Value.Type on zero Value');
  switch (item.type.kind) {
    case 'slice':
      return intValue(asSlice(item)?.length ?? 0);
    case 'map':
      return intValue(asMap(item)?.size ?? 0);
    case 'string':
      return intValue(asString(item).length);
    default:
      throw new CallError(`len of type ${item.type.name}`);
  }
}
