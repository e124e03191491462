/** `time.Time.Format`: layouts written as the reference time, Mon Jan 2 15:04:05 2006. Times here are UTC. */

/** A moment taken apart, in UTC. */
export interface Civil {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  /** 1 to 366. */
  readonly yearDay: number;
  /** 0 = Sunday. */
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanosecond: number;
}

export const MONTHS: readonly string[] =
  'January February March April May June July August September October November December'.split(' ');
export const WEEKDAYS: readonly string[] = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const CHUNKS =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|__2|_2(?!006)|2|3|4|5|PM|pm|[-Z]07(?:0000|:00:00|00|:00)?|[.,](?:0+|9+)(?!\d)/g;

const two = (n: number): string => String(n).padStart(2, '0');
const hour12 = (hour: number): number => hour % 12 || 12;

const FIELDS: Readonly<Record<string, (c: Civil) => string>> = {
  January: c => MONTHS[c.month - 1]!,
  Jan: c => MONTHS[c.month - 1]!.slice(0, 3),
  '1': c => String(c.month),
  '01': c => two(c.month),
  Monday: c => WEEKDAYS[c.weekday]!,
  Mon: c => WEEKDAYS[c.weekday]!.slice(0, 3),
  '2': c => String(c.day),
  _2: c => String(c.day).padStart(2, ' '),
  '02': c => two(c.day),
  __2: c => String(c.yearDay).padStart(3, ' '),
  '002': c => String(c.yearDay).padStart(3, '0'),
  '15': c => two(c.hour),
  '3': c => String(hour12(c.hour)),
  '03': c => two(hour12(c.hour)),
  '4': c => String(c.minute),
  '04': c => two(c.minute),
  '5': c => String(c.second),
  '05': c => two(c.second),
  '2006': c => (c.year < 0 ? '-' : '') + String(Math.abs(c.year)).padStart(4, '0'),
  '06': c => two(((c.year % 100) + 100) % 100),
  PM: c => (c.hour >= 12 ? 'PM' : 'AM'),
  pm: c => (c.hour >= 12 ? 'pm' : 'am'),
  MST: () => 'UTC',
};

/** `c` in `layout`. */
export function formatTime(c: Civil, layout: string): string {
  return layout.replaceAll(CHUNKS, chunk => {
    if (Object.hasOwn(FIELDS, chunk)) return FIELDS[chunk]!(c);
    if (chunk.startsWith('Z')) return 'Z';
    if (chunk.startsWith('-')) return '+' + chunk.slice(1).replace('7', '0');
    return fraction(c.nanosecond, chunk);
  });
}

/** `.000` keeps its digits, at most nine; `.999` drops the zeros at the end. */
function fraction(nanosecond: number, chunk: string): string {
  const digits = String(nanosecond)
    .padStart(9, '0')
    .slice(0, chunk.length - 1);
  if (chunk[1] === '0') return chunk[0]! + digits;
  const kept = digits.replace(/0+$/, '');
  return kept === '' ? '' : chunk[0]! + kept;
}
