import type { DurationMs, EpochMs } from '../domain/time.ts';

/** The only source of time for shells; rules get `now` as an argument. */
export interface Clock {
  now(): EpochMs;
  /** Resolves after `duration`; rejects with the signal's reason when it is aborted first. */
  sleep(duration: DurationMs, signal?: AbortSignal): Promise<void>;
}

/** A clock for limits that are nearly always lifted before they are due: a sleep with its promise and signal shows in the cost of a request. */
export interface LimitClock extends Clock {
  /** Calls `onExceeded` after `duration`, unless the limit is lifted first. */
  startLimit(duration: DurationMs, onExceeded: () => void): TimeLimit;
}

export interface TimeLimit {
  lift(): void;
}
