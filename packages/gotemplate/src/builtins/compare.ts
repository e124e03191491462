/** `eq`, `ne`, `lt`, `le`, `gt`, `ge`. */
import { CallError } from '../errors.ts';
import { formatText } from '../fmt/sprintf.ts';
import { isInt, isUint } from '../types/type.ts';
import { asComplex, asStruct, boolValue, indirectInterface, isNilHeld, type Value } from '../types/value.ts';

type Arg = Value | undefined;
type Basic = 'bool' | 'complex' | 'int' | 'uint' | 'float' | 'string';

const BAD_TYPE = 'invalid type for comparison';

function basicKind(v: Arg): Basic | undefined {
  const kind = v?.type.kind;
  if (isInt(kind)) return 'int';
  if (isUint(kind)) return 'uint';
  switch (kind) {
    case 'bool':
    case 'string':
      return kind;
    case 'float64':
      return 'float';
    case 'complex128':
      return 'complex';
    default:
      return undefined;
  }
}

const isInteger = (kind: Basic | undefined): boolean => kind === 'int' || kind === 'uint';
const isNil = (v: Arg): boolean => v === undefined || isNilHeld(v);
const incompatible = (a: Value, b: Value): CallError =>
  new CallError(`incompatible types for comparison: ${a.type.name} and ${b.type.name}`);

/** Whether the first argument equals one of the others. */
export function eq([first, ...others]: readonly Arg[]): Value {
  if (others.length === 0) throw new CallError('missing argument for comparison');
  const a = indirectInterface(first);
  return boolValue(others.some(other => equal(a, indirectInterface(other))));
}

function equal(a: Arg, b: Arg): boolean {
  const [ka, kb] = [basicKind(a), basicKind(b)];
  if (isInteger(ka) && isInteger(kb)) return a!.held === b!.held;
  if (ka !== kb) {
    if (a !== undefined && b !== undefined) throw incompatible(a, b);
    return false;
  }
  if (ka === 'complex') return same(a!, b!);
  if (ka !== undefined) return a!.held === b!.held;
  return equalComposite(a, b);
}

/** Maps, lists and functions equal nil only; pointers and structs can be compared. */
function equalComposite(a: Arg, b: Arg): boolean {
  if (a !== undefined && b !== undefined && a.type.kind !== b.type.kind) {
    throw new CallError(formatText(`non-comparable types %s: ${a.type.name}, ${b.type.name}: %v`, [a, b]));
  }
  if (isNil(a) || isNil(b)) return isNil(a) === isNil(b);
  if (['slice', 'map', 'func'].includes(b!.type.kind)) {
    throw new CallError(formatText(`non-comparable type %s: ${b!.type.name}`, [b]));
  }
  return a!.type === b!.type && same(a!, b!);
}

/** Go's == for two values of one type. */
function same(a: Value, b: Value): boolean {
  if (a.type.kind === 'complex128') {
    const [x, y] = [asComplex(a), asComplex(b)];
    return x.re === y.re && x.im === y.im;
  }
  if (a.type.kind !== 'struct') return a.held === b.held;
  return asStruct(a).every((field, i) => same(field, asStruct(b)[i]!));
}

/** Whether the first argument is less than the second; strings by their bytes. */
function less([first, second]: readonly Arg[]): boolean {
  const [a, b] = [indirectInterface(first), indirectInterface(second)];
  const [ka, kb] = [basicKind(a), basicKind(b)];
  if (ka === undefined || kb === undefined) throw new CallError(BAD_TYPE);
  if (ka !== kb && !(isInteger(ka) && isInteger(kb))) throw incompatible(a!, b!);
  if (ka === 'bool' || ka === 'complex') throw new CallError(BAD_TYPE);
  return (a!.held as string | number | bigint) < (b!.held as string | number | bigint);
}

const equals = (args: readonly Arg[]): boolean => eq(args).held === true;

export const ne = (args: readonly Arg[]): Value => boolValue(!equals(args));
export const lt = (args: readonly Arg[]): Value => boolValue(less(args));
export const le = (args: readonly Arg[]): Value => boolValue(less(args) || equals(args));
export const gt = (args: readonly Arg[]): Value => boolValue(!(less(args) || equals(args)));
export const ge = (args: readonly Arg[]): Value => boolValue(!less(args));
