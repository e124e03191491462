/** A FinalizerRule (docs/finalizer-rules.md): which kind it keeps, and what cleans up. Pure. */
import { minutes, type DurationMs } from './time.ts';

export type Cleanup =
  | { readonly kind: 'lambda'; readonly functionName: string }
  /** An external worker answers the event. */
  | { readonly kind: 'event'; readonly detailType: string }
  /** Nothing to clean up. */
  | { readonly kind: 'none' };

export const ON_DEADLINES = ['Keep', 'Release'] as const;
/** `Keep`: the object stays and is reported; `Release`: the finalizer goes, and what is left behind is noted as a possible orphan. */
export type OnDeadline = (typeof ON_DEADLINES)[number];

/** The most calls of a rule's clean-up, whatever fails. */
export interface RateLimit {
  readonly perSecond: number;
  /** Calls that are under way at the same time. */
  readonly concurrent: number;
  /** Between two tries of one object. */
  readonly longestBackoff: DurationMs;
}

export const DEFAULT_RATE_LIMIT: RateLimit = { perSecond: 5, concurrent: 20, longestBackoff: minutes(5) };

export interface FinalizerRule {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly finalizerName: string;
  readonly cleanup: Cleanup;
  /** From the deletion on. */
  readonly deadline: DurationMs | undefined;
  readonly onDeadline: OnDeadline;
  readonly rateLimit: RateLimit;
}
