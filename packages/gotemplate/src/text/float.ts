/** `strconv.FormatFloat` for 64 bits: formats e, E, f, g, G, x, X, b; precision -1 is the shortest that reads back the same. */

/** Decimal digits d1 d2 ... with the point before d1 moved right by `point`; no digits = 0. */
interface Decimal {
  readonly digits: string;
  readonly point: number;
}

const ZERO: Decimal = { digits: '', point: 0 };
const bits = new DataView(new ArrayBuffer(8));

/** Mantissa and exponent of a finite double: |x| = mantissa * 2**exp. */
function parts(x: number): { mantissa: bigint; exp: number; subnormal: boolean } {
  bits.setFloat64(0, x);
  const raw = bits.getBigUint64(0);
  const biased = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & ((1n << 52n) - 1n);
  if (biased === 0) return { mantissa: fraction, exp: -1074, subnormal: true };
  return { mantissa: fraction | (1n << 52n), exp: biased - 1075, subnormal: false };
}

function shortest(x: number): Decimal {
  if (x === 0) return ZERO;
  const [, whole, fraction = '', exp] = /^(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(x.toExponential())!;
  return { digits: whole! + fraction, point: Number(exp) + 1 };
}

function exact(x: number): Decimal {
  const { mantissa, exp } = parts(x);
  if (mantissa === 0n) return ZERO;
  const digits = (exp >= 0 ? mantissa << BigInt(exp) : mantissa * 5n ** BigInt(-exp)).toString();
  return { digits: digits.replace(/0+$/, ''), point: digits.length + Math.min(exp, 0) };
}

/** The first `count` digits, halves to even. */
function round(d: Decimal, count: number): Decimal {
  if (count >= d.digits.length) return d;
  if (count < 0) return ZERO;
  const kept = d.digits.slice(0, count);
  const rest = d.digits.slice(count);
  const isHalf = rest === '5';
  const up = isHalf ? count > 0 && Number(kept.at(-1)) % 2 === 1 : rest >= '5';
  if (!up) return { digits: kept.replace(/0+$/, ''), point: kept === '' ? 0 : d.point };
  const raised = (BigInt(kept || '0') + 1n).toString();
  const carried = raised.length > count ? 1 : 0;
  return { digits: raised.replace(/0+$/, ''), point: d.point + carried };
}

function scientific(d: Decimal, precision: number, letter: string): string {
  const digits = d.digits.padEnd(precision + 1, '0');
  const exp = d.digits === '' ? 0 : d.point - 1;
  const tail = precision > 0 ? '.' + digits.slice(1, precision + 1) : '';
  return `${digits[0]}${tail}${letter}${exp < 0 ? '-' : '+'}${String(Math.abs(exp)).padStart(2, '0')}`;
}

function positional(d: Decimal, precision: number): string {
  const whole = d.point > 0 ? d.digits.slice(0, d.point).padEnd(d.point, '0') : '0';
  if (precision <= 0) return whole;
  const zeros = d.point < 0 ? '0'.repeat(Math.min(-d.point, precision)) : '';
  const fraction = zeros + d.digits.slice(Math.max(d.point, 0));
  return `${whole}.${fraction.padEnd(precision, '0').slice(0, precision)}`;
}

function general(x: number, precision: number, letter: string): string {
  const wanted = Math.max(precision, 1);
  const d = precision < 0 ? shortest(x) : round(exact(x), wanted);
  const count = d.digits.length;
  // Which form: exponent against the precision asked for, 6 where the shortest is asked for.
  const threshold = precision < 0 ? 6 : wanted > count && count >= d.point ? count : wanted;
  const exponent = d.point - 1;
  if (exponent < -4 || exponent >= threshold) return scientific(d, count - 1, letter);
  return positional(d, Math.max(count - d.point, 0));
}

function exponentOf(exp: number, letter: string, width: number): string {
  return `${letter}${exp < 0 ? '-' : '+'}${String(Math.abs(exp)).padStart(width, '0')}`;
}

function hexadecimal(x: number, precision: number, upper: boolean): string {
  let { mantissa, exp } = parts(x);
  const top = 1n << 60n;
  if (mantissa === 0n) exp = 0;
  else {
    const shift = 61 - mantissa.toString(2).length;
    mantissa <<= BigInt(shift);
    exp += 60 - shift;
  }
  if (precision >= 0 && precision < 15 && mantissa !== 0n) {
    const drop = BigInt(60 - 4 * precision);
    const half = 1n << (drop - 1n);
    const rest = mantissa & ((1n << drop) - 1n);
    mantissa >>= drop;
    if (rest > half || (rest === half && (mantissa & 1n) === 1n)) mantissa += 1n;
    mantissa <<= drop;
    if (mantissa >= top << 1n) [mantissa, exp] = [mantissa >> 1n, exp + 1];
  }
  const fraction = (mantissa & (top - 1n)).toString(16).padStart(15, '0');
  const digits = precision < 0 ? fraction.replace(/0+$/, '') : fraction.padEnd(precision, '0').slice(0, precision);
  const out = `0x${mantissa >> 60n}${digits && '.' + digits}${exponentOf(exp, 'p', 2)}`;
  return upper ? out.toUpperCase() : out;
}

/** Text of `x`; `precision` -1 = shortest. Source of the rules: Go's strconv. */
export function formatFloat(x: number, format: string, precision: number): string {
  if (Number.isNaN(x)) return 'NaN';
  const sign = x < 0 || Object.is(x, -0) ? '-' : '';
  if (!Number.isFinite(x)) return sign === '-' ? '-Inf' : '+Inf';
  return sign + magnitude(Math.abs(x), format, precision);
}

function magnitude(x: number, format: string, precision: number): string {
  switch (format) {
    case 'e':
    case 'E': {
      const d = precision < 0 ? shortest(x) : round(exact(x), precision + 1);
      return scientific(d, precision < 0 ? Math.max(d.digits.length - 1, 0) : precision, format);
    }
    case 'f': {
      const d = precision < 0 ? shortest(x) : exact(x);
      if (precision < 0) return positional(d, Math.max(d.digits.length - d.point, 0));
      return positional(round(d, d.point + precision), precision);
    }
    case 'g':
      return general(x, precision, 'e');
    case 'G':
      return general(x, precision, 'E');
    case 'x':
    case 'X':
      return hexadecimal(x, precision, format === 'X');
    default: {
      const { mantissa, exp } = parts(x);
      return `${mantissa}p${exp < 0 ? '' : '+'}${exp}`;
    }
  }
}
