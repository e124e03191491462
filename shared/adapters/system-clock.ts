/** The machine's clock, by which everything that is deployed tells the time. */
import { toEpochMs } from '../domain/time.ts';
import type { LimitClock } from '../ports/clock.ts';

/** Node's timers take 2^31-1 ms (24.8 days); a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: LimitClock = {
  now: () => toEpochMs(Date.now()),
  // Not `timers/promises`, which makes an error with its stack for each sleep that ends early: nearly all do, one with each request.
  sleep: async (duration, signal) => {
    signal?.throwIfAborted();
    if (duration > 0) await new Promise<void>((resolve, reject) => startSleep(duration, signal, { resolve, reject }));
  },
  startLimit(duration, onExceeded) {
    const timer = setTimeout(onExceeded, Math.min(duration, LONGEST_TIMER_MS));
    return { lift: () => clearTimeout(timer) };
  },
};

interface Sleeper {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

function startSleep(durationMs: number, signal: AbortSignal | undefined, { resolve, reject }: Sleeper): void {
  let timer: NodeJS.Timeout;
  const onAbort = (): void => {
    clearTimeout(timer);
    reject(signal?.reason);
  };
  const wait = (left: number): void => {
    const part = Math.min(left, LONGEST_TIMER_MS);
    timer = setTimeout(() => {
      if (left > part) return wait(left - part);
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, part);
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  wait(durationMs);
}
