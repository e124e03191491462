/**
 * Go duration text, exactly as `time.ParseDuration` reads it, traps included. Fractions are IEEE doubles truncated to whole nanoseconds.
 * The sum is an unsigned 64-bit number that is compared with 2^63 only after each addition. So two terms of 2^63 ns wrap to zero.
 */
import { toDurationMs, type DurationMs } from './time.ts';

export type ParsedDuration =
  | { readonly ok: true; readonly nanoseconds: bigint }
  /** Go's own error text, `time: …`. */
  | { readonly ok: false; readonly error: string };

const TWO_63 = 1n << 63n;
const UINT64_MASK = (1n << 64n) - 1n;

/** Nanoseconds per unit. Both micro signs (U+00B5 and U+03BC) count. */
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1000n],
  ['\u00b5s', 1000n],
  ['\u03bcs', 1000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);

const isDigit = (character: string | undefined): character is string =>
  character !== undefined && character >= '0' && character <= '9';

/** Parses Go duration text: nanoseconds as a signed 64-bit number, or Go's error. Never throws. */
export function parseGoDuration(text: string): ParsedDuration {
  const invalid = (): ParsedDuration => ({ ok: false, error: `time: invalid duration ${quote(text)}` });
  const negative = text.startsWith('-');
  let remainder = negative || text.startsWith('+') ? text.slice(1) : text;
  if (remainder === '0') return { ok: true, nanoseconds: 0n };
  if (remainder === '') return invalid();

  let total = 0n;
  while (remainder !== '') {
    const term = parseTerm(remainder);
    if (term.kind === 'invalid') return invalid();
    if (term.kind === 'missingUnit') return { ok: false, error: `time: missing unit in duration ${quote(text)}` };
    if (term.kind === 'unknownUnit') {
      return { ok: false, error: `time: unknown unit ${quote(term.unit)} in duration ${quote(text)}` };
    }
    total = (total + term.nanoseconds) & UINT64_MASK;
    if (total > TWO_63) return invalid();
    remainder = term.rest;
  }
  if (negative) return { ok: true, nanoseconds: -total };
  return total > TWO_63 - 1n ? invalid() : { ok: true, nanoseconds: total };
}

type Term =
  | { readonly kind: 'term'; readonly nanoseconds: bigint; readonly rest: string }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'missingUnit' }
  | { readonly kind: 'unknownUnit'; readonly unit: string };

/** One `<number><unit>` at the start of `text`. */
function parseTerm(text: string): Term {
  let end = 0;
  while (isDigit(text[end])) end++;
  const integerDigits = text.slice(0, end);
  let fractionDigits = '';
  if (text[end] === '.') {
    const start = ++end;
    while (isDigit(text[end])) end++;
    fractionDigits = text.slice(start, end);
  }
  if (integerDigits === '' && fractionDigits === '') return { kind: 'invalid' };
  const integer = integerDigits === '' ? 0n : BigInt(integerDigits);
  if (integer > TWO_63) return { kind: 'invalid' };

  const unitStart = end;
  while (end < text.length && text[end] !== '.' && !isDigit(text[end])) end++;
  const unit = text.slice(unitStart, end);
  if (unit === '') return { kind: 'missingUnit' };
  const nanosecondsPerUnit = UNITS.get(unit);
  if (nanosecondsPerUnit === undefined) return { kind: 'unknownUnit', unit };
  if (integer > TWO_63 / nanosecondsPerUnit) return { kind: 'invalid' };

  const nanoseconds = integer * nanosecondsPerUnit + fractionOf(fractionDigits, nanosecondsPerUnit);
  return nanoseconds > TWO_63 ? { kind: 'invalid' } : { kind: 'term', nanoseconds, rest: text.slice(end) };
}

/** `0.<digits>` of a unit in whole nanoseconds, with Go's double arithmetic; digits past 2^63 are ignored as Go does. */
function fractionOf(digits: string, nanosecondsPerUnit: bigint): bigint {
  let fraction = 0n;
  let scale = 1;
  for (const digit of digits) {
    if (fraction > (TWO_63 - 1n) / 10n) break;
    const next = fraction * 10n + BigInt(digit);
    if (next > TWO_63) break;
    fraction = next;
    scale *= 10;
  }
  if (fraction === 0n) return 0n;
  return BigInt(Math.trunc(Number(fraction) * (Number(nanosecondsPerUnit) / scale)));
}

/** Go's quoting in these errors: bytes that are not printable ASCII as `\xNN`, `"` and `\` with a backslash. */
function quote(text: string): string {
  let quoted = '';
  for (const byte of new TextEncoder().encode(text)) {
    const character = String.fromCharCode(byte);
    if (byte < 0x20 || byte >= 0x80) quoted += `\\x${byte.toString(16).padStart(2, '0')}`;
    else quoted += character === '"' || character === '\\' ? `\\${character}` : character;
  }
  return `"${quoted}"`;
}

/** The longest Go duration, about 292 years. An instant moved by it can still be written as a date. */
export const LONGEST_DURATION: DurationMs = toDurationMs(Number((TWO_63 - 1n) / 1_000_000n));

/** Whole milliseconds, rounded up: a toleration or a protection is never shortened by rounding. */
export function nanosecondsToDuration(nanoseconds: bigint): DurationMs {
  const wholeMs = nanoseconds / 1_000_000n;
  const roundedUp = nanoseconds > 0n && nanoseconds % 1_000_000n !== 0n ? wholeMs + 1n : wholeMs;
  return toDurationMs(Number(roundedUp));
}

/** Go's `Duration.String()`: `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export function formatGoDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const value = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (value < 1_000_000_000n) {
    const [unit, size]: [string, bigint] =
      value < 1000n ? ['ns', 1n] : value < 1_000_000n ? ['µs', 1000n] : ['ms', 1_000_000n];
    return sign + decimal(value, size) + unit;
  }
  const hours = value / 3_600_000_000_000n;
  const minutes = (value / 60_000_000_000n) % 60n;
  const seconds = decimal(value % 60_000_000_000n, 1_000_000_000n);
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}s`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`;
}

/** `value / size` with as many decimals as it needs. `size` is a power of ten. */
function decimal(value: bigint, size: bigint): string {
  const fraction = (value % size)
    .toString()
    .padStart(size.toString().length - 1, '0')
    .replace(/0+$/, '');
  return size === 1n || fraction === '' ? `${value / size}` : `${value / size}.${fraction}`;
}

/** Go text of a duration in milliseconds, for messages. */
export function formatDuration(duration: DurationMs): string {
  return Number.isFinite(duration) ? formatGoDuration(BigInt(Math.round(duration)) * 1_000_000n) : 'forever';
}
