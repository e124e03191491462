/** Background work: loops that must not end, and work that nobody waits for. Each failure reaches the log. */
import type { DurationMs } from '../shared/domain/time.ts';
import { messageOf } from '../shared/errors.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { Log } from './log.ts';

export interface LoopOptions {
  readonly step: (signal: AbortSignal) => Promise<void>;
  /** Logged when a step fails. */
  readonly failed: string;
  readonly pause: DurationMs;
  readonly clock: Clock;
  readonly log: Log;
}

/** Repeats a step until `signal` aborts. What a step throws is a bug: it is logged, and the next step follows after a pause. Never rejects. */
export async function keepGoing(signal: AbortSignal, { step, failed, pause, clock, log }: LoopOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      await step(signal);
    } catch (error) {
      if (signal.aborted) return;
      log.error({ error: messageOf(error) }, failed);
      await pauseFor(pause, clock, signal);
    }
  }
}

/** Sleeps; ends early and without an error when `signal` aborts, for the loop around it looks at the signal next. */
export async function pauseFor(duration: DurationMs, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(duration, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Lets work go on that nobody waits for. Its normal end may be that `signal` aborts; anything else is logged as `failed`. */
export function inBackground(work: Promise<void>, signal: AbortSignal, log: Log, failed: string): void {
  work.catch((error: unknown) => {
    if (!signal.aborted) log.error({ error: messageOf(error) }, failed);
  });
}
