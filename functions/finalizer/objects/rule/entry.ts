/** An entry of the ledger: what it says of the clean-up of its object, and when the next call may be made. Pure. */
import type { Effort } from '../../../../shared/domain/effort.ts';
import type { RateLimit } from '../../../../shared/domain/finalizer-rule.ts';
import { RUN_ENDS_WITHIN } from '../../../../shared/domain/run-end.ts';
import { addDuration, type EpochMs, minutes, retryWait } from '../../../../shared/domain/time.ts';

/** The object's entry in the ledger. `callTime`: when its call may be made, by the queue of the FinalizerRule; `effort`: the finalizer was put back. */
export type ObservedEntry = { readonly effort?: Effort } &
  /** With a `callTime`: the object has queued since `time`. */
  (
    | { readonly phase: 'finalizerAdded'; readonly time: EpochMs; readonly callTime?: EpochMs }
    /** A call was noted down then, or a worker has been at it since then. */
    | { readonly phase: 'intended' | 'pending'; readonly time: EpochMs }
    | {
        readonly phase: 'failed' | 'orphaned';
        readonly time: EpochMs;
        readonly attempts: number;
        readonly callTime?: EpochMs;
        readonly unreported?: true;
      }
    | { readonly phase: 'cleaned' }
  );

/** Whether a call is to be made, or was. */
export const isUnderWay = (entry: ObservedEntry): boolean =>
  entry.phase === 'finalizerAdded' ? entry.callTime !== undefined : entry.phase !== 'orphaned';

/** Whether it was reported that the object went without its clean-up. */
export const isReportedOrphan = (entry: { readonly phase: string; readonly unreported?: true }): boolean =>
  entry.phase === 'orphaned' && entry.unreported !== true;

/** Time after which a worker that has not answered is asked again, with the same key. */
const WORKER_RETRY_AFTER = minutes(10);

/** Time when the next call may be made; undefined: now. */
export function nextCallTime(
  entry: Exclude<ObservedEntry, { readonly phase: 'cleaned' }>,
  { longestBackoff }: RateLimit,
): EpochMs | undefined {
  switch (entry.phase) {
    case 'finalizerAdded':
      return entry.callTime;
    case 'intended':
      return addDuration(entry.time, RUN_ENDS_WITHIN);
    case 'pending':
      return addDuration(entry.time, WORKER_RETRY_AFTER);
    case 'failed':
    case 'orphaned':
      return entry.callTime ?? addDuration(entry.time, retryWait(entry.attempts, longestBackoff));
  }
}
