import type { DurationMs } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';

/** Calls `onExceeded` after `duration`, unless the returned controller is aborted first. */
export function startTimeLimit(clock: Clock, duration: DurationMs, onExceeded: () => void): AbortController {
  const lifted = new AbortController();
  void clock.sleep(duration, lifted.signal).then(onExceeded, (reason: unknown) => {
    if (!lifted.signal.aborted) throw reason;
  });
  return lifted;
}
