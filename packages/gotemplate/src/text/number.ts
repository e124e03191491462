/** Number literals: `strconv.ParseUint` and `ParseInt` with base 0 and 64 bits, `strconv.ParseFloat`. */

export const MAX_INT64 = 2n ** 63n - 1n;
export const MIN_INT64 = -(2n ** 63n);
export const MAX_UINT64 = 2n ** 64n - 1n;

/** Characters of the longest literal that fits 64 bits: binary with its prefix. */
const LONGEST_UINT = 66;

/** An underscore must stand between digits, or between a base prefix and a digit. */
function underscoresOk(text: string): boolean {
  const digits = text.replace(/^[+-]/, '');
  const prefix = /^0[box]/i.exec(digits)?.[0] ?? '';
  const body = (prefix && '0') + digits.slice(prefix.length);
  const digit = /^0x/i.test(prefix) ? '[0-9a-fA-F]' : '[0-9]';
  return !body.includes('_') || !new RegExp(`(?<!${digit})_|_(?!${digit})`).test(body);
}

/** `strconv.ParseUint(text, 0, 64)`; undefined on any error. */
export function parseUint(text: string): bigint | undefined {
  if (!underscoresOk(text)) return undefined;
  const plain = text.replaceAll('_', '').replace(/^(0[box]?)0+(?=[0-9a-f])/i, '$1');
  if (plain.length > LONGEST_UINT) return undefined;
  const value = /^0[bB][01]+$|^0[oO][0-7]+$|^0[xX][0-9a-fA-F]+$|^(?:0|[1-9]\d*)$/.test(plain)
    ? BigInt(plain)
    : /^0[0-7]+$/.test(plain)
      ? BigInt('0o' + plain)
      : undefined;
  return value !== undefined && value <= MAX_UINT64 ? value : undefined;
}

/** `strconv.ParseInt(text, 0, 64)`; undefined on any error. */
export function parseInt64(text: string): bigint | undefined {
  const magnitude = parseUint(text.replace(/^[+-]/, ''));
  if (magnitude === undefined) return undefined;
  const value = text.startsWith('-') ? -magnitude : magnitude;
  return value >= MIN_INT64 && value <= MAX_INT64 ? value : undefined;
}

const HEX_FLOAT = /^([+-]?)0[xX](?=\.?[0-9a-fA-F])([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?\d+)$/;
const DECIMAL_FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Whether `strconv.ParseFloat` takes the characters of a literal for a number, in range or not. */
export function isFloat(text: string): boolean {
  const plain = text.replaceAll('_', '');
  return underscoresOk(text) && (HEX_FLOAT.test(plain) || DECIMAL_FLOAT.test(plain));
}

/** `strconv.ParseFloat(text, 64)` of a literal's characters; undefined on any error, overflow included. */
export function parseFloat64(text: string): number | undefined {
  if (!isFloat(text)) return undefined;
  const plain = text.replaceAll('_', '');
  const hex = HEX_FLOAT.exec(plain);
  const value = hex ? hexFloat(hex[1]!, hex[2]!, hex[3] ?? '', Number(hex[4])) : Number(plain);
  return Number.isFinite(value) ? value : undefined;
}

/** Nearest double of a hexadecimal floating-point literal, halves to even. */
function hexFloat(sign: string, whole: string, fraction: string, exponent: number): number {
  let mantissa = BigInt('0x0' + whole + fraction);
  let exp = exponent - 4 * fraction.length;
  if (mantissa === 0n) return sign === '-' ? -0 : 0;
  const bits = mantissa.toString(2).length;
  if (bits + exp > 1100) return Infinity;
  if (bits + exp < -1200) return sign === '-' ? -0 : 0;
  const drop = Math.max(bits - 53, -1074 - exp, 0);
  if (drop > 0) {
    const rest = mantissa & ((1n << BigInt(drop)) - 1n);
    const half = 1n << BigInt(drop - 1);
    mantissa >>= BigInt(drop);
    exp += drop;
    if (rest > half || (rest === half && (mantissa & 1n) === 1n)) mantissa += 1n;
  }
  const value = scale(Number(mantissa), exp);
  return sign === '-' ? -value : value;
}

/** `x * 2**exp` in steps that neither overflow nor underflow on the way. */
function scale(x: number, exp: number): number {
  let value = x;
  let left = exp;
  while (left > 1000) [value, left] = [value * 2 ** 1000, left - 1000];
  while (left < -1000) [value, left] = [value * 2 ** -1000, left + 1000];
  return value * 2 ** left;
}
