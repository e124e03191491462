/** The rule of the minute sweep: which due records get a wake-up now, and with which delay. Pure. */
import {
  addDuration,
  durationBetween,
  seconds,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';

/**
 * How far ahead a sweep looks. The tick comes every 60 s, give or take a minute at worst when one is skipped; half a minute more
 * than the period hands over each record before it is due.
 */
export const SWEEP_AHEAD = seconds(90);

/** Records up to this instant get a wake-up in the sweep at `now`. There is no lower bound: overdue ones always return. */
export function sweepHorizon(now: EpochMs): EpochMs {
  return addDuration(now, SWEEP_AHEAD);
}

/** Time from `now` until the record is due; zero when it is overdue. */
export function wakeUpDelay(now: EpochMs, nextWakeTime: EpochMs): DurationMs {
  return toDurationMs(Math.max(0, durationBetween(now, nextWakeTime)));
}

/** How late the oldest record is; zero when none is overdue. */
export function oldestOverdue(now: EpochMs, nextWakeTimes: readonly EpochMs[]): DurationMs {
  return toDurationMs(Math.max(0, ...nextWakeTimes.map(time => durationBetween(time, now))));
}
