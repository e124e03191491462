/** JavaScript functions as Go functions: any arguments, one result. */
import { toJs } from './to-js.ts';
import { toGo } from './convert.ts';
import { ANY, type GoType, type Signature } from './type.ts';
import { Value } from './value.ts';

const FUNC: GoType = { kind: 'func', name: 'func(...interface {}) interface {}' };

/** A function that a template can call; it gets and gives plain JavaScript values, and may throw to stop the template. */
export function signatureOf(fn: (...args: unknown[]) => unknown): Signature {
  return { params: [ANY], variadic: true, results: 1, call: (args) => toGo(fn(...args.map(toJs))) };
}

export const functionValue = (fn: (...args: unknown[]) => unknown): Value => new Value(FUNC, signatureOf(fn));
