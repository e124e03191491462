import type { BusEntry } from '../contract/envelope.ts';

/** Outcome per entry, in the order sent. */
export type PublishOutcome =
  | { readonly kind: 'published' }
  /** Worth sending again (throttling, internal failure). */
  | { readonly kind: 'retry'; readonly code: string }
  /** Sending again cannot help (malformed, not authorized). */
  | { readonly kind: 'rejected'; readonly code: string; readonly message: string };

export interface EventBus {
  /** At most `MAX_ENTRIES_PER_CALL` entries. Throws `RetryableError` when the whole call failed. */
  publish(entries: readonly BusEntry[]): Promise<readonly PublishOutcome[]>;
}

/** PutEvents of the classic bus: 1–10 entries, together under 1 MB. */
export const MAX_ENTRIES_PER_CALL = 10;
