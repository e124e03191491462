/** Whether a cron expression of five fields hits a minute, in UTC: by going through its fields, which is slow and plain. */

const NAMES: Readonly<Record<string, number>> = Object.fromEntries([
  ...['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'].map((name, index) => [name, index]),
  ...['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'].map((name, index) => [
    name,
    index + 1,
  ]),
]);
const WORDS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const LIMITS: readonly (readonly [number, number])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
];
const MINUTE = 60_000;

type Field = { readonly values: ReadonlySet<number>; readonly isStar: boolean };

/** undefined: it cannot be read. */
function fieldsOf(text: string): readonly Field[] | undefined {
  const parts = (WORDS[text] ?? text).trim().split(/\s+/);
  if (parts.length !== LIMITS.length) return undefined;
  const fields = parts.map((part, index) => fieldOf(part, LIMITS[index] ?? [0, 0]));
  return fields.every(field => field !== undefined) ? fields : undefined;
}

function fieldOf(text: string, [least, most]: readonly [number, number]): Field | undefined {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [range = '', step, ...more] = part.split('/');
    const [from = '', to, ...others] = range.split('-');
    if (more.length > 0 || others.length > 0) return undefined;
    const isStar = range === '*' || range === '?';
    const first = isStar ? least : numberOf(from);
    const last = isStar || (to === undefined && step !== undefined) ? most : numberOf(to ?? from);
    const by = step === undefined ? 1 : numberOf(step);
    if (first === undefined || last === undefined || by === undefined) return undefined;
    if (first < least || last > most || first > last || by === 0) return undefined;
    for (let value = first; value <= last; value += by) values.add(value);
  }
  // With a step it is as if its values were stated.
  return { values, isStar: /(^|,)[*?](\/0*1)?(,|$)/.test(text) };
}

function numberOf(text: string): number | undefined {
  const known = NAMES[text.toLowerCase()];
  return known ?? (/^\d+$/.test(text) ? Number(text) : undefined);
}

function isHit([minute, hour, day, month, weekday]: readonly Field[], time: number): boolean {
  const date = new Date(time);
  const has = (field: Field | undefined, value: number): boolean => field?.values.has(value) === true;
  const isDay = has(day, date.getUTCDate());
  const isWeekday = has(weekday, date.getUTCDay());
  // Of two that are stated one is enough.
  const isRightDay = day?.isStar === true || weekday?.isStar === true ? isDay && isWeekday : isDay || isWeekday;
  return (
    has(minute, date.getUTCMinutes()) &&
    has(hour, date.getUTCHours()) &&
    has(month, date.getUTCMonth() + 1) &&
    isRightDay
  );
}

/** Whether it hit in the time before; undefined: it cannot be read. @param duration milliseconds */
export function wasHitWithin(schedule: string, duration: number, now: number): boolean | undefined {
  const fields = fieldsOf(schedule);
  if (fields === undefined) return undefined;
  for (let time = now - (now % MINUTE); time > now - duration; time -= MINUTE) if (isHit(fields, time)) return true;
  return false;
}
