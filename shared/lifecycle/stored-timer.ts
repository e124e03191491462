/** What a stored record says of its timer, and of what the run that wrote it was about to do. Pure. */
import { MAX_DELAY_SECONDS } from '../contract/wake-up.ts';
import { durationBetween, seconds, toDurationMs, type DurationMs, type EpochMs } from '../domain/time.ts';
import type { StoredRecord } from '../ports/record-store.ts';

/** In the state of a record that a run is about to delete (T3); the kernel's own, no codec sees it. */
export const CLOSING = 'closing';

/** Whether the timer is armed no later than wanted, and nobody is closing the record (T2). */
export function isArmedInTime(stored: StoredRecord, wakeTime: EpochMs, now: EpochMs): boolean {
  const armed = stored.nextWakeTime;
  // A timer that is earlier than needed is kept: it comes once without need.
  return stored.state[CLOSING] === undefined && armed !== undefined && armed > now && armed <= wakeTime;
}

/** Whether a timer that another run may rely on is replaced by a later one. One that is due has brought its run here. */
export function isPutOff(stored: StoredRecord, wakeTime: EpochMs, now: EpochMs): boolean {
  const { nextWakeTime, state } = stored;
  if (state[CLOSING] !== undefined || nextWakeTime === undefined || nextWakeTime <= now) return false;
  return nextWakeTime < wakeTime;
}

/** Whether a message for this very timer was sent with an earlier write: a second one would double every run that follows. */
export function hasMessage({ nextWakeTime, direct, state }: StoredRecord, wakeTime: EpochMs, now: EpochMs): boolean {
  return state[CLOSING] === undefined && direct === true && nextWakeTime === wakeTime && wakeTime > now;
}

/** None for a time that is over. */
export const delayUntil = (now: EpochMs, wakeTime: EpochMs): DurationMs =>
  toDurationMs(Math.max(0, durationBetween(now, wakeTime)));

/** Whether SQS can carry the delay; further timers are the minute sweep's. */
export const isNear = (now: EpochMs, wakeTime: EpochMs): boolean =>
  delayUntil(now, wakeTime) <= seconds(MAX_DELAY_SECONDS);
