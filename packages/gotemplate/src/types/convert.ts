/**
 * Data in: JavaScript values become Go values, once, before a template runs. Only an object's own enumerable properties
 * are read, so that a template cannot reach prototypes, accessors or methods of JavaScript.
 */
import { DataError } from '../errors.ts';
import { DEFAULT_LIMITS, isStackOverflow } from '../limits.ts';
import { encode } from '../text/bytes.ts';
import { MAX_INT64, MAX_UINT64, MIN_INT64 } from '../text/number.ts';
import { TIME, timeValue } from './time.ts';
import { ANY, FLOAT64, type GoType, INT64, isInt, isUint, mapOf, sliceOf, type Signature, UINT64 } from './type.ts';
import { boolValue, boxed, bytesValue, floatValue, sliceValue, stringValue, Value, zeroValue } from './value.ts';
import { toJs } from './to-js.ts';

/** A number to be a Go float64, even when it is whole. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

interface Where {
  readonly path: string;
  readonly depth: number;
  readonly maxDepth: number;
}

const fail = (where: Where, problem: string): never => {
  throw new DataError(where.path, problem);
};

const inside = (where: Where, key: string): Where => {
  if (where.depth >= where.maxDepth) fail(where, `more than ${where.maxDepth} levels deep, or a cycle`);
  return { ...where, path: where.path + key, depth: where.depth + 1 };
};

/** Own enumerable data properties. */
function entries(data: object, where: Where): [key: string, value: unknown][] {
  return Object.keys(data).map(key => {
    const property = Object.getOwnPropertyDescriptor(data, key)!;
    if (!('value' in property)) fail(where, `property ${JSON.stringify(key)} is an accessor`);
    return [key, property.value];
  });
}

/**
 * The Go value of `data`. Without `type`: object = map[string]any, array = []any, string, boolean; a whole number =
 * int64, any other number and `Float` = float64; bigint = int64, or uint64 where it does not fit; Date = time.Time in
 * UTC; Uint8Array = []byte; function = a function for `call`; null and undefined = nil. With `type`: that type, and
 * fields that it does not have are refused; missing ones have their zero value.
 * @throws {DataError} that says where.
 */
export function toGo(data: unknown, type?: GoType, maxDepth = DEFAULT_LIMITS.dataDepth): Value | undefined {
  if (data instanceof Value) return data;
  const where = { path: '', depth: 0, maxDepth };
  try {
    return type === undefined ? untyped(data, where) : typed(data, type, where);
  } catch (error) {
    if (isStackOverflow(error)) return fail(where, 'too deep for the stack');
    throw error;
  }
}

function untyped(data: unknown, where: Where): Value | undefined {
  switch (typeof data) {
    case 'undefined':
      return undefined;
    case 'boolean':
      return boolValue(data);
    case 'string':
      return stringValue(encode(data));
    case 'number':
      return Number.isSafeInteger(data) && !Object.is(data, -0) ? new Value(INT64, BigInt(data)) : floatValue(data);
    case 'bigint':
      if (data >= MIN_INT64 && data <= MAX_INT64) return new Value(INT64, data);
      return data > 0n && data <= MAX_UINT64 ? new Value(UINT64, data) : fail(where, 'integer out of range');
    case 'function':
      return new Value(FUNC, signatureOf(data as (...args: unknown[]) => unknown));
    case 'symbol':
      return fail(where, 'a symbol is not data');
    default:
      return data === null ? undefined : object(data as object, where);
  }
}

function object(data: object, where: Where): Value {
  if (data instanceof Value) return data;
  if (data instanceof Float) return floatValue(data.value);
  if (data instanceof Date) return timeValue(data.getTime());
  if (data instanceof Uint8Array) return bytesValue(data);
  const box = (value: unknown, key: string): Value => boxed(untyped(value, inside(where, key)) ?? null);
  if (Array.isArray(data)) {
    return sliceValue(
      sliceOf(ANY),
      Array.from(data as unknown[], (item, i) => box(item, `[${i}]`)),
    );
  }
  return new Value(
    mapOf(ANY),
    new Map(entries(data, where).map(([key, value]) => [encode(key), box(value, '.' + key)])),
  );
}

function typed(data: unknown, type: GoType, where: Where): Value {
  if (data instanceof Value && data.type === type) return data;
  if (type.kind === 'interface') return boxed(untyped(data, where) ?? null);
  if (data === undefined || data === null) return zeroValue(type);
  if (type.kind === 'pointer') return new Value(type, typed(data, type.elem!, where));
  if (type === TIME && data instanceof Date) return timeValue(data.getTime());
  const wrong = (): never => fail(where, `${describe(data)} is not a ${type.name}`);
  if (isInt(type.kind) || isUint(type.kind)) {
    const integer = typeof data === 'bigint' ? data : Number.isSafeInteger(data) ? BigInt(data as number) : wrong();
    return fits(integer, type) ? new Value(type, integer) : fail(where, `${integer} does not fit a ${type.name}`);
  }
  switch (type.kind) {
    case 'bool':
      return typeof data === 'boolean' ? new Value(type, data) : wrong();
    case 'string':
      return typeof data === 'string' ? new Value(type, encode(data)) : wrong();
    case 'float64':
      return typeof data === 'number' ? new Value(FLOAT64 === type ? FLOAT64 : type, data) : wrong();
    case 'slice':
      if (!Array.isArray(data)) return wrong();
      return sliceValue(
        type,
        Array.from(data as unknown[], (item, i) => typed(item, type.elem!, inside(where, `[${i}]`))),
      );
    case 'map':
      if (typeof data !== 'object' || Array.isArray(data)) return wrong();
      return new Value(
        type,
        new Map(
          entries(data, where).map(([key, value]) => [encode(key), typed(value, type.elem!, inside(where, '.' + key))]),
        ),
      );
    case 'struct':
      return typeof data === 'object' && !Array.isArray(data) ? struct(data, type, where) : wrong();
    default:
      return wrong();
  }
}

function struct(data: object, type: GoType, where: Where): Value {
  const given = new Map(entries(data, where));
  const unknown = [...given.keys()].find(key => !type.fields!.some(field => field.name === key));
  if (unknown !== undefined) fail(where, `${type.name} has no field ${JSON.stringify(unknown)}`);
  return new Value(
    type,
    type.fields!.map(field => typed(given.get(field.name), field.type, inside(where, '.' + field.name))),
  );
}

function fits(integer: bigint, type: GoType): boolean {
  const bits = Number(/\d+$/.exec(type.kind)?.[0] ?? 64);
  return (isInt(type.kind) ? BigInt.asIntN(bits, integer) : BigInt.asUintN(bits, integer)) === integer;
}

const describe = (data: unknown): string => (Array.isArray(data) ? 'a list' : `a ${typeof data}`);

const FUNC: GoType = { kind: 'func', name: 'func(...interface {}) interface {}' };

/** A function that a template can call; it gets and gives plain JavaScript values, and may throw to stop the template. */
export function signatureOf(fn: (...args: unknown[]) => unknown): Signature {
  return { params: [ANY], variadic: true, call: args => toGo(fn(...args.map(toJs))) };
}
