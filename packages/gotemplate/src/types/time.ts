/** `time.Time`, `time.Month` and `time.Weekday`, as values with Go's methods. The local time zone is UTC. */
import { CallError } from '../errors.ts';
import { date, daysTo, floorDiv, mod } from './calendar.ts';
import { DURATION } from './duration.ts';
import { LOCAL, LOCATION, UTC } from './location.ts';
import { type Civil, formatTime, MONTHS, WEEKDAYS } from './time-format.ts';
import { type GoType, INT, INT64, type Method, namedType, sliceOf, STRING, structType, UINT64, UINT8 } from './type.ts';
import {
  asInteger,
  asSlice,
  asString,
  asStruct,
  boolValue,
  bytesValue,
  elemOf,
  intValue,
  itemAt,
  stringValue,
  Value,
} from './value.ts';

const NANOS = 1_000_000_000n;
/** Seconds from 1 January of year 1, where Go's count starts, to 1970. */
const UNIX_EPOCH = 62_135_596_800n;
const DAY_SECONDS = 86_400n;

const named = (name: string, names: readonly string[], first: number): GoType =>
  namedType(name, 'int', {
    String: {
      params: [],
      call: v => stringValue(names[Number(asInteger(v)) - first] ?? `%!${name.slice(5)}(${asInteger(v)})`),
    },
  });
const MONTH = named('time.Month', MONTHS, 1);
const WEEKDAY = named('time.Weekday', WEEKDAYS, 0);

/** Nanoseconds since 1970. */
function unixNanos(v: Value): bigint {
  const [wall, ext] = asStruct(v);
  return (asInteger(ext!) - UNIX_EPOCH) * NANOS + asInteger(wall!);
}

function civil(v: Value): Civil {
  const seconds = floorDiv(unixNanos(v), NANOS);
  const days = floorDiv(seconds, DAY_SECONDS);
  const ofDay = Number(seconds - days * DAY_SECONDS);
  return {
    ...date(Number(days)),
    weekday: mod(Number(days) + 4, 7),
    hour: Math.floor(ofDay / 3600),
    minute: Math.floor(ofDay / 60) % 60,
    second: ofDay % 60,
    nanosecond: Number(asInteger(asStruct(v)[0]!)),
  };
}

/** `like`: a time in the zone that the new one is in; undefined: UTC. */
function fromNanos(nanos: bigint, like?: Value): Value {
  const seconds = floorDiv(nanos, NANOS);
  return new Value(TIME, [
    new Value(UINT64, nanos - seconds * NANOS),
    new Value(INT64, seconds + UNIX_EPOCH),
    like === undefined ? new Value(LOCATION, null) : asStruct(like)[2]!,
  ]);
}

const inLocation = (v: Value, location: Value): Value => new Value(TIME, [...asStruct(v).slice(0, 2), location]);

const field = (get: (c: Civil) => number): Method => ({ params: [], call: v => intValue(get(civil(v))) });
/** Nanoseconds of an instant before 1678 or after 2262 overflow, as Go's do. */
const unix = (per: bigint): Method => ({
  params: [],
  call: v => new Value(INT64, BigInt.asIntN(64, floorDiv(unixNanos(v), per))),
});
const tuple = (...also: readonly string[]): Method => ({ params: [], also, call: v => v });
const text = (layout: string): Method => ({ params: [], call: v => stringValue(formatTime(civil(v), layout)) });

/** A comparison with another time; its parameter is set below, since the type refers to itself. */
const comparison = (test: (a: bigint, b: bigint) => boolean): Method => ({
  get params() {
    return [TIME];
  },
  call: (v, [other]) => boolValue(test(unixNanos(v), unixNanos(other!))),
});

function goString(v: Value): string {
  const c = civil(v);
  const month = MONTHS[c.month - 1]!;
  return `time.Date(${c.year}, time.${month}, ${c.day}, ${c.hour}, ${c.minute}, ${c.second}, ${c.nanosecond}, time.${locationName(v)})`;
}

const locationOf = (v: Value): Value => {
  const own = asStruct(v)[2]!;
  return own.held === null ? UTC : own;
};
const locationName = (v: Value): string => asString(asStruct(elemOf(locationOf(v))!)[0]!);

const BYTES = sliceOf(UINT8);
const octets = (text: string): Uint8Array => Uint8Array.from(text, character => character.charCodeAt(0));

/** A method that appends to its first argument. */
function appended(given: Value | undefined, added: Uint8Array): Value {
  const before = given && asSlice(given);
  const items = before ? Array.from({ length: before.length }, (_, i) => Number(asInteger(itemAt(before, i)))) : [];
  return bytesValue(Uint8Array.from([...items, ...added]));
}

/** RFC 3339, which has four digits for the year. */
function rfc3339(v: Value, method: string): string {
  const c = civil(v);
  if (c.year < 0 || c.year > 9999) throw new CallError(`Time.${method}: year outside of range [0,9999]`);
  return formatTime(c, '2006-01-02T15:04:05.999999999Z07:00');
}

/** Version, seconds since year 1, nanoseconds, and the zone's offset in minutes, for which UTC has -1. */
function binary(v: Value): Uint8Array {
  const [wall, ext] = asStruct(v);
  const view = new DataView(new ArrayBuffer(15));
  view.setUint8(0, 1);
  view.setBigInt64(1, asInteger(ext!));
  view.setInt32(9, Number(asInteger(wall!)));
  view.setInt16(13, locationName(v) === 'UTC' ? -1 : 0);
  return new Uint8Array(view.buffer);
}

