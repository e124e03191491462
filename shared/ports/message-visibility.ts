import type { DurationMs } from '../domain/time.ts';

/** How long a received message stays hidden before it is tried again. */
export interface MessageVisibility {
  /** Hides the message for `duration` from now, in whole seconds, rounded up. */
  hideFor(receiptHandle: string, duration: DurationMs): Promise<void>;
}
