/** Real time: the system clock, and timers that may wait for longer than `setTimeout` can. */
import { systemClock } from '../shared/adapters/system-clock.ts';
import { durationBetween } from '../shared/domain/time.ts';
import type { Scheduler } from './scheduler.ts';

/** `setTimeout` counts in 31 bits; a longer delay would run at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export interface RealScheduler extends Scheduler {
  /** Calls everything off that was put on with `at`, and whatever is put on from now on, so that the process can end. */
  close(): void;
}

/** An instant of the past runs on the next turn of the event loop. Timers keep the process alive until `close`. */
export function createRealScheduler(): RealScheduler {
  const waiting = new Set<{ timer: NodeJS.Timeout }>();
  let closed = false;
  return {
    now: () => systemClock.now(),
    sleep: (duration, signal) => systemClock.sleep(duration, signal),
    at(time, action) {
      // Somebody who was at work when it was closed.
      if (closed) return () => undefined;
      const run = (): void => {
        waiting.delete(entry);
        action();
      };
      const wait = (): NodeJS.Timeout => {
        const left = durationBetween(systemClock.now(), time);
        if (left <= 0) return setTimeout(run, 0);
        return setTimeout(() => (entry.timer = wait()), Math.min(left, LONGEST_TIMEOUT_MS));
      };
      const entry = { timer: wait() };
      waiting.add(entry);
      return () => {
        clearTimeout(entry.timer);
        waiting.delete(entry);
      };
    },
    close() {
      closed = true;
      for (const { timer } of waiting) clearTimeout(timer);
      waiting.clear();
    },
  };
}
