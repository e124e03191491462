/** An instant as somebody types it. */
import type { Day } from '../src/day/types.ts';

const DAY_MS = 86_400_000;

/** `18:32`, `18:32:05`, or an RFC 3339 instant: the first such time at or after the start of the shown day. */
export function timeIn(text: string, near: number, { start, end }: Pick<Day, 'start' | 'end'>): number | undefined {
  const clock = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text);
  if (clock === null) {
    const time = /^\d{4}-/.test(text) ? Date.parse(text) : NaN;
    return Number.isNaN(time) ? undefined : time;
  }
  const [, hour = '', minute = '', second = '0'] = clock;
  const inDay = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
  const midnight = Math.floor(near / DAY_MS) * DAY_MS;
  return [midnight + inDay, midnight + inDay + DAY_MS, midnight + inDay - DAY_MS].find(
    time => time >= start && time <= end,
  );
}
