/** How long a pool launches no replacement after one that did not become ready. Pure. */
import { addDuration, hours, isDue, minutes, type EpochMs } from '../../shared/domain/time.ts';

/** A pool whose launch failed launches nothing for a while: 5 minutes, twice as long after each failure, an hour at most. */
export interface LaunchPause {
  readonly failures: number;
  readonly until: EpochMs;
}

const FIRST_PAUSE = minutes(5);
const LONGEST_PAUSE_DOUBLINGS = 4;

export function nextPause(pause: LaunchPause | undefined, now: EpochMs): LaunchPause {
  const failures = (pause?.failures ?? 0) + 1;
  const doubled = FIRST_PAUSE * 2 ** Math.min(failures - 1, LONGEST_PAUSE_DOUBLINGS);
  return { failures, until: addDuration(now, minutes(Math.min(doubled / minutes(1), 60))) };
}

/** Forgotten once it was of no use for a day. */
export const pauseAt = (pause: LaunchPause | undefined, now: EpochMs): LaunchPause | undefined =>
  pause === undefined || isDue(now, addDuration(pause.until, hours(24))) ? undefined : pause;
