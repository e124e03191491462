/**
 * Remembers how often something was put back that somebody keeps taking away, and tells when it may be put back again
 * (I11). Pure.
 */
import { addDuration, doubledWait, isDue, minutes, toDurationMs, type EpochMs } from './time.ts';

export interface Effort {
  readonly times: number;
  readonly lastTime: EpochMs;
}

/** Doubled each time. */
const FIRST_RETRY = minutes(1);
/** I5: what is due happens within five minutes; twelve writes an hour are the bound of I11. */
const LONGEST_RETRY = minutes(5);
/** It is put back at once this often; from then on it looks like a quarrel of two controllers. */
const FREE_RESTORES = 3;

/** Until when it stays away; undefined: it may be put back now. */
export function notRestoredBefore(effort: Effort | undefined, now: EpochMs): EpochMs | undefined {
  if (effort === undefined || effort.times < FREE_RESTORES) return undefined;
  const wait = doubledWait(FIRST_RETRY, effort.times - FREE_RESTORES + 1, LONGEST_RETRY);
  const time = addDuration(effort.lastTime, wait);
  return isDue(now, time) ? undefined : time;
}

/**
 * The effort that is still remembered: once the annotation or finalizer has stayed for twice the longest wait, the
 * quarrel is over.
 */
export const lastingEffort = (before: Effort | undefined, now: EpochMs): Effort | undefined =>
  before !== undefined && isDue(now, addDuration(before.lastTime, toDurationMs(2 * LONGEST_RETRY)))
    ? undefined
    : before;

/** The memory after it was put back. */
export const effortOfRestoring = (before: Effort | undefined, now: EpochMs): Effort => ({
  times: (lastingEffort(before, now)?.times ?? 0) + 1,
  lastTime: now,
});
