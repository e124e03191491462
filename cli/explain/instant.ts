import { formatDuration } from '../../shared/domain/go-duration.ts';
import { durationBetween, toDurationMs, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';

/** `2024-01-01T14:00:00Z (in 3h12m0s)`, or `(2m0s ago)`. */
export function instant(time: EpochMs, now: EpochMs): string {
  const distance = durationBetween(now, time);
  const length = formatDuration(toDurationMs(Math.round(Math.abs(distance) / 1000) * 1000));
  return `${toTimestamp(time)} (${distance > 0 ? `in ${length}` : `${length} ago`})`;
}
