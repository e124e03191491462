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

/** PutEvents of the classic bus takes 1–10 entries. */
export const MAX_ENTRIES_PER_CALL = 10;
/** Sum of the entries of one call, in bytes; the whole call is refused above (quota of PutEvents: "less than 1 MB"; some partitions have 256 KB). */
export const MAX_CALL_BYTES = 1_000_000;
