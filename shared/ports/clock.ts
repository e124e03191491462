import type { DurationMs, EpochMs } from '../domain/time.ts';

/** The only source of time for shells; rules get `now` as an argument. */
export interface Clock {
  now(): EpochMs;
  /** Resolves after `duration`; rejects with the signal's reason when it is aborted first. */
  sleep(duration: DurationMs, signal?: AbortSignal): Promise<void>;
}
