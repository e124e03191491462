/** The deadline of a FinalizerRule, which may release an object without its clean-up (I1). Pure. */
import type { ObservedEntry } from './entry.ts';
import type { FinalizerRule } from '../../../../shared/domain/finalizer-rule.ts';
import { inboxReadTime } from '../../../../shared/domain/run-end.ts';
import { addDuration, type EpochMs, isDue } from '../../../../shared/domain/time.ts';

/** Time when the deadline releases the object. A worker that was asked after it has as long to answer as a message may wait in the inbox. */
export const releaseTime = (entry: ObservedEntry | undefined, deadline: EpochMs): EpochMs =>
  entry?.phase === 'pending' && entry.time > deadline ? inboxReadTime(entry.time) : deadline;

/** Whether the deadline that releases the object has passed. */
export function isPastRelease({
  now,
  rule,
  object,
}: {
  readonly now: EpochMs;
  readonly rule: FinalizerRule;
  readonly object: { readonly deletionTime: EpochMs | undefined } | 'notServed' | undefined;
}): boolean {
  if (rule.onDeadline === 'Keep' || object === 'notServed' || object?.deletionTime === undefined) return false;
  const deadline = deadlineOf(rule, object.deletionTime);
  return deadline !== undefined && isDue(now, deadline);
}

export const deadlineOf = ({ deadline }: FinalizerRule, deletionTime: EpochMs): EpochMs | undefined =>
  deadline === undefined ? undefined : addDuration(deletionTime, deadline);

/**
 * Whether Curfew itself is late: a call that was due before the deadline has not been made, or its answer is not there yet. The object is not
 * released before (I1).
 */
export function isCallOwed(
  entry: ObservedEntry | undefined,
  next: EpochMs | undefined,
  deadline: EpochMs,
  now: EpochMs,
): boolean {
  if (entry === undefined || next === undefined || isDue(deadline, next)) return true;
  if (entry.phase === 'finalizerAdded') return entry.time > deadline;
  return entry.phase === 'intended' && !isDue(now, next);
}
