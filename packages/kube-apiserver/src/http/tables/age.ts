/** Durations as kubectl prints them: two units at most, the second one only while the first is small. */

const second = 1_000;
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

function pair(whole: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${whole}${unit}` : `${whole}${unit}${rest}${restUnit}`;
}

/** Text of a duration in milliseconds, with the steps of `duration.HumanDuration` in k8s.io/apimachinery. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / second);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  const minutes = Math.floor(seconds / minute);
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.floor(seconds / hour);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(seconds / day);
  if (hours < 8 * 24) return pair(days, 'd', hours % 24, 'h');
  if (seconds < 2 * year) return `${days}d`;
  const years = Math.floor(seconds / year);
  return seconds < 8 * year ? pair(years, 'y', days % 365, 'd') : `${years}y`;
}

/** How long ago an RFC 3339 instant was at `now` (epoch ms); `<unknown>` for none, `<invalid>` for what is no instant. */
export function ageOf(timestamp: unknown, now: number): string {
  if (typeof timestamp !== 'string' || timestamp === '') return '<unknown>';
  const instant = Date.parse(timestamp);
  return Number.isNaN(instant) ? '<invalid>' : humanDuration(now - instant);
}
