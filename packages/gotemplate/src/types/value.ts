/** Go values: a type and what it holds. `undefined` stands for Go's invalid `reflect.Value` (no value at all). */
import { CallError } from '../errors.ts';
import type { Bytes } from '../text/bytes.ts';
import {
  ANY,
  BOOL,
  FLOAT64,
  type GoType,
  INT,
  isInt,
  isUint,
  type Method,
  type Signature,
  sliceOf,
  STRING,
  UINT8,
} from './type.ts';

/** A window on a list, as a Go slice: `length` elements from `offset`, room for `capacity`. */
export interface SliceData {
  readonly items: readonly Value[];
  readonly offset: number;
  readonly length: number;
  readonly capacity: number;
}

export interface Complex {
  readonly re: number;
  readonly im: number;
}

/** What a value holds, by kind: see the `as…` functions below. `null` = nil. */
export type Held =
  boolean | bigint | number | Complex | Bytes | SliceData | MapData | Value | readonly Value[] | Signature | null;

export type MapData = ReadonlyMap<Bytes, Value>;

export class Value {
  readonly type: GoType;
  readonly held: Held;
  /** Reached through a pointer or a slice, so that methods on the pointer are there too. */
  readonly addressable: boolean;

  constructor(type: GoType, held: Held, addressable = false) {
    this.type = type;
    this.held = held;
    this.addressable = addressable;
  }
}

export const asBool = (v: Value): boolean => v.held as boolean;
export const asInteger = (v: Value): bigint => v.held as bigint;
export const asFloat = (v: Value): number => v.held as number;
export const asComplex = (v: Value): Complex => v.held as Complex;
export const asString = (v: Value): Bytes => v.held as Bytes;
export const asSlice = (v: Value): SliceData | null => v.held as SliceData | null;
export const asMap = (v: Value): MapData | null => v.held as MapData | null;
export const asStruct = (v: Value): readonly Value[] => v.held as readonly Value[];
export const asFunc = (v: Value): Signature | null => v.held as Signature | null;

export const boolValue = (b: boolean): Value => new Value(BOOL, b);
export const intValue = (n: number | bigint): Value => new Value(INT, BigInt(n));
export const floatValue = (x: number): Value => new Value(FLOAT64, x);
export const stringValue = (s: Bytes): Value => new Value(STRING, s);
export const bytesValue = (octets: Uint8Array): Value =>
  sliceValue(
    sliceOf(UINT8),
    Array.from(octets, octet => new Value(UINT8, BigInt(octet), true)),
  );

/** A slice of all `items`, its capacity as large as it is long. */
export function sliceValue(type: GoType, items: readonly Value[]): Value {
  return new Value(type, { items, offset: 0, length: items.length, capacity: items.length });
}

/** An `any` that holds `v`, or nil. */
export const boxed = (v: Value | null): Value => new Value(ANY, v);

/** Element `i` of a slice; `i` must be in range. */
export function itemAt(slice: SliceData, i: number): Value {
  return addressed(slice.items[slice.offset + i]!);
}

/** `reflect.Zero`. */
export function zeroValue(type: GoType): Value {
  if (isInt(type.kind) || isUint(type.kind)) return new Value(type, 0n);
  switch (type.kind) {
    case 'bool':
      return new Value(type, false);
    case 'float64':
      return new Value(type, 0);
    case 'complex128':
      return new Value(type, { re: 0, im: 0 });
    case 'string':
      return new Value(type, '');
    case 'struct':
      return new Value(
        type,
        type.fields!.map(field => zeroValue(field.type)),
      );
    default:
      return new Value(type, null);
  }
}

/** True for a nil interface, map, pointer, slice or function. */
export const isNilHeld = (v: Value): boolean => v.held === null;

/** What an interface or a pointer holds; undefined for nil. A pointer's target is addressable. */
export function elemOf(v: Value): Value | undefined {
  const target = v.held as Value | null;
  if (target === null) return undefined;
  return v.type.kind === 'pointer' ? addressed(target) : target;
}

const addressed = (v: Value): Value => (v.addressable ? v : new Value(v.type, v.held, true));

/** Follows pointers and interfaces to the end; `isNil` where the last one is nil (that one is given back). */
export function indirect(v: Value | undefined): readonly [value: Value | undefined, isNil: boolean] {
  let value = v;
  while (value !== undefined && (value.type.kind === 'pointer' || value.type.kind === 'interface')) {
    const target = elemOf(value);
    if (target === undefined) return [value, true];
    value = target;
  }
  return [value, false];
}

/** What an interface holds, undefined for nil; any other value as it is. */
export function indirectInterface(v: Value | undefined): Value | undefined {
  return v !== undefined && v.type.kind === 'interface' ? elemOf(v) : v;
}

/** Whether a value counts as true in `if`; Go's zero values do not, structs always do. */
export function isTrue(v: Value | undefined): boolean {
  if (v === undefined) return false;
  switch (v.type.kind) {
    case 'bool':
      return asBool(v);
    case 'string':
      return asString(v).length > 0;
    case 'float64':
      return asFloat(v) !== 0;
    case 'complex128':
      return asComplex(v).re !== 0 || asComplex(v).im !== 0;
    case 'slice':
      return (asSlice(v)?.length ?? 0) > 0;
    case 'map':
      return (asMap(v)?.size ?? 0) > 0;
    case 'struct':
      return true;
    case 'interface':
    case 'pointer':
    case 'func':
      return !isNilHeld(v);
    default:
      return asInteger(v) !== 0n;
  }
}

/** The method `name` of `v`, bound to it, if `v`'s method set has it. */
export function methodOf(v: Value, name: string): Signature | undefined {
  const isPointer = v.type.kind === 'pointer';
  const owner = isPointer ? v.type.elem : v.type;
  const method = owner?.methods?.get(name);
  if (method === undefined || (method.onPointer && !isPointer && !v.addressable)) return undefined;
  return {
    params: method.params,
    variadic: false,
    ...(method.also && { also: method.also }),
    call: args => method.call(receiver(v, method, name), args),
  };
}

/** A pointer method gets the pointer's target too: in TypeScript it looks at fields, nil or not. */
function receiver(v: Value, method: Method, name: string): Value {
  if (v.type.kind !== 'pointer') return v;
  const target = elemOf(v);
  if (target !== undefined) return target;
  if (method.onPointer) return zeroValue(v.type.elem!);
  throw new CallError(
    `value method ${v.type.elem!.name}.${name} called using nil ${v.type.name.replace(/^\*.*\./, '*')} pointer`,
  );
}

/** The field `name` of a struct value. */
export function fieldOf(v: Value, name: string): Value | undefined {
  const at = v.type.fields!.findIndex(field => field.name === name);
  if (at < 0) return undefined;
  const field = asStruct(v)[at]!;
  return v.addressable ? addressed(field) : field;
}

/** `Type.AssignableTo`, for the types there are here. */
export const isAssignable = (from: GoType, to: GoType): boolean => from === to || to === ANY;

/** Keys of a map in the order of their bytes. */
export const sortedKeys = (map: MapData): Bytes[] => [...map.keys()].toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
