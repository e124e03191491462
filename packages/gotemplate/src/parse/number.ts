/** Reads the number literals that the lexer found. */
import type { Bytes } from '../text/bytes.ts';
import { isFloat, parseFloat64, parseInt64, parseUint } from '../text/number.ts';
import { quote, unquoteChar } from '../text/quote.ts';
import type { Complex } from '../types/value.ts';
import type { NumberNode } from './nodes.ts';
import type { TokenKind } from './token.ts';

export type NumberForms = Pick<NumberNode, 'int' | 'uint' | 'float' | 'complex'>;

const asInt = (x: number): bigint | undefined =>
  Number.isInteger(x) && x >= -(2 ** 63) && x < 2 ** 63 ? BigInt(x) : undefined;
const asUint = (x: number): bigint | undefined =>
  Number.isInteger(x) && x >= 0 && x < 2 ** 64 ? BigInt(x) : undefined;

/** The forms of a number literal, or Go's error text as `problem`. */
export function readNumber(text: Bytes, kind: TokenKind): NumberForms | { readonly problem: Bytes } {
  if (kind === 'charConstant') return readChar(text);
  if (kind === 'complex') return readComplex(text);
  if (text.endsWith('i')) {
    const imaginary = parseFloat64(text.slice(0, -1));
    if (imaginary !== undefined) return fromComplex({ re: 0, im: imaginary });
  }
  const int = parseInt64(text);
  const uint = parseUint(text) ?? (int === 0n ? 0n : undefined);
  const whole = int ?? uint;
  if (whole !== undefined) return { int, uint, float: Number(whole), complex: undefined };
  const float = parseFloat64(text);
  if (float === undefined) return { problem: 'illegal number syntax: ' + quote(text) };
  if (!/[.eEpP]/.test(text)) return { problem: 'integer overflow: ' + quote(text) };
  return { int: asInt(float), uint: asUint(float), float, complex: undefined };
}

function readChar(text: Bytes): ReturnType<typeof readNumber> {
  const char = unquoteChar(text, 1, "'");
  if (char === undefined) return { problem: 'invalid syntax' };
  if (text.slice(char.end) !== "'") return { problem: 'malformed character constant: ' + text };
  return { int: BigInt(char.rune), uint: BigInt(char.rune), float: char.rune, complex: undefined };
}

/**
 * The characters that `fmt.Sscan` takes for one float. It takes whatever may come next and never goes back: an exponent takes the sign after it,
 * and an `i` is the beginning of `Inf`.
 */
const TAKEN =
  /[+-]?(?:i|0[xX][0-9a-fA-F_]*\.?[0-9a-fA-F_]*(?:[pP][+-]?[0-9_]*)?|[0-9_]*\.?[0-9_]*(?:[eEpP][+-]?[0-9_]*)?)/y;

function takeFloat(text: Bytes, start: number): Bytes {
  TAKEN.lastIndex = start;
  return TAKEN.exec(text)?.[0] ?? '';
}

function readComplex(text: Bytes): ReturnType<typeof readNumber> {
  const real = takeFloat(text, 0);
  const sign = text[real.length] ?? '';
  const imaginary = takeFloat(text, real.length + 1);
  if (!/[+-]/.test(sign) || text[real.length + 1 + imaginary.length] !== 'i') {
    return { problem: 'syntax error scanning complex number' };
  }
  const texts = [real, sign + imaginary] as const;
  const [re, im] = [parseFloat64(texts[0]), parseFloat64(texts[1])];
  if (re !== undefined && im !== undefined) return fromComplex({ re, im });
  const bad = re === undefined ? texts[0] : texts[1];
  const reason = isFloat(bad) ? 'value out of range' : 'invalid syntax';
  return { problem: `strconv.ParseFloat: parsing ${quote(bad)}: ${reason}` };
}

function fromComplex(complex: Complex): NumberForms {
  if (complex.im !== 0) return { int: undefined, uint: undefined, float: undefined, complex };
  return { int: asInt(complex.re), uint: asUint(complex.re), float: complex.re, complex };
}
