/** Tells when a failed message is tried again. Pure, so that the Lambda wrapper and the local inbox agree. */
import { doubledWait, seconds, toDurationMs, type DurationMs } from '../domain/time.ts';

/** Long enough for a conflict or a throttled API to pass. */
const FIRST_RETRY = seconds(5);
/** A part that was down is noticed within three minutes of its return; also the inbox's own visibility timeout. */
const LONGEST_RETRY = seconds(180);
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
  const doubled = doubledWait(FIRST_RETRY, receiveCount, LONGEST_RETRY);
  return toDurationMs(Math.min(LONGEST_RETRY, Math.max(doubled, askedMs ?? 0)));
}
