/** Go's types, as far as a template can meet them: what `%T` prints, what fields and methods a value has. */
import type { Value } from './value.ts';

export type IntKind = 'int' | 'int8' | 'int16' | 'int32' | 'int64';
export type UintKind = 'uint' | 'uint8' | 'uint16' | 'uint32' | 'uint64';
export type Kind =
  | 'bool'
  | IntKind
  | UintKind
  | 'float64'
  | 'complex128'
  | 'string'
  | 'slice'
  | 'map'
  | 'pointer'
  | 'struct'
  | 'interface'
  | 'func';

/** A field of a struct type; a name that starts in lower case is unexported, as in Go. */
export interface Field {
  readonly name: string;
  readonly type: GoType;
}

/** What a function takes and gives. `call` gets one value per parameter, more for a variadic last one; undefined = nil. */
export interface Signature {
  readonly params: readonly GoType[];
  readonly variadic: boolean;
  /** Types of results beside the first (an error aside); Go's templates refuse them. */
  readonly also?: readonly string[];
  readonly call: (args: readonly (Value | undefined)[]) => Value | undefined;
}

/** A method: like a function with its receiver first. `onPointer`: the receiver is a pointer, nil included. */
export interface Method {
  readonly params: readonly GoType[];
  readonly also?: readonly string[];
  readonly onPointer?: boolean;
  readonly call: (receiver: Value, args: readonly (Value | undefined)[]) => Value | undefined;
}

export interface GoType {
  readonly kind: Kind;
  /** The type as Go prints it: `int64`, `[]string`, `time.Time`. */
  readonly name: string;
  /** Elements of a slice or map, target of a pointer. */
  readonly elem?: GoType;
  readonly fields?: readonly Field[];
  readonly methods?: ReadonlyMap<string, Method>;
}

const basic = (kind: Kind): GoType => ({ kind, name: kind });

export const BOOL = basic('bool');
export const INT = basic('int');
export const INT32 = basic('int32');
export const INT64 = basic('int64');
export const UINT8 = basic('uint8');
export const UINT32 = basic('uint32');
export const UINT64 = basic('uint64');
export const FLOAT64 = basic('float64');
export const COMPLEX128 = basic('complex128');
export const STRING = basic('string');
/** `any`: what maps and lists without declared types hold. */
export const ANY: GoType = { kind: 'interface', name: 'interface {}' };
/** The parameter type of built-in functions that look at a value themselves; a value passes as it is, nil too. */
export const REFLECTED: GoType = { kind: 'struct', name: 'reflect.Value' };

/** One type per element type: composite types are the same type when they are written the same. */
function composite(kind: Kind, prefix: string): (elem: GoType) => GoType {
  const known = new WeakMap<GoType, GoType>();
  return elem => {
    let type = known.get(elem);
    if (type === undefined) known.set(elem, (type = { kind, name: prefix + elem.name, elem }));
    return type;
  };
}

/** `[]elem`. */
export const sliceOf = composite('slice', '[]');
/** `map[string]elem`; keys are strings always. */
export const mapOf = composite('map', 'map[string]');
/** `*elem`. */
export const pointerTo = composite('pointer', '*');

/** A struct type with fields in Go's order, named as `%T` shows it, e.g. `protos.Entity`. */
export function structType(
  name: string,
  fields: Readonly<Record<string, GoType>>,
  methods: Readonly<Record<string, Method>> = {},
): GoType {
  return {
    kind: 'struct',
    name,
    fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })),
    methods: new Map(Object.entries(methods)),
  };
}

/** A named type over a basic one, e.g. an enum with a `String` method. */
export function namedType(name: string, kind: Kind, methods: Readonly<Record<string, Method>> = {}): GoType {
  return { kind, name, methods: new Map(Object.entries(methods)) };
}

export const isInt = (kind: Kind | undefined): boolean => kind !== undefined && /^int\d*$/.test(kind);
export const isUint = (kind: Kind | undefined): boolean => kind !== undefined && kind.startsWith('uint');

/** A name that other Go packages can use: it starts with an upper-case letter. */
export const isExported = (name: string): boolean => /^\p{Lu}/u.test(name);
