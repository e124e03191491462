/** The machine's clock. The one place, with the transport's timers behind it, where real time enters. */
import { setTimeout as sleep } from 'node:timers/promises';
import { toEpochMs } from '../domain/time.ts';
import type { Clock } from '../ports/clock.ts';

/** Node's timers hold 2^31-1 ms (24.8 days); a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => toEpochMs(Date.now()),
  async sleep(duration, signal) {
    signal?.throwIfAborted();
    try {
      for (let left: number = duration; left > 0; left -= LONGEST_TIMER_MS) {
        await sleep(Math.min(left, LONGEST_TIMER_MS), undefined, signal === undefined ? {} : { signal });
      }
    } catch (error) {
      // Node throws an AbortError of its own; the port promises the signal's reason.
      signal?.throwIfAborted();
      throw error;
    }
  },
};
