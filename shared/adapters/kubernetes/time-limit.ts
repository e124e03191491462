import { durationBetween, toDurationMs, type DurationMs, type EpochMs } from '../../domain/time.ts';
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

/** Measures how long something is waited for, again and again. */
export interface SilenceLimit {
  /** Waiting begins. */
  wait(): void;
  /** It came: no silence is counted until the next wait. */
  heard(): void;
  /** Lets go of the clock. */
  end(): void;
}

/**
 * Calls `onExceeded` once a wait takes `longest`. One sleep per period of silence, however often something comes: a watch hears of
 * thousands of changes a minute.
 */
export function startSilenceLimit(clock: Clock, longest: DurationMs, onExceeded: () => void): SilenceLimit {
  let waitingSince: EpochMs | undefined;
  const ended = new AbortController();
  const silence = (): DurationMs =>
    waitingSince === undefined ? toDurationMs(0) : durationBetween(waitingSince, clock.now());
  const watchOver = async (): Promise<void> => {
    while (silence() < longest) await clock.sleep(toDurationMs(longest - silence()), ended.signal);
    onExceeded();
  };
  void watchOver().catch((reason: unknown) => {
    if (!ended.signal.aborted) throw reason;
  });
  return {
    wait() {
      waitingSince = clock.now();
    },
    heard() {
      waitingSince = undefined;
    },
    end: () => ended.abort(),
  };
}
