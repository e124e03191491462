import { addDuration, toDurationMs, toEpochMs, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import type { LimitClock } from '../../shared/ports/clock.ts';

interface Sleeper {
  readonly dueTime: EpochMs;
  readonly wake: () => void;
}

/** A clock that stands still until it is advanced. */
export interface ManualClock extends LimitClock {
  /** Moves time forward, wakes sleepers in the order in which they are due, and lets each wake-up's consequences run first. */
  advance(duration: DurationMs | number): Promise<void>;
  /** Lets everything run that does not wait for time. */
  settle(): Promise<void>;
  /** How many sleep: what would keep a process waiting. */
  sleepers(): number;
}

export const MANUAL_CLOCK_START = toEpochMs(Date.UTC(2024, 10, 1, 15, 0, 0));

export function createManualClock(start: EpochMs = MANUAL_CLOCK_START): ManualClock {
  let now = start;
  const sleeping: Sleeper[] = [];

  return {
    now: () => now,
    startLimit(duration, onExceeded) {
      const lifted = (): void => {
        const index = sleeping.indexOf(sleeper);
        if (index >= 0) sleeping.splice(index, 1);
      };
      const sleeper: Sleeper = {
        dueTime: addDuration(now, duration),
        wake: () => {
          lifted();
          onExceeded();
        },
      };
      sleeping.push(sleeper);
      return { lift: lifted };
    },
    sleep(duration, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const forget = (): void => {
          const index = sleeping.indexOf(sleeper);
          if (index >= 0) sleeping.splice(index, 1);
          signal?.removeEventListener('abort', refuse);
        };
        const refuse = (): void => {
          forget();
          reject(signal?.reason);
        };
        const sleeper: Sleeper = {
          dueTime: addDuration(now, toDurationMs(Math.max(0, duration))),
          wake: () => {
            forget();
            resolve();
          },
        };
        sleeping.push(sleeper);
        signal?.addEventListener('abort', refuse, { once: true });
      });
    },
    async advance(duration) {
      const end = addDuration(now, toDurationMs(duration));
      await settle();
      for (;;) {
        // The sort is stable: of two that are due at once, the one that went to sleep first wakes first.
        const [next] = sleeping.filter(({ dueTime }) => dueTime <= end).toSorted((a, b) => a.dueTime - b.dueTime);
        if (next === undefined) break;
        if (next.dueTime > now) now = next.dueTime;
        next.wake();
        await settle();
      }
      now = end;
    },
    settle,
    sleepers: () => sleeping.length,
  };
}

/** A turn of the event loop runs all microtasks, also those that microtasks add. */
const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve));
