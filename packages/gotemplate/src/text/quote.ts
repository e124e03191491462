/** Go string and rune literals: `strconv.Quote`, `QuoteToASCII`, `Unquote`, `UnquoteChar`. */
import { type Bytes, decodeRune, encodeRune, isValidRune, RUNE_ERROR } from './bytes.ts';
import { isPrint } from './unicode.ts';

const ESCAPES = new Map([
  [7, '\\a'],
  [8, '\\b'],
  [12, '\\f'],
  [10, '\\n'],
  [13, '\\r'],
  [9, '\\t'],
  [11, '\\v'],
]);

const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, '0');

function escapeRune(rune: number, quote: string, ascii: boolean): Bytes {
  if (rune === quote.charCodeAt(0) || rune === 92) return '\\' + String.fromCharCode(rune);
  if (isPrint(rune) && (!ascii || rune < 0x80)) return encodeRune(rune);
  const short = ESCAPES.get(rune);
  if (short !== undefined) return short;
  if (rune < 0x20 || rune === 0x7f) return '\\x' + hex(rune, 2);
  return rune < 0x10000 ? '\\u' + hex(rune, 4) : '\\U' + hex(rune, 8);
}

/** `strconv.Quote`; with `ascii`, `strconv.QuoteToASCII`. */
export function quote(s: Bytes, ascii = false): Bytes {
  if (/^[ !#-[\]-~]*$/.test(s)) return `"${s}"`;
  let out = '"';
  for (let i = 0; i < s.length;) {
    const [rune, width] = decodeRune(s, i);
    out += rune === RUNE_ERROR && width === 1 ? '\\x' + hex(s.charCodeAt(i), 2) : escapeRune(rune, '"', ascii);
    i += width;
  }
  return out + '"';
}

/** `strconv.QuoteRune`; with `ascii`, `strconv.QuoteRuneToASCII`. */
export function quoteRune(rune: number, ascii = false): Bytes {
  return `'${escapeRune(isValidRune(rune) ? rune : RUNE_ERROR, "'", ascii)}'`;
}

/** `strconv.CanBackquote`: no control characters but tab, no backquote, no byte order mark, all of it UTF-8. */
export function canBackquote(s: Bytes): boolean {
  for (let i = 0; i < s.length;) {
    const [rune, width] = decodeRune(s, i);
    i += width;
    if (rune === 0xfeff || (rune === RUNE_ERROR && width === 1)) return false;
    if ((rune < 0x20 && rune !== 9) || rune === 0x60 || rune === 0x7f) return false;
  }
  return true;
}

/** One character of a literal: its code point, its bytes in a string, and where the next one starts. */
export interface LiteralChar {
  readonly rune: number;
  readonly bytes: Bytes;
  readonly end: number;
}

const CONTROL: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '\\': 92 };
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** `strconv.UnquoteChar` at `i` of `s`; undefined where Go answers "invalid syntax". */
export function unquoteChar(s: Bytes, i: number, quoteMark: string): LiteralChar | undefined {
  const c = s[i];
  if (c === undefined || c === quoteMark) return undefined;
  if (c !== '\\') {
    const [rune, width] = decodeRune(s, i);
    return { rune, bytes: s.slice(i, i + width), end: i + width };
  }
  const e = s[i + 1];
  if (e === undefined) return undefined;
  const control = Object.hasOwn(CONTROL, e) ? CONTROL[e] : e === quoteMark ? e.charCodeAt(0) : undefined;
  if (control !== undefined) return { rune: control, bytes: String.fromCharCode(control), end: i + 2 };
  const octal = /^[0-3][0-7]{2}/.exec(s.slice(i + 1, i + 4));
  if (octal) return byteChar(Number.parseInt(octal[0], 8), i + 4);
  const digits = Object.hasOwn(HEX_DIGITS, e) ? HEX_DIGITS[e]! : 0;
  const text = s.slice(i + 2, i + 2 + digits);
  if (digits === 0 || text.length < digits || !/^[0-9a-fA-F]+$/.test(text)) return undefined;
  const rune = Number.parseInt(text, 16);
  if (e === 'x') return byteChar(rune, i + 4);
  return isValidRune(rune) ? { rune, bytes: encodeRune(rune), end: i + 2 + digits } : undefined;
}

const byteChar = (rune: number, end: number): LiteralChar => ({ rune, bytes: String.fromCharCode(rune), end });

/** `strconv.Unquote` of a "..." or `...` literal; undefined where Go answers "invalid syntax". */
export function unquote(literal: Bytes): Bytes | undefined {
  const mark = literal[0];
  if (literal.length < 2 || literal.at(-1) !== mark) return undefined;
  if (mark === '`') return literal.slice(1, -1).replaceAll('\r', '');
  let out = '';
  let i = 1;
  while (i < literal.length - 1) {
    const char = unquoteChar(literal, i, '"');
    if (char === undefined || literal[i] === '\n') return undefined;
    out += char.bytes;
    i = char.end;
  }
  return i === literal.length - 1 ? out : undefined;
}
