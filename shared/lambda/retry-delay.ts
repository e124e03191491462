/** Tells when a failed message is tried again. Pure, so that the Lambda wrapper and the local inbox agree. */
import { LONGEST_REDELIVERY } from '../domain/run-end.ts';
import { doubledWait, seconds, toDurationMs, type DurationMs } from '../domain/time.ts';

/** Long enough for a conflict or a throttled API to pass. */
const FIRST_RETRY = seconds(5);
/** Receives that come one soon after the other when nothing is begun; from then on they must last for a day (ADR 0048). */
const EARLY_RECEIVES = 6;

/**
 * 5 s, 10 s, 20 s … up to 3 min, or later when the other side asked for it, never beyond the longest. What was not begun has not failed:
 * at first it does not wait longer each time.
 * @param receiveCount how often the message was received, from 1
 */
export function retryDelay(
  receiveCount: number,
  askedMs: number | undefined,
  { begun = true }: { readonly begun?: boolean } = {},
): DurationMs {
  if (!begun && receiveCount <= EARLY_RECEIVES) return FIRST_RETRY;
  const doubled = doubledWait(FIRST_RETRY, receiveCount, LONGEST_REDELIVERY);
  return toDurationMs(Math.min(LONGEST_REDELIVERY, Math.max(doubled, askedMs ?? 0)));
}
