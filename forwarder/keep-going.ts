/** A loop that must not end: what its step throws is a bug, which is logged, and the next step follows after a pause. */
import type { DurationMs } from '../shared/domain/time.ts';
import { messageOf } from '../shared/errors.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { Log } from './log.ts';

export interface KeepGoing {
  readonly step: (signal: AbortSignal) => Promise<void>;
  /** Logged when a step fails. */
  readonly failed: string;
  readonly pause: DurationMs;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs until `signal` aborts. Never rejects. */
export async function keepGoing(signal: AbortSignal, { step, failed, pause, clock, log }: KeepGoing): Promise<void> {
  while (!signal.aborted) {
    try {
      await step(signal);
    } catch (error) {
      if (signal.aborted) return;
      log.error({ error: messageOf(error) }, failed);
      await clock.sleep(pause, signal).catch(() => undefined);
    }
  }
}
