/** Text under construction: flags, width and padding of Go's fmt. */
import type { Budget } from '../limits.ts';
import { type Bytes, encodeRune, firstRunes, MAX_RUNE, RUNE_ERROR, runeCount } from '../text/bytes.ts';
import { formatFloat } from '../text/float.ts';
import { canBackquote, quote, quoteRune } from '../text/quote.ts';
import { isPrint } from '../text/unicode.ts';

export interface Flags {
  minus: boolean;
  plus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  /** `%+v` and `%#v`: there the flags mean something else. */
  plusV: boolean;
  sharpV: boolean;
  /** undefined = not given. */
  width: number | undefined;
  precision: number | undefined;
}

export const noFlags = (): Flags => ({
  minus: false,
  plus: false,
  sharp: false,
  space: false,
  zero: false,
  plusV: false,
  sharpV: false,
  width: undefined,
  precision: undefined,
});

export class Writer {
  flags: Flags = noFlags();
  readonly #budget: Budget;
  #text = '';

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  get text(): Bytes {
    return this.#text;
  }

  write(text: Bytes): void {
    this.#reserve(text.length);
    this.#text += text;
  }

  /** Counts text before it is made: a template may ask for a million characters, many times. */
  #reserve(bytes: number): void {
    this.#budget.text(bytes, this.#text.length + bytes);
  }

  #padding(count: number): void {
    if (count <= 0) return;
    this.#reserve(count);
    this.#text += (this.flags.zero && !this.flags.minus ? '0' : ' ').repeat(count);
  }

  /** Writes `text`, padded to the width. */
  pad(text: Bytes): void {
    const missing = (this.flags.width ?? 0) - (this.flags.width ? runeCount(text) : 0);
    if (!this.flags.minus) this.#padding(missing);
    this.write(text);
    if (this.flags.minus) this.#padding(missing);
  }

  /** Writes `text`, padded with spaces whatever the zero flag says. */
  #padSpaces(text: Bytes): void {
    const { zero } = this.flags;
    this.flags.zero = false;
    this.pad(text);
    this.flags.zero = zero;
  }

  #truncated(s: Bytes): Bytes {
    return this.flags.precision === undefined ? s : firstRunes(s, this.flags.precision);
  }

  string(s: Bytes): void {
    this.pad(this.#truncated(s));
  }

  quoted(s: Bytes): void {
    const text = this.#truncated(s);
    this.#budget.text(text.length);
    this.pad(this.flags.sharp && canBackquote(text) ? '`' + text + '`' : quote(text, this.flags.plus));
  }

  /** `%x` of bytes. */
  hexBytes(s: Bytes, upper: boolean): void {
    const { space, sharp } = this.flags;
    const text = s.slice(0, this.flags.precision ?? s.length);
    this.#reserve(text.length * 4);
    const mark = sharp ? '0x' : '';
    const pairs = Array.from(text, c => c.charCodeAt(0).toString(16).padStart(2, '0'));
    const hex = text === '' ? '' : mark + pairs.join(space ? ' ' + mark : '');
    this.pad(upper ? hex.toUpperCase() : hex);
  }

  /** `value` in `base`; `leadingO` for `%O`. */
  integer(value: bigint, base: 2 | 8 | 10 | 16, upper = false, leadingO = false): void {
    const { flags } = this;
    const negative = value < 0n;
    const signed = negative || flags.plus || flags.space;
    if (flags.precision === 0 && value === 0n) return this.#padSpaces('');
    let digitCount = flags.precision ?? 0;
    if (flags.precision === undefined && flags.zero && !flags.minus && flags.width !== undefined) {
      digitCount = flags.width - (signed ? 1 : 0);
    }
    this.#reserve(digitCount);
    let text = (negative ? -value : value).toString(base).padStart(digitCount, '0');
    if (flags.sharp) {
      if (base === 2) text = '0b' + text;
      else if (base === 16) text = '0x' + text;
      else if (base === 8 && !text.startsWith('0')) text = '0' + text;
    }
    if (leadingO) text = '0o' + text;
    if (upper) text = text.toUpperCase();
    const sign = negative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
    this.#padSpaces(sign + text);
  }

  /** `%U`. */
  unicode(value: bigint): void {
    const { precision = 4, sharp } = this.flags;
    const digits = Math.max(precision, 4);
    this.#reserve(digits);
    const code = 'U+' + value.toString(16).toUpperCase().padStart(digits, '0');
    const shown = sharp && value <= MAX_RUNE && isPrint(Number(value)) ? ` '${encodeRune(Number(value))}'` : '';
    this.#padSpaces(code + shown);
  }

  /** `%c`. */
  character(value: bigint): void {
    this.pad(encodeRune(runeOf(value)));
  }

  /** `%q` of an integer. */
  quotedCharacter(value: bigint): void {
    this.pad(quoteRune(runeOf(value), this.flags.plus));
  }

  /** A float in `format`; `precision` unless the flags say otherwise, -1 = shortest. */
  float(value: number, format: string, precision: number): void {
    const { flags } = this;
    const digits = flags.precision ?? precision;
    this.#reserve(Math.max(digits, 0) + 330);
    const plain = formatFloat(value, format, digits);
    let sign = plain.startsWith('-') ? '-' : '+';
    let number = plain.replace(/^[+-]/, '');
    if (flags.space && sign === '+' && !flags.plus) sign = ' ';
    if (number === 'Inf' || number === 'NaN') {
      const hidden = number === 'NaN' && !flags.space && !flags.plus;
      return this.#padSpaces((hidden ? '' : sign) + number);
    }
    if (flags.sharp && format !== 'b') number = withPoint(number, format, digits);
    if (!flags.plus && sign === '+') return this.pad(number);
    if (flags.zero && !flags.minus && (flags.width ?? 0) > number.length + 1) {
      this.write(sign);
      this.#padding(flags.width! - number.length - 1);
      return this.write(number);
    }
    this.pad(sign + number);
  }
}

/** The low 32 bits, as Go converts to a rune; what is no code point at all becomes U+FFFD. */
function runeOf(value: bigint): number {
  const unsigned = BigInt.asUintN(64, value);
  return unsigned > MAX_RUNE ? RUNE_ERROR : Number(unsigned);
}

/** The `#` flag: always a decimal point, and for %g all digits of the precision. */
function withPoint(number: string, format: string, precision: number): string {
  const isHex = format === 'x' || format === 'X';
  const [, digits, tail] = (isHex ? /^(.*?)([pP].*)?$/ : /^(.*?)([eE].*)?$/).exec(number)!;
  let missing = format === 'g' || format === 'G' || format === 'x' ? (precision < 0 ? 6 : precision) : 0;
  missing -= digits!.replace('.', '').replace(/^0+/, '').length;
  if (digits === '0') missing--;
  const point = digits!.includes('.') ? '' : '.';
  return digits + point + '0'.repeat(Math.max(missing, 0)) + (tail ?? '');
}
