/**
 * Schedule expressions of EventBridge Scheduler: `rate(…)`, `at(…)` and `cron(…)`, in UTC. Of cron the numeric fields with `*`, `?`, lists, ranges and
 * steps; names of days and months, `L`, `W` and `#` are refused.
 */
import {
  addDuration,
  parseTimestamp,
  toEpochMs,
  type DurationMs,
  type EpochMs,
  minutes,
  hours,
} from '../../../shared/domain/time.ts';

/** The first firing at or after `from`; undefined when there is none. `start` is when the schedule came to be. */
export type Schedule = (start: EpochMs, from: EpochMs) => EpochMs | undefined;

const UNITS: Readonly<Record<string, (count: number) => DurationMs>> = {
  minute: minutes,
  hour: hours,
  day: count => hours(24 * count),
};

/** Throws an Error for what EventBridge, or this reader, does not understand. */
export function parseScheduleExpression(expression: string): Schedule {
  const [, kind, argument = ''] = /^(rate|at|cron)\((.*)\)$/.exec(expression.trim()) ?? [];
  if (kind === 'rate') return parseRate(argument, expression);
  if (kind === 'at') return parseAt(argument, expression);
  if (kind === 'cron') return parseCron(argument, expression);
  throw new Error(`not a schedule expression: ${expression}`);
}

/** Fires when the schedule is created and at each period after. */
function parseRate(argument: string, expression: string): Schedule {
  const [, count = '', unit = ''] = /^([1-9]\d*) (minute|hour|day)s?$/.exec(argument) ?? [];
  const period = UNITS[unit]?.(Number(count));
  if (period === undefined) throw new Error(`not a rate: ${expression}`);
  return (start, from) => {
    const periods = Math.max(0, Math.ceil((from - start) / period));
    return toEpochMs(start + periods * period);
  };
}

function parseAt(argument: string, expression: string): Schedule {
  const time = parseTimestamp(`${argument}Z`);
  if (time === undefined) throw new Error(`not an instant: ${expression}`);
  return (_, from) => (time >= from ? time : undefined);
}

const FIELDS = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12 },
  { min: 1, max: 7 },
  { min: 1970, max: 2199 },
] as const;
/** A cron expression that does not fire within this time is taken as one that never does. */
const HORIZON = hours(24 * 366 * 5);
const DAY = hours(24);
const MINUTE = minutes(1);

function parseCron(argument: string, expression: string): Schedule {
  const texts = argument.trim().split(/\s+/);
  if (texts.length !== FIELDS.length) throw new Error(`cron needs ${FIELDS.length} fields: ${expression}`);
  const tests = FIELDS.map((range, index) => parseField(texts[index] ?? '', range, expression));
  const holds = (index: number, value: number) => tests[index]?.(value) ?? false;
  return (_, from) => {
    const first = Math.ceil(from / MINUTE) * MINUTE;
    for (let time = first; time < addDuration(from, HORIZON);) {
      const date = new Date(time);
      // Sunday is 1.
      const day = [date.getUTCDate(), date.getUTCMonth() + 1, date.getUTCDay() + 1, date.getUTCFullYear()];
      if (!day.every((value, index) => holds(index + 2, value))) {
        time = (Math.floor(time / DAY) + 1) * DAY;
      } else if (holds(0, date.getUTCMinutes()) && holds(1, date.getUTCHours())) {
        return toEpochMs(time);
      } else {
        time += MINUTE;
      }
    }
    return undefined;
  };
}

function parseField(
  text: string,
  { min, max }: { min: number; max: number },
  expression: string,
): (value: number) => boolean {
  if (text === '*' || text === '?') return () => true;
  const parts = text.split(',').map(part => {
    const [, first = '', last, step] = /^(\*|\d+)(?:-(\d+))?(?:\/(\d+))?$/.exec(part) ?? [];
    const from = first === '*' ? min : Number(first);
    const to = last !== undefined ? Number(last) : step !== undefined || first === '*' ? max : from;
    if (first === '' || from < min || to > max || from > to || step === '0')
      throw new Error(`not a cron field: ${part} in ${expression}`);
    return (value: number) => value >= from && value <= to && (value - from) % Number(step ?? 1) === 0;
  });
  return value => parts.some(part => part(value));
}
