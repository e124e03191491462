/**
 * The rule of FinalizerRules: the next act that one object needs (I1). Pure: no I/O, no clock.
 *
 * | question | function | in | asked by |
 * |---|---|---|---|
 * | what the object needs now | `decide` | `decide.ts` | `reconcile.ts` |
 * | when its clean-up is called | `reserveCallTime` | `rule/call-queue.ts` | `reconcile.ts` |
 */
import { deadlineOf, isCallOwed, releaseTime } from './rule/deadline.ts';
import { isReportedOrphan, isUnderWay, nextCallTime, type ObservedEntry } from './rule/entry.ts';
import { notRestoredBefore } from '../../../shared/domain/effort.ts';
import type { FinalizerRule } from '../../../shared/domain/finalizer-rule.ts';
import { isLateLook } from '../../../shared/domain/run-end.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  hours,
  isDue,
  minutes,
} from '../../../shared/domain/time.ts';

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
/** Time between looks for an object that waits for its clean-up while it is not served. */
const UNSEEN_OBJECT_CHECK = minutes(5);

/** Time after which somebody should look where there is no deadline, as at a termination. */
const OVERDUE_WITHOUT_DEADLINE = hours(24);

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
