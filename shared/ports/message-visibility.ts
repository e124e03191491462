import type { DurationMs } from '../domain/time.ts';

/** Hides received messages until they are tried again. */
export interface MessageVisibility {
  /** Hides the message for `duration` from now, in whole seconds, rounded up. */
  hideFor(receiptHandle: string, duration: DurationMs): Promise<void>;
}
