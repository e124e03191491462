/**
 * Go strings. A Go string is a sequence of bytes; here it is a JavaScript string in which every character is one byte
 * (0 to 255), so that lengths, slices, comparisons and positions are Go's. `encode` and `decode` are the only ways in
 * and out.
 */

/** A Go string: one character per byte. */
export type Bytes = string;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const CHUNK = 0x2000;

/** True when every character of `s` is ASCII, so that both representations are the same. */
const isAscii = (s: string): boolean => !/[^\0-\x7f]/.test(s);

/** UTF-8 of a JavaScript string; a lone surrogate becomes U+FFFD. */
export function encode(s: string): Bytes {
  return isAscii(s) ? s : fromOctets(encoder.encode(s));
}

/** The JavaScript string of UTF-8; a byte that is not UTF-8 becomes U+FFFD. */
export function decode(b: Bytes): string {
  return isAscii(b) ? b : decoder.decode(toOctets(b));
}

function fromOctets(octets: Uint8Array): Bytes {
  let out = '';
  for (let i = 0; i < octets.length; i += CHUNK) out += String.fromCharCode(...octets.subarray(i, i + CHUNK));
  return out;
}

/** One byte per character: see the head of this file. */
export function toOctets(b: Bytes): Uint8Array {
  const out = new Uint8Array(b.length);
  for (let i = 0; i < b.length; i++) out[i] = b.charCodeAt(i);
  return out;
}

export const RUNE_ERROR = 0xfffd;
export const MAX_RUNE = 0x10ffff;

/** True for a code point that UTF-8 can hold. */
export const isValidRune = (r: number): boolean => (r >= 0 && r < 0xd800) || (r > 0xdfff && r <= MAX_RUNE);

/** UTF-8 of one code point; U+FFFD for one that is not valid. */
export function encodeRune(rune: number): Bytes {
  const r = isValidRune(rune) ? rune : RUNE_ERROR;
  if (r < 0x80) return String.fromCharCode(r);
  if (r < 0x800) return String.fromCharCode(0xc0 | (r >> 6), 0x80 | (r & 63));
  if (r < 0x10000) return String.fromCharCode(0xe0 | (r >> 12), 0x80 | ((r >> 6) & 63), 0x80 | (r & 63));
  return String.fromCharCode(0xf0 | (r >> 18), 0x80 | ((r >> 12) & 63), 0x80 | ((r >> 6) & 63), 0x80 | (r & 63));
}

const SMALLEST = [0, 0, 0x80, 0x800, 0x10000];

/** The code point at byte `i` and its width in bytes; `[RUNE_ERROR, 1]` where the bytes are not UTF-8, width 0 at the end. */
export function decodeRune(b: Bytes, i: number): readonly [rune: number, width: number] {
  if (i >= b.length) return [RUNE_ERROR, 0];
  const first = b.charCodeAt(i);
  if (first < 0x80) return [first, 1];
  const width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || i + width > b.length) return [RUNE_ERROR, 1];
  let rune = first & (0xff >> (width + 1));
  for (let k = 1; k < width; k++) {
    const c = b.charCodeAt(i + k);
    if ((c & 0xc0) !== 0x80) return [RUNE_ERROR, 1];
    rune = (rune << 6) | (c & 63);
  }
  return isValidRune(rune) && rune >= SMALLEST[width]! ? [rune, width] : [RUNE_ERROR, 1];
}

/** Number of code points; a byte that is not UTF-8 counts as one. */
export function runeCount(b: Bytes): number {
  if (isAscii(b)) return b.length;
  let n = 0;
  for (let i = 0; i < b.length; n++) i += decodeRune(b, i)[1];
  return n;
}

/** The first `count` code points of `b`. */
export function firstRunes(b: Bytes, count: number): Bytes {
  if (count >= b.length) return b;
  let i = 0;
  for (let n = 0; n < count && i < b.length; n++) i += decodeRune(b, i)[1];
  return b.slice(0, i);
}
