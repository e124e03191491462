/** Checks on the arguments of a command, and what its errors say. */
import { CallError } from '../errors.ts';
import { nodeText, type Operand } from '../parse/nodes.ts';
import { type Bytes, encode } from '../text/bytes.ts';
import type { GoType, Signature } from '../types/type.ts';
import { intValue, stringValue, type Value } from '../types/value.ts';
import type { State } from './state.ts';

/** The value of the command before in a pipeline, for its last argument; NONE in the first command. */
export const NONE = Symbol('no previous command');
export type Final = Value | undefined | typeof NONE;

export function refuseArgs(state: State, args: readonly Operand[], final: Final): void {
  if (args.length > 1 || final !== NONE) {
    state.fail("can't give argument to non-function %s", stringValue(nodeText(args[0]!)));
  }
}

/** Arguments as they are written, and what the command before in the pipeline hands on. */
export interface Given {
  readonly args: readonly Operand[];
  readonly final: Final;
}

/** @param signature as declared; a final argument of a pipeline counts */
export function checkArgCount(state: State, signature: Signature, name: Bytes, { args, final }: Given): void {
  const given = args.length + (final === NONE ? 0 : 1);
  const fixed = signature.params.length - (signature.variadic ? 1 : 0);
  if (signature.variadic && given < fixed) {
    state.fail(
      'wrong number of args for %s: want at least %d got %d',
      stringValue(name),
      intValue(fixed),
      intValue(args.length),
    );
  }
  if (!signature.variadic && given !== fixed) {
    state.fail('wrong number of args for %s: want %d got %d', stringValue(name), intValue(fixed), intValue(given));
  }
}

/** `also`: types of results beside the first. */
export function refuseResults(state: State, name: Bytes, also: readonly string[]): never {
  const [second = '', ...more] = also;
  if (more.length === 0) {
    const text = 'invalid function signature for %s: second return value should be error; is %s';
    return state.fail(text, stringValue(name), stringValue(second));
  }
  const count = intValue(also.length + 1);
  return state.fail('function %s has %d return values; should be 1 or 2', stringValue(name), count);
}

/** What a function threw, as a Go string: a caller's function may throw anything. */
export function problemOf(error: unknown): Bytes {
  if (error instanceof CallError) return error.message;
  return encode(error instanceof Error ? error.message : String(error));
}

/** `reflect.Value.String` of what a pipeline hands to `call`. */
export function finalText(final: Final): Bytes {
  if (final === NONE || final === undefined) return '<invalid Value>';
  return final.type.kind === 'string' ? (final.held as Bytes) : `<${final.type.name} Value>`;
}

/** @param i from 0; beyond the last one, that of the variadic parameter */
export function paramType(signature: Signature, i: number): GoType {
  return signature.params[Math.min(i, signature.params.length - 1)]!;
}
