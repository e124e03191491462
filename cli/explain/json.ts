/** Explanations as JSON: instants in RFC 3339, durations as Go writes them. */
import { formatDuration } from '../../shared/domain/go-duration.ts';
import { toDurationMs, toEpochMs, toTimestamp } from '../../shared/domain/time.ts';

const INSTANTS: ReadonlySet<string> = new Set(['now', 'until', 'expiry', 'time', 'dueTime', 'since']);
const DURATIONS: ReadonlySet<string> = new Set(['gracePeriod', 'cappedTo', 'timeout', 'maxDuration']);

/** By the name of a field: `INSTANTS` and `DURATIONS` are milliseconds inside, text outside. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, readable, 2);
}

function readable(key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  if (INSTANTS.has(key)) return toTimestamp(toEpochMs(value));
  return DURATIONS.has(key) ? formatDuration(toDurationMs(value)) : value;
}
