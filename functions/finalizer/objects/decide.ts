/**
 * The rule of FinalizerRules: the next act that one object needs (I1). Pure: no I/O, no clock.
 *
 * | question | function | in | asked by |
 * |---|---|---|---|
 * | what the object needs now | `decide` | `decide.ts` | `reconcile.ts` |
 * | when its clean-up is called | `reserveCallTime` | `rule/call-queue.ts` | `reconcile.ts` |
 */
import { notRestoredBefore, type Effort } from '../../../shared/domain/effort.ts';
import type { FinalizerRule, RateLimit } from '../../../shared/domain/finalizer-rule.ts';
import { inboxReadTime, isLateLook, RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import {
  addDuration,
  earliest,
  hours,
  isDue,
  minutes,
  retryWait,
  type DurationMs,
  type EpochMs,
} from '../../../shared/domain/time.ts';

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

export interface ObservedState {
  readonly hasFinalizer: boolean;
  readonly deletionTime: EpochMs | undefined;
}

export interface ObjectObservation<
  Entry extends ObservedEntry = ObservedEntry,
  State extends ObservedState = ObservedState,
> {
  readonly now: EpochMs;
  readonly rule: FinalizerRule;
  /** The FinalizerRule itself is being deleted: living objects are set free. */
  readonly isFinalizerRuleTerminating: boolean;
  /** The object; undefined: it is gone. `notServed`: its kind is defined, and not served in the version that the FinalizerRule names. */
  readonly object: State | 'notServed' | undefined;
  readonly entry: Entry | undefined;
  /** Whether this run noted the intended call down. */
  readonly isOwnIntent: boolean;
  /** False: the FinalizerRule is in conflict or refused, and only cleans up what carries its finalizer. */
  readonly addsFinalizer: boolean;
}

/** The decision about the object and its entry, which are as they were observed. */
export type ObjectDecision<Entry extends ObservedEntry = ObservedEntry, State extends ObservedState = ObservedState> =
  | { readonly kind: 'ignore' }
  /** The finalizer is put on, the ledger first. */
  | { readonly kind: 'addFinalizer'; readonly object: State }
  /** The ledger is compared with the cluster again at `until`: once a day. */
  | { readonly kind: 'watch'; readonly entry: Entry; readonly until: EpochMs }
  /** The finalizer comes off a living object. */
  | { readonly kind: 'free'; readonly object: State }
  /** The next call is noted down. */
  | { readonly kind: 'intend' }
  | { readonly kind: 'call'; readonly entry: Entry }
  | { readonly kind: 'wait'; readonly entry: Entry; readonly until: EpochMs; readonly isOverdue: boolean }
  /** `cleaned`: I1; `deadline`: the user asked for it. */
  | { readonly kind: 'release'; readonly object: State; readonly because: 'cleaned' | 'deadline' }
  | { readonly kind: 'orphan' }
  | { readonly kind: 'close' };

/** Time between looks at an object that lives, and at an orphan. */
export const LEDGER_CHECK = hours(24);
/** Time after which a worker that has not answered is asked again, with the same key. */
const WORKER_RETRY_AFTER = minutes(10);
/** Time between looks for an object that waits for its clean-up while it is not served. */
const UNSEEN_OBJECT_CHECK = minutes(5);

/** Time after which somebody should look where there is no deadline, as at a termination. */
const OVERDUE_WITHOUT_DEADLINE = hours(24);

const isUnderWay = (entry: ObservedEntry): boolean =>
  entry.phase === 'finalizerAdded' ? entry.callTime !== undefined : entry.phase !== 'orphaned';

/**
 * Decides about an object. The finalizer goes after the clean-up has succeeded, at the deadline of a FinalizerRule with `onDeadline: Release`, or
 * from living objects of a FinalizerRule that is deleted; nothing else releases it.
 */
export function decide<Entry extends ObservedEntry, State extends ObservedState>(
  observation: ObjectObservation<Entry, State>,
): ObjectDecision<Entry, State> {
  const { object, entry, rule, isFinalizerRuleTerminating, now } = observation;
  const watch = (watched: Entry, period: DurationMs = LEDGER_CHECK): ObjectDecision<Entry, State> => ({
    kind: 'watch',
    entry: watched,
    until: addDuration(now, period),
  });
  if (object === 'notServed') {
    if (entry === undefined) return { kind: 'ignore' };
    return watch(entry, isUnderWay(entry) ? UNSEEN_OBJECT_CHECK : LEDGER_CHECK);
  }
  if (object === undefined) {
    if (entry === undefined) return { kind: 'ignore' };
    if (entry.phase === 'cleaned') return { kind: 'close' };
    return isReportedOrphan(entry) ? watch(entry) : { kind: 'orphan' };
  }
  if (object.deletionTime === undefined) {
    const { hasFinalizer } = object;
    if (isFinalizerRuleTerminating)
      return hasFinalizer || entry !== undefined ? { kind: 'free', object } : { kind: 'ignore' };
    if (!hasFinalizer && !observation.addsFinalizer) return { kind: entry === undefined ? 'ignore' : 'close' };
    if (entry === undefined) return { kind: 'addFinalizer', object };
    if (hasFinalizer) return watch(entry);
    const until = notRestoredBefore(entry.effort, now);
    return until === undefined ? { kind: 'addFinalizer', object } : { kind: 'watch', entry, until };
  }
  if (!object.hasFinalizer) {
    if (entry === undefined || isReportedOrphan(entry)) return { kind: 'ignore' };
    return entry.phase === 'cleaned' ? { kind: 'close' } : { kind: 'orphan' };
  }
  if (entry?.phase === 'cleaned') return { kind: 'release', object, because: 'cleaned' };

  const deadline = deadlineOf(rule, object.deletionTime);
  const next = entry && nextCallTime(entry, rule.rateLimit);
  const end = deadline !== undefined && rule.onDeadline === 'Release' ? releaseTime(entry, deadline) : undefined;
  if (deadline !== undefined && end !== undefined) {
    if (entry?.phase === 'pending' && isLateLook(now, end)) return { kind: 'intend' };
    if (isDue(now, end) && !isCallOwed(entry, next, deadline, now))
      return { kind: 'release', object, because: 'deadline' };
  }
  if (entry === undefined) return { kind: 'intend' };
  if (entry.phase === 'intended' && observation.isOwnIntent) return { kind: 'call', entry };
  if (next === undefined || isDue(now, next)) return { kind: 'intend' };
  const overdueTime = deadline ?? addDuration(object.deletionTime, OVERDUE_WITHOUT_DEADLINE);
  const isOverdue = isDue(now, overdueTime);
  const endAhead = end === undefined || isDue(now, end) ? undefined : end;
  return { kind: 'wait', entry, until: earliest(next, isOverdue ? endAhead : overdueTime), isOverdue };
}

/** Time when the deadline releases the object. A worker that was asked after it has as long to answer as a message may wait in the inbox. */
const releaseTime = (entry: ObservedEntry | undefined, deadline: EpochMs): EpochMs =>
  entry?.phase === 'pending' && entry.time > deadline ? inboxReadTime(entry.time) : deadline;

/** Whether the deadline that releases the object has passed. */
export function isPastRelease({ now, rule, object }: ObjectObservation): boolean {
  if (rule.onDeadline === 'Keep' || object === 'notServed' || object?.deletionTime === undefined) return false;
  const deadline = deadlineOf(rule, object.deletionTime);
  return deadline !== undefined && isDue(now, deadline);
}

const deadlineOf = ({ deadline }: FinalizerRule, deletionTime: EpochMs): EpochMs | undefined =>
  deadline === undefined ? undefined : addDuration(deletionTime, deadline);

/** Whether it was reported that the object went without its clean-up. */
export const isReportedOrphan = (entry: { readonly phase: string; readonly unreported?: true }): boolean =>
  entry.phase === 'orphaned' && entry.unreported !== true;

/**
 * Whether Curfew itself is late: a call that was due before the deadline has not been made, or its answer is not there yet. The object is not
 * released before (I1).
 */
function isCallOwed(
  entry: ObservedEntry | undefined,
  next: EpochMs | undefined,
  deadline: EpochMs,
  now: EpochMs,
): boolean {
  if (entry === undefined || next === undefined || isDue(deadline, next)) return true;
  if (entry.phase === 'finalizerAdded') return entry.time > deadline;
  return entry.phase === 'intended' && !isDue(now, next);
}

/** Time when the next call may be made; undefined: now. */
function nextCallTime(
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
