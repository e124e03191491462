/** `time.Duration`, as a value with Go's methods. */
import { type GoType, INT64, type Method, namedType } from './type.ts';
import { asInteger, floatValue, stringValue, Value } from './value.ts';

const NANOS = 1_000_000_000n;
const MAX = 2n ** 63n - 1n;
const MIN = -(2n ** 63n);

const float = (per: bigint): Method => ({
  params: [],
  call: v => floatValue(Number(asInteger(v) / per) + Number(asInteger(v) % per) / Number(per)),
});
const whole = (per: bigint): Method => ({ params: [], call: v => new Value(INT64, asInteger(v) / per) });

const changed = (change: (n: bigint) => bigint): Method => ({
  params: [],
  call: v => new Value(DURATION, change(asInteger(v))),
});
const changedBy = (change: (n: bigint, per: bigint) => bigint): Method => ({
  get params() {
    return [DURATION];
  },
  call: (v, [per]) => new Value(DURATION, change(asInteger(v), asInteger(per!))),
});

/** To the nearest multiple, halves away from zero. */
function rounded(n: bigint, per: bigint): bigint {
  if (per <= 0n) return n;
  const size = n < 0n ? -n : n;
  const past = size % per;
  const near = past * 2n < per ? size - past : size - past + per;
  if (n < 0n) return -near < MIN ? MIN : -near;
  return near > MAX ? MAX : near;
}

/** `time.Duration`, in nanoseconds. */
export const DURATION: GoType = namedType('time.Duration', 'int64', {
  String: { params: [], call: v => stringValue(durationText(asInteger(v))) },
  Nanoseconds: whole(1n),
  Microseconds: whole(1000n),
  Milliseconds: whole(1_000_000n),
  Seconds: float(NANOS),
  Minutes: float(60n * NANOS),
  Hours: float(3600n * NANOS),
  Abs: changed(n => (n === MIN ? MAX : n < 0n ? -n : n)),
  Truncate: changedBy((n, per) => (per <= 0n ? n : n - (n % per))),
  Round: changedBy(rounded),
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
