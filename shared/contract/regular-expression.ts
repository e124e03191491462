/** RE2, the regular expressions of Go: linear time, no lookahead, no backreference. */
import { messageOf } from '../errors.ts';
import * as re2js from 're2js';

/** Whether the expression occurs anywhere in a text. */
export type RegularExpression = (text: string) => boolean;

/** Compiles an expression; the message is RE2's. Never throws. */
export function compileRegularExpression(
  text: string,
): { readonly ok: true; readonly occursIn: RegularExpression } | { readonly ok: false; readonly message: string } {
  try {
    const compiled = re2js.RE2JS.compile(text);
    return { ok: true, occursIn: searched => compiled.test(searched) };
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  }
}
