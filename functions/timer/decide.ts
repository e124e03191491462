/** The rule of the minute sweep: which due records get a wake-up now, and with which delay. Pure. */
import {
  addDuration,
  durationBetween,
  isDue,
  seconds,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';

/**
 * Time ahead that a sweep covers. The tick comes every 60 s: half a minute more hands over each record before it is due. Where a tick is
 * skipped, a record may be 30 s late. There is no bound behind: overdue records always return.
 */
export const SWEEP_AHEAD = seconds(90);
/**
 * Time after it is due for which a record is left to the wake-up that its owner sent: both at once would run the owner twice. After a lost
 * message the next sweep sends another.
 */
const OWN_WAKE_UP_ARRIVES_WITHIN = seconds(30);

export type SweepDecision =
  /** Send a wake-up that arrives after `delay`. */
  | { readonly kind: 'wake'; readonly delay: DurationMs }
  /** The owner's own wake-up is on its way. */
  | { readonly kind: 'leave' };

/** Decides whether a due record gets a wake-up. @param due a record of the due index, up to the horizon */
export function decide(
  due: { readonly nextWakeTime: EpochMs; readonly hasOwnMessage?: boolean },
  now: EpochMs,
): SweepDecision {
  const { nextWakeTime, hasOwnMessage = false } = due;
  if (hasOwnMessage && !isDue(now, addDuration(nextWakeTime, OWN_WAKE_UP_ARRIVES_WITHIN))) return { kind: 'leave' };
  return { kind: 'wake', delay: toDurationMs(Math.max(0, durationBetween(now, nextWakeTime))) };
}
