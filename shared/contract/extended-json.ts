/**
 * MongoDB's Extended JSON (v2, canonical and relaxed) as plain JSON. Change streams, EventBridge Pipes from DocumentDB and `mongoexport` write it:
 * `{"$oid": "…"}`, `{"$date": …}`, `{"$numberLong": "…"}`.
 * https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/
 */
import { isJsonObject } from '../domain/json.ts';

/** Deeper than any document of NVSentinel, with the layers of a change stream around it. */
const MAX_DEPTH = 12;

/** The value with each wrapper replaced by what it wraps: dates as RFC 3339, identifiers as text. What is no wrapper stays as it is. */
export function plainJson(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map(item => plainJson(item, depth + 1));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length === 1 && first !== undefined && Object.hasOwn(WRAPPERS, first[0])) {
    const unwrapped = WRAPPERS[first[0]]?.(first[1]);
    if (unwrapped !== undefined) return unwrapped.value;
  }
  return Object.fromEntries(entries.map(([key, field]) => [key, plainJson(field, depth + 1)]));
}

/** Undefined: the value is not what this wrapper is for. */
type Unwrap = (inner: unknown) => { readonly value: unknown } | undefined;

const asText: Unwrap = inner => (typeof inner === 'string' ? { value: inner } : undefined);

/** An integer beyond 2^53 stays text: as a number it would be another one. */
const asNumber: Unwrap = inner => {
  if (typeof inner === 'number') return { value: inner };
  if (typeof inner !== 'string' || inner.trim() === '') return undefined;
  const number = Number(inner);
  if (!Number.isFinite(number)) return undefined;
  const isExact = !/^[+-]?\d+$/.test(inner) || Number.isSafeInteger(number);
  return { value: isExact ? number : inner };
};

const asDate: Unwrap = inner => {
  if (typeof inner === 'string') return { value: inner };
  const ms = isJsonObject(inner) ? asNumber(inner['$numberLong'])?.value : inner;
  if (typeof ms !== 'number') return undefined;
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : { value: date.toISOString() };
};

/** `{"t": seconds, "i": ordinal}`. */
const asTimestamp: Unwrap = inner => {
  const seconds = isJsonObject(inner) ? inner['t'] : undefined;
  return typeof seconds === 'number' ? asDate(seconds * 1000) : undefined;
};

/** Subtype 4 is a UUID. */
const asBinary: Unwrap = inner => {
  if (!isJsonObject(inner) || typeof inner['base64'] !== 'string') return undefined;
  const bytes = Buffer.from(inner['base64'], 'base64').toString('hex');
  if (inner['subType'] !== '04' || bytes.length !== 32) return { value: inner['base64'] };
  return { value: bytes.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') };
};

const WRAPPERS: Readonly<Record<string, Unwrap>> = {
  $oid: asText,
  $uuid: asText,
  $symbol: asText,
  $numberInt: asNumber,
  $numberLong: asNumber,
  $numberDouble: asNumber,
  $numberDecimal: asNumber,
  $date: asDate,
  $timestamp: asTimestamp,
  $binary: asBinary,
  // Absent.
  $undefined: () => ({ value: null }),
};
