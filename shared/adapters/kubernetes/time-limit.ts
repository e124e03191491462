import type { DurationMs } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';

export interface TimeLimit {
  lift(): void;
}

/** Made once: without a reason every `abort` makes an error with its stack, which shows in the cost of a request. */
const LIFTED = new Error('the time limit was lifted');

/** Calls `onExceeded` after `duration`, unless the limit is lifted first. */
export function startTimeLimit(clock: Clock, duration: DurationMs, onExceeded: () => void): TimeLimit {
  const lifted = new AbortController();
  void clock.sleep(duration, lifted.signal).then(onExceeded, (reason: unknown) => {
    if (!lifted.signal.aborted) throw reason;
  });
  return { lift: () => lifted.abort(LIFTED) };
}
