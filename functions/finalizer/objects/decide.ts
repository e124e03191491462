/**
 * The rule of FinalizerRules: what one object needs now (I1). Pure: no I/O, no clock.
 */
import { notRestoredBefore, type Effort } from '../../../shared/domain/effort.ts';
import type { FinalizerRule, RateLimit } from '../../../shared/domain/finalizer-rule.ts';
import { RUN_ENDS_WITHIN } from '../../../shared/domain/run-end.ts';
import { addDuration, earliest, hours, isDue, minutes, retryWait, type EpochMs } from '../../../shared/domain/time.ts';

/** What the ledger says of the object. */
export interface ObservedEntry {
  readonly phase: 'held' | 'intended' | 'pending' | 'failed' | 'cleaned' | 'orphaned';
  readonly attempts: number;
  readonly time: EpochMs;
  /** When the next call may be made, whatever the phase: its place in the queue of the rule. */
  readonly slotTime?: EpochMs;
  /** The finalizer was put back. */
  readonly effort?: Effort;
}

export interface ObjectObservation {
  readonly now: EpochMs;
  readonly rule: FinalizerRule;
  /** The rule itself is being deleted: living objects are set free. */
  readonly isRuleTerminating: boolean;
  /** undefined: it is gone. `outOfSight`: its kind is defined, and not served in the version that the rule names. */
  readonly object:
    { readonly hasFinalizer: boolean; readonly deletionTime: EpochMs | undefined } | 'outOfSight' | undefined;
  readonly entry: ObservedEntry | undefined;
  /** Whether this run noted the intended call down. */
  readonly isOwnIntent: boolean;
  /** False: the rule is in conflict or refused, and only cleans up what carries its finalizer. */
  readonly addsFinalizer: boolean;
}

export type ObjectDecision =
  | { readonly kind: 'ignore' }
  /** Put the finalizer on, the ledger first. */
  | { readonly kind: 'hold' }
  /** Look again then: the ledger is compared with the cluster once a day. */
  | { readonly kind: 'watch'; readonly until: EpochMs }
  /** Take it off a living object. */
  | { readonly kind: 'free' }
  /** Note the next call down. */
  | { readonly kind: 'intend' }
  | { readonly kind: 'call' }
  | { readonly kind: 'wait'; readonly until: EpochMs; readonly isOverdue: boolean }
  /** `cleaned`: I1; `deadline`: the user asked for it. */
  | { readonly kind: 'release'; readonly because: 'cleaned' | 'deadline' }
  | { readonly kind: 'orphan' }
  | { readonly kind: 'close' };

/** An object that lives, and an orphan, is looked at this often. */
export const LEDGER_CHECK = hours(24);
/** A worker that has not answered is asked again with the same key. */
const WORKER_RETRY_AFTER = minutes(10);
/** One that waits for its clean-up is looked for this often while it is out of sight. */
const UNSEEN_OBJECT_CHECK = minutes(5);

/** Without a deadline somebody should look after a day, as at a termination. */
const OVERDUE_WITHOUT_DEADLINE = hours(24);

const isUnderWay = ({ phase, slotTime }: ObservedEntry): boolean =>
  phase === 'held' ? slotTime !== undefined : phase !== 'orphaned';

/**
 * The finalizer goes after the clean-up has succeeded, at the deadline of a rule with `onDeadline: Release`, or from
 * living objects of a rule that is deleted; nothing else releases it.
 */
export function decide(observation: ObjectObservation): ObjectDecision {
  const { object, entry, rule, isRuleTerminating, now } = observation;
  if (object === 'outOfSight') {
    if (entry === undefined) return { kind: 'ignore' };
    return { kind: 'watch', until: addDuration(now, isUnderWay(entry) ? UNSEEN_OBJECT_CHECK : LEDGER_CHECK) };
  }
  if (object === undefined) {
    if (entry === undefined) return { kind: 'ignore' };
    if (entry.phase === 'cleaned') return { kind: 'close' };
    return entry.phase === 'orphaned' ? { kind: 'watch', until: addDuration(now, LEDGER_CHECK) } : { kind: 'orphan' };
  }
  if (object.deletionTime === undefined) {
    if (isRuleTerminating) return object.hasFinalizer || entry !== undefined ? { kind: 'free' } : { kind: 'ignore' };
    if (!object.hasFinalizer && !observation.addsFinalizer) return { kind: entry === undefined ? 'ignore' : 'close' };
    if (object.hasFinalizer && entry !== undefined) return { kind: 'watch', until: addDuration(now, LEDGER_CHECK) };
    const until = object.hasFinalizer ? undefined : notRestoredBefore(entry?.effort, now);
    return until === undefined ? { kind: 'hold' } : { kind: 'watch', until };
  }
  if (!object.hasFinalizer) {
    if (entry === undefined || entry.phase === 'orphaned') return { kind: 'ignore' };
    return entry.phase === 'cleaned' ? { kind: 'close' } : { kind: 'orphan' };
  }
  if (entry?.phase === 'cleaned') return { kind: 'release', because: 'cleaned' };

  const end = rule.deadline === undefined ? undefined : addDuration(object.deletionTime, rule.deadline);
  const isOver = end !== undefined && isDue(now, end);
  if (isOver && rule.onDeadline === 'Release') return { kind: 'release', because: 'deadline' };
  const overdueTime = end ?? addDuration(object.deletionTime, OVERDUE_WITHOUT_DEADLINE);
  const isOverdue = isDue(now, overdueTime);
  const wait = (until: EpochMs): ObjectDecision => ({
    kind: 'wait',
    until: isOverdue ? until : earliest(until, overdueTime),
    isOverdue,
  });
  if (entry === undefined || (entry.phase === 'held' && entry.slotTime === undefined)) return { kind: 'intend' };
  if (entry.phase === 'intended' && observation.isOwnIntent) return { kind: 'call' };
  const next = nextCall(entry, rule.rateLimit);
  return isDue(now, next) ? { kind: 'intend' } : wait(next);
}

function nextCall({ phase, time, attempts, slotTime }: ObservedEntry, { longestBackoff }: RateLimit): EpochMs {
  switch (phase) {
    case 'intended':
      return addDuration(time, RUN_ENDS_WITHIN);
    case 'pending':
      return addDuration(time, WORKER_RETRY_AFTER);
    case 'failed':
    case 'held':
    case 'cleaned':
    case 'orphaned':
      return slotTime ?? addDuration(time, retryWait(attempts, longestBackoff));
  }
}
