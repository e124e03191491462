/** Real time: the system clock, and timers that may wait for longer than `setTimeout` can. */
import { systemClock } from '../shared/adapters/system-clock.ts';
import { durationBetween } from '../shared/domain/time.ts';
import type { Scheduler } from './scheduler.ts';

/** `setTimeout` counts in 31 bits; a longer delay would run at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export function createRealScheduler(): Scheduler {
  return {
    now: () => systemClock.now(),
    sleep: (duration, signal) => systemClock.sleep(duration, signal),
    at(time, action) {
      let timer: NodeJS.Timeout;
      const wait = (): void => {
        const left = durationBetween(systemClock.now(), time);
        timer = left > 0 ? setTimeout(wait, Math.min(left, LONGEST_TIMEOUT_MS)) : setTimeout(action, 0);
      };
      wait();
      return () => clearTimeout(timer);
    },
  };
}
