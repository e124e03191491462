/** `call`: a function value with arguments. */
import { CallError } from '../errors.ts';
import { ANY, isInt, isUint } from '../types/type.ts';
import { asFunc, asInteger, asString, indirectInterface, isAssignable, Value, zeroValue } from '../types/value.ts';
import type { GoType } from '../types/type.ts';

type Arg = Value | undefined;

/** `args`: how the function is written in the template, the function, then its arguments. */
export function callValue([callee, target, ...args]: readonly Arg[]): Arg {
  const name = asString(callee!);
  const fn = indirectInterface(target);
  if (fn === undefined) throw new CallError('call of nil');
  if (fn.type.kind !== 'func') throw new CallError(`non-function ${name} of type ${fn.type.name}`);
  const { params, variadic, call } = asFunc(fn)!;
  const fixed = params.length - (variadic ? 1 : 0);
  if (variadic ? args.length < fixed : args.length !== fixed) {
    const want = variadic ? `at least ${fixed}` : fixed;
    throw new CallError(`wrong number of args for ${name}: got ${args.length} want ${want}`);
  }
  return call(args.map((arg, i) => prepare(indirectInterface(arg), params[Math.min(i, params.length - 1)]!, i)));
}

function prepare(value: Arg, type: GoType, i: number): Arg {
  if (value === undefined) {
    if (type === ANY) return zeroValue(ANY);
    throw new CallError(`arg ${i}: value is nil; should be of type ${type.name}`);
  }
  if (isAssignable(value.type, type)) return value;
  const bothIntegers = [value.type.kind, type.kind].every(kind => isInt(kind) || isUint(kind));
  if (bothIntegers) return new Value(type, asInteger(value));
  throw new CallError(`arg ${i}: value has type ${value.type.name}; should be ${type.name}`);
}
