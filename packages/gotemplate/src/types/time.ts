/** `time.Time` in UTC, `time.Duration`, `time.Month` and `time.Weekday`, as values with Go's methods. */
import { type Civil, formatTime, MONTHS, WEEKDAYS } from './time-format.ts';
import { type GoType, INT, INT64, type Method, namedType, pointerTo, STRING, structType, UINT64 } from './type.ts';
import { asInteger, asString, asStruct, boolValue, floatValue, intValue, stringValue, Value } from './value.ts';

const NANOS = 1_000_000_000n;
/** Seconds from 1 January of year 1, where Go's count starts, to 1970. */
const UNIX_EPOCH = 62_135_596_800n;
const DAY_SECONDS = 86_400n;

const floorDiv = (a: bigint, b: bigint): bigint => a / b - (a % b < 0n ? 1n : 0n);

const named = (name: string, names: readonly string[], first: number): GoType =>
  namedType(name, 'int', {
    String: {
      params: [],
      call: v => stringValue(names[Number(asInteger(v)) - first] ?? `%!${name.slice(5)}(${asInteger(v)})`),
    },
  });
const MONTH = named('time.Month', MONTHS, 1);
const WEEKDAY = named('time.Weekday', WEEKDAYS, 0);

const float = (per: bigint): Method => ({
  params: [],
  call: v => floatValue(Number(asInteger(v) / per) + Number(asInteger(v) % per) / Number(per)),
});
const whole = (per: bigint): Method => ({ params: [], call: v => new Value(INT64, asInteger(v) / per) });

/** `time.Duration`, in nanoseconds. */
export const DURATION: GoType = namedType('time.Duration', 'int64', {
  String: { params: [], call: v => stringValue(durationText(asInteger(v))) },
  Nanoseconds: whole(1n),
  Microseconds: whole(1000n),
  Milliseconds: whole(1_000_000n),
  Seconds: float(NANOS),
  Minutes: float(60n * NANOS),
  Hours: float(3600n * NANOS),
});

/** Like "1h2m3.5s"; below a second in the unit that leaves a whole part. */
function durationText(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const n = nanos < 0n ? -nanos : nanos;
  const decimal = (per: bigint): string => {
    const rest = (n % per)
      .toString()
      .padStart(per.toString().length - 1, '0')
      .replace(/0+$/, '');
    return rest && per > 1n ? `.${rest}` : '';
  };
  if (n < 1000n) return `${sign}${n}ns`;
  if (n < 1_000_000n) return `${sign}${n / 1000n}${decimal(1000n)}\xc2\xb5s`;
  if (n < NANOS) return `${sign}${n / 1_000_000n}${decimal(1_000_000n)}ms`;
  const [hours, minutes, seconds] = [n / (3600n * NANOS), (n / (60n * NANOS)) % 60n, (n / NANOS) % 60n];
  const head = hours > 0n ? `${hours}h${minutes}m` : minutes > 0n ? `${minutes}m` : '';
  return `${sign}${head}${seconds}${decimal(NANOS)}s`;
}

/** Nanoseconds since 1970. */
function unixNanos(v: Value): bigint {
  const [wall, ext] = asStruct(v);
  return (asInteger(ext!) - UNIX_EPOCH) * NANOS + asInteger(wall!);
}

/** Days since 1970 to year, month and day of the Gregorian calendar, in eras of 400 years from 1 March of year 0. */
function date(days: number): Pick<Civil, 'year' | 'month' | 'day' | 'yearDay'> {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const fromMarch = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * fromMarch + 2) / 153);
  const day = fromMarch - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day, yearDay: days - daysTo(year, 1, 1) + 1 };
}

/** Days from 1970 to a date; months and days out of range carry over. */
function daysTo(year: number, month: number, day: number): number {
  const y = year + Math.floor((month - 1) / 12) - (mod(month - 1, 12) < 2 ? 1 : 0);
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * mod(month - 3, 12) + 2) / 5);
  return (
    era * 146_097 +
    yearOfEra * 365 +
    Math.floor(yearOfEra / 4) -
    Math.floor(yearOfEra / 100) +
    dayOfYear -
    719_468 +
    day -
    1
  );
}

const mod = (a: number, b: number): number => ((a % b) + b) % b;

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

function fromNanos(nanos: bigint): Value {
  const seconds = floorDiv(nanos, NANOS);
  return new Value(TIME, [
    new Value(UINT64, nanos - seconds * NANOS),
    new Value(INT64, seconds + UNIX_EPOCH),
    new Value(LOCATION, null),
  ]);
}

const field = (get: (c: Civil) => number): Method => ({ params: [], call: v => intValue(get(civil(v))) });
const unix = (per: bigint): Method => ({ params: [], call: v => new Value(INT64, floorDiv(unixNanos(v), per)) });
const tuple = (results: number): Method => ({ params: [], results, call: v => v });
const text = (layout: string): Method => ({ params: [], call: v => stringValue(formatTime(civil(v), layout)) });

/** A comparison with another time; its parameter is set below, since the type refers to itself. */
const comparison = (test: (a: bigint, b: bigint) => boolean): Method => ({
  get params() {
    return [TIME];
  },
  call: (v, [other]) => boolValue(test(unixNanos(v), unixNanos(other!))),
});

function goString(c: Civil): string {
  const month = MONTHS[c.month - 1]!;
  return `time.Date(${c.year}, time.${month}, ${c.day}, ${c.hour}, ${c.minute}, ${c.second}, ${c.nanosecond}, time.UTC)`;
}

const LOCATION = pointerTo(
  structType('time.Location', {}, { String: { params: [], onPointer: true, call: () => stringValue('UTC') } }),
);

/** `time.Time`. */
export const TIME: GoType = structType(
  'time.Time',
  { wall: UINT64, ext: INT64, loc: LOCATION },
  {
    Format: { params: [STRING], call: (v, [layout]) => stringValue(formatTime(civil(v), asString(layout!))) },
    String: text('2006-01-02 15:04:05.999999999 -0700 MST'),
    GoString: { params: [], call: v => stringValue(goString(civil(v))) },
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
    UTC: { params: [], call: v => v },
    Location: { params: [], call: () => new Value(LOCATION, new Value(LOCATION.elem!, [])) },
    Date: tuple(3),
    Clock: tuple(3),
    ISOWeek: tuple(2),
    Zone: tuple(2),
    Equal: comparison((a, b) => a === b),
    Before: comparison((a, b) => a < b),
    After: comparison((a, b) => a > b),
    Add: { params: [DURATION], call: (v, [d]) => fromNanos(unixNanos(v) + asInteger(d!)) },
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
  return fromNanos(unixNanos(v) + (to - from) * DAY_SECONDS * NANOS);
}

const clamp = (n: bigint): bigint => (n > 2n ** 63n - 1n ? 2n ** 63n - 1n : n < -(2n ** 63n) ? -(2n ** 63n) : n);

/** The `time.Time` of milliseconds since 1970. */
export const timeValue = (epochMs: number): Value => fromNanos(BigInt(Math.trunc(epochMs)) * 1_000_000n);

/** The `time.Time` of seconds since 1970 and nanoseconds beyond them. */
export const timeFromUnix = (seconds: bigint, nanos: bigint): Value => fromNanos(seconds * NANOS + nanos);
