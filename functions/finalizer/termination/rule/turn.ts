/**
 * A turn of a termination: whether one is under way or has lost its finalizer, its reports before the steps, and its end when they wait. Pure: no
 * I/O, no clock.
 */
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import type { Deadline } from '../../../../shared/domain/termination.ts';
import {
  addDuration,
  durationBetween,
  earliest,
  hours,
  isDue,
  minutes,
  toDurationMs,
  toTimestamp,
  whileAhead,
  type DurationMs,
  type EpochMs,
} from '../../../../shared/domain/time.ts';
import type { LastReport, TerminationRecord } from '../record.ts';
import { isLive } from './objects.ts';

/** Whether a termination is under way: it waits for nobody, and it is no mere note of another one's hooks. */
export const hasBegun = ({ waits, reportState }: Pick<TerminationRecord, 'waits' | 'reportState'>): boolean =>
  waits.length === 0 && reportState.kind !== 'hookOwner';

/** Whether its termination had begun, and nothing of ours holds what is left of it: this run's predecessor let it go, or a person did. */
export const hasLostFinalizer = ({
  stored,
  object,
}: {
  readonly stored: Pick<TerminationRecord, 'waits' | 'reportState'> | undefined;
  readonly object: KubernetesObject;
}): boolean => stored !== undefined && hasBegun(stored) && !isLive(object);

/**
 * Report before the steps. `start`: the termination has begun; `force`: its deadline has come; `deadline`: its deadline is another than was said;
 * `badTimestamp`: the deadline annotation cannot be read.
 */
export type Announcement =
  | { readonly kind: 'start' | 'force'; readonly report: LastReport }
  /** Timestamps; empty: none. */
  | { readonly kind: 'deadline'; readonly before: string; readonly now: string }
  | { readonly kind: 'badTimestamp'; readonly shown: string };

/** The deadline as reports state it; empty: none. */
export const deadlineText = (deadline: Deadline | undefined): string =>
  deadline === undefined ? '' : toTimestamp(deadline.time);

/** The next report before the steps, one at a time: each is in the record before the next. undefined: nothing is new. */
export function nextAnnouncement(
  {
    reportState,
    badTimestamp,
    reportedDeadline,
  }: Pick<TerminationRecord, 'reportState' | 'badTimestamp' | 'reportedDeadline'>,
  {
    isForced,
    shown,
    deadline,
  }: { readonly isForced: boolean; readonly shown: string | undefined; readonly deadline: Deadline | undefined },
): Announcement | undefined {
  const now = deadlineText(deadline);
  if (reportState.kind !== 'reported') return { kind: 'start', report: { isForced: false, text: 'started' } };
  if (isForced && !reportState.last.isForced) return { kind: 'force', report: { isForced, text: '' } };
  if (reportedDeadline !== undefined && reportedDeadline !== now)
    return { kind: 'deadline', before: reportedDeadline, now };
  return shown === undefined || shown === badTimestamp ? undefined : { kind: 'badTimestamp', shown };
}

/** Role of a step in a termination: it ends all, ends the instance, or deletes its objects. Absent: it is on the way. */
export type StepRole = 'end' | 'instance' | 'deletion';

/**
 * The end of the turn when a step is refused or fails. `passOver`: past the deadline it goes on without it. `passUntilEnd`: up to the steps that
 * end all, which cannot go on without it. Only EC2 knows whether the instance has ended, and no finalizer comes off before (I1).
 */
export function afterFailedStep(role: StepRole | undefined, isForced: boolean): 'stop' | 'passOver' | 'passUntilEnd' {
  if (!isForced || role === 'end' || role === 'instance') return 'stop';
  return role === 'deletion' ? 'passUntilEnd' : 'passOver';
}

export interface WaitObservation {
  readonly now: EpochMs;
  /** Deletion time of the object that is terminated; undefined: nobody says. */
  readonly deletion: EpochMs | undefined;
  readonly deadline: Deadline | undefined;
  readonly isForced: boolean;
  readonly record: Pick<TerminationRecord, 'reportState' | 'overdue'>;
  readonly step: string;
  /** The reason of the wait, in words. */
  readonly on: string;
  readonly until: EpochMs | undefined;
}

/** The end of a turn whose steps wait. */
export interface TurnWait {
  readonly wakeTime: EpochMs;
  readonly report: LastReport;
  /** The wait was not reported yet. */
  readonly isNew: boolean;
  /** Somebody should look from now on. */
  readonly becomesOverdue: boolean;
}

/** Time after which a termination is looked at again, whatever it waits for (I5). */
const SAFETY_NET = minutes(5);

export function waitOfTurn({ now, deletion, deadline, isForced, record, ...wait }: WaitObservation): TurnWait {
  const { reportState, overdue } = record;
  const text = `${wait.step}: ${wait.on}`;
  const isReported =
    reportState.kind === 'reported' && reportState.last.isForced === isForced && reportState.last.text === text;
  const atDeadline = whileAhead(now, deadline?.time);
  return {
    wakeTime: earliest(earliest(wait.until, atDeadline), addDuration(now, SAFETY_NET)),
    report: { isForced, text },
    isNew: !isReported,
    becomesOverdue: overdue !== true && isDue(now, overdueTime(deletion ?? now, deadline?.time)),
  };
}

/** Time past its deadline after which somebody should look; without a deadline it is a day. */
const OVERDUE_AFTER_DEADLINE = minutes(15);
const OVERDUE_WITHOUT_DEADLINE = hours(24);

function overdueTime(deletion: EpochMs, deadline: EpochMs | undefined): EpochMs {
  if (deadline === undefined) return addDuration(deletion, OVERDUE_WITHOUT_DEADLINE);
  return addDuration(deadline < deletion ? deletion : deadline, OVERDUE_AFTER_DEADLINE);
}

export interface LookBounds {
  readonly least: DurationMs;
  readonly most: DurationMs;
  /** Share of the time that it has taken so far; 1 when absent: each wait is twice the one before. */
  readonly share?: number;
}

/** Time of the next look: after a share of the time that it has taken so far, between these bounds. */
export function nextLook(since: EpochMs, now: EpochMs, { least, most, share = 1 }: LookBounds): EpochMs {
  const soFar = durationBetween(since, now) * share;
  return addDuration(now, toDurationMs(Math.min(Math.max(soFar, least), most)));
}