/** How far a time is past a multiple of `d` since year 1. */
function pastMultiple(v: Value, d: bigint): bigint {
  const since = unixNanos(v) + UNIX_EPOCH * NANOS;
  return since - floorDiv(since, d) * d;
}

function truncate(v: Value, d: bigint): Value {
  return d <= 0n ? v : fromNanos(unixNanos(v) - pastMultiple(v, d), v);
}

function round(v: Value, d: bigint): Value {
  if (d <= 0n) return v;
  const past = pastMultiple(v, d);
  return fromNanos(unixNanos(v) + (past * 2n < d ? -past : d - past), v);
}

/** `time.Time`. */
export const TIME: GoType = structType(
  'time.Time',
  { wall: UINT64, ext: INT64, loc: LOCATION },
  {
    Format: { params: [STRING], call: (v, [layout]) => stringValue(formatTime(civil(v), asString(layout!))) },
    String: text('2006-01-02 15:04:05.999999999 -0700 MST'),
    GoString: { params: [], call: v => stringValue(goString(v)) },
    Unix: unix(NANOS),
    UnixMilli: unix(1_000_000n),
    UnixMicro: unix(1000n),
    UnixNano: unix(1n),
    Year: field(c => c.year),
    Month: { params: [], call: v => new Value(MONTH, BigInt(civil(v).month)) },
    Day: field(c => c.day),
    Hour: field(c => c.hour),
    Minute: field(c => c.minute),
    Second: field(c => c.second),
    Nanosecond: field(c => c.nanosecond),
    YearDay: field(c => c.yearDay),
    Weekday: { params: [], call: v => new Value(WEEKDAY, BigInt(civil(v).weekday)) },
    IsZero: { params: [], call: v => boolValue(unixNanos(v) === -UNIX_EPOCH * NANOS) },
    IsDST: { params: [], call: () => boolValue(false) },
    UTC: { params: [], call: v => inLocation(v, new Value(LOCATION, null)) },
    Local: { params: [], call: v => inLocation(v, LOCAL) },
    In: {
      params: [LOCATION],
      call: (v, [zone]) => {
        if (zone === undefined || zone.held === null) throw new CallError('time: missing Location in call to Time.In');
        return inLocation(v, zone);
      },
    },
    Location: { params: [], call: locationOf },
    Date: tuple('time.Month', 'int'),
    Clock: tuple('int', 'int'),
    ISOWeek: tuple('int'),
    Zone: tuple('int'),
    ZoneBounds: tuple('time.Time'),
    AppendFormat: {
      params: [BYTES, STRING],
      call: (v, [given, layout]) => appended(given, octets(formatTime(civil(v), asString(layout!)))),
    },
    AppendText: { params: [BYTES], call: (v, [given]) => appended(given, octets(rfc3339(v, 'MarshalText'))) },
    AppendBinary: { params: [BYTES], call: (v, [given]) => appended(given, binary(v)) },
    MarshalText: { params: [], call: v => bytesValue(octets(rfc3339(v, 'MarshalText'))) },
    MarshalJSON: { params: [], call: v => bytesValue(octets(`"${rfc3339(v, 'MarshalJSON')}"`)) },
    MarshalBinary: { params: [], call: v => bytesValue(binary(v)) },
    GobEncode: { params: [], call: v => bytesValue(binary(v)) },
    Compare: {
      get params() {
        return [TIME];
      },
      call: (v, [other]) => intValue(Math.sign(Number(unixNanos(v) - unixNanos(other!)))),
    },
    Truncate: { params: [DURATION], call: (v, [d]) => truncate(v, asInteger(d!)) },
    Round: { params: [DURATION], call: (v, [d]) => round(v, asInteger(d!)) },
    Equal: comparison((a, b) => a === b),
    Before: comparison((a, b) => a < b),
    After: comparison((a, b) => a > b),
    Add: { params: [DURATION], call: (v, [d]) => fromNanos(unixNanos(v) + asInteger(d!), v) },
    AddDate: { params: [INT, INT, INT], call: (v, args) => addDate(v, args as Value[]) },
    Sub: {
      get params() {
        return [TIME];
      },
      call: (v, [other]) => new Value(DURATION, clamp(unixNanos(v) - unixNanos(other!))),
    },
  },
);

function addDate(v: Value, args: readonly Value[]): Value {
  const [years, months, days] = args.map(arg => Number(asInteger(arg)));
  const c = civil(v);
  const to = BigInt(daysTo(c.year + years!, c.month + months!, c.day + days!));
  const from = BigInt(daysTo(c.year, c.month, c.day));
  return fromNanos(unixNanos(v) + (to - from) * DAY_SECONDS * NANOS, v);
}

const clamp = (n: bigint): bigint => (n > 2n ** 63n - 1n ? 2n ** 63n - 1n : n < -(2n ** 63n) ? -(2n ** 63n) : n);

/** The `time.Time` of milliseconds since 1970. */
export const timeValue = (epochMs: number): Value => fromNanos(BigInt(Math.trunc(epochMs)) * 1_000_000n);

/** The `time.Time` of seconds since 1970 and nanoseconds beyond them. */
export const timeFromUnix = (seconds: bigint, nanos: bigint): Value => fromNanos(seconds * NANOS + nanos);
