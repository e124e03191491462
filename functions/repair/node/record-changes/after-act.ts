/**
 * Decides what follows an act: what the record keeps, so that a refused one is retried ever less often, when the node is
 * looked at again, and which action is next. The backoff of the kernel (`createBackoff`) decides at the call whether a change
 * waits; the ladder has to know before, since another action may then have its turn. Pure.
 */
import type { Attempt } from '../attempt-record.ts';
import type { LaunchPause } from '../../pool-record.ts';
import type { NodeRecord, RepairLeftovers } from '../record.ts';
import { judgeTime, withAcceptedAttempt, withoutAttempt } from '../rule/attempt.ts';
import { withSkippedLaunch } from '../rule/incident.ts';
import { isWaitedFor, longestWait, nextAction } from '../rule/next-action.ts';
import { AT_ONCE, type DueVerdict, FOLLOW_CHECK, type LadderAction, LAUNCH_CHECK } from '../rule/verdict.ts';
import type { Finding } from '../rule/finding.ts';
import { formatDuration } from '../../../../shared/domain/go-duration.ts';
import { noteRefusal, type RefusalCause, type Refusals, textOfRefusal } from '../../../../shared/domain/refusal.ts';
import { addDuration, earliest, type EpochMs } from '../../../../shared/domain/time.ts';

/** Change of a node's finding by its act. */
export interface FindingChange {
  readonly change: Partial<Pick<Finding, 'record' | 'verdict' | 'attemptState'>>;
  readonly nextLookTime: EpochMs | undefined;
}

/** An act with what it has made. @property record with the intent */
interface EndedAct {
  readonly granted: {
    readonly attempt: Attempt;
    readonly finding: { readonly record: NodeRecord; readonly verdict: Pick<DueVerdict, 'unfinished'> };
  };
  readonly record: NodeRecord;
  readonly made: Partial<RepairLeftovers>;
}

/** Outcome of an act that was not refused. @property refusals refusals of the record, if this outcome is one more */
type UnrefusedOutcome =
  | { readonly kind: 'accepted'; readonly attempt: Attempt; readonly ladder: readonly LadderAction[] }
  | { readonly kind: 'overtaken' | 'calledOff' }
  | { readonly kind: 'unknown'; readonly refusals?: Refusals };

/**
 * The record and the next look after an act that was not refused (I4). The next pass comes at once if nothing was done.
 * If the outcome is unknown, it waits until this run must be over.
 */
export function afterAct(
  outcome: UnrefusedOutcome,
  { granted: { attempt, finding }, record, made }: EndedAct,
  now: EpochMs,
): FindingChange {
  const before = finding.record;
  const withMade: NodeRecord =
    Object.keys(made).length === 0 ? record : { ...record, leftovers: { ...record.leftovers, ...made } };
  const nextLookTime = addDuration(now, attempt.action === 'Replace' ? LAUNCH_CHECK : FOLLOW_CHECK);
  switch (outcome.kind) {
    case 'accepted':
      return { change: { record: withAcceptedAttempt(withMade, outcome.attempt, outcome.ladder) }, nextLookTime };
    case 'overtaken':
      // Somebody else's act is not recorded as ours.
      return { change: { record: { ...before, attempt: undefined } }, nextLookTime };
    case 'unknown': {
      const { refusals } = outcome;
      return { change: { record: { ...withMade, ...(refusals && { refusals }) } }, nextLookTime: judgeTime(attempt) };
    }
    case 'calledOff': {
      const ownLeftovers = finding.verdict.unfinished ? record.leftovers : before.leftovers;
      // We may have set the annotation before the NodeClaim changed: keep it as ours to take back (I7).
      const leftovers =
        attempt.action === 'Terminate'
          ? withoutAttempt({ ...record, leftovers: ownLeftovers }, attempt).leftovers
          : ownLeftovers;
      const kept = { ...before, number: record.number, leftovers };
      const attemptState = before.attempt === undefined ? 'failed' : 'hasTime';
      return {
        change: { record: kept, verdict: undefined, attemptState },
        nextLookTime: addDuration(now, AT_ONCE),
      };
    }
  }
}

export interface RefusedAct {
  readonly now: EpochMs;
  readonly attempt: Attempt;
  readonly action: LadderAction;
  /** Actions that follow in its list. */
  readonly laterActions: readonly LadderAction[];
  /** Record as it was before the act. */
  readonly before: NodeRecord;
  /**
   * Whether the act certainly had no effect. Otherwise it may have had one, and is reported only if it keeps failing.
   */
  readonly isCertain: boolean;
  readonly cause: RefusalCause;
  readonly message: string;
  /** Hash of the settings and NodeClaim fields that a try rests on. */
  readonly basis: string;
}

/** The refusal as the record keeps it, and how it is reported. */
export interface NotedRefusal {
  readonly refusals: Refusals;
  /** Kind of report for the refusal; undefined: it is no news. */
  readonly reportKind: ReturnType<typeof noteRefusal>['reportKind'];
  readonly text: string;
  /** The refusal is likely to pass, and the same action is tried again. */
  readonly keepsTurn: boolean;
  /**
   * The act was the launch of a replacement, which is skipped in this incident. The pool's pause says when it launches
   * again.
   */
  readonly isSkipped: boolean;
}

export function noteRefusedAct(refused: RefusedAct): NotedRefusal {
  const { now, attempt, action, before, isCertain, cause, message, basis } = refused;
  const { key } = attempt;
  const why = { cause, message, basis, now };
  const { refusal, reportKind } = noteRefusal(before.refusals, key, why, { isReportedAtOnce: isCertain });
  const keepsTurn = isWaitedFor(refusal, action);
  // A missing permission is no fault of this launch: it is tried each minute, like any other act.
  const isSkipped = attempt.action === 'Replace' && !keepsTurn && cause !== 'permission';
  const text = isSkipped ? message : (whatFollows(refused, keepsTurn) ?? textOfRefusal(refusal));
  return { refusals: { ...before.refusals, [key]: refusal }, reportKind, text, keepsTurn, isSkipped };
}

/**
 * The message if another action follows, since none is then tried again for long; undefined: the act is tried again
 * until it is accepted.
 */
function whatFollows({ action, laterActions, isCertain, message }: RefusedAct, keepsTurn: boolean): string | undefined {
  const [next] = laterActions;
  if (next === undefined || !isCertain) return undefined;
  return keepsTurn
    ? `${message}; it is tried again for ${formatDuration(longestWait(action))}, then ${next.type} follows`
    : `${message}; ${next.type} follows`;
}

/** The node after its act was refused. */
export interface AfterRefusedAct {
  readonly record: NodeRecord;
  readonly attemptState: Finding['attemptState'];
  readonly nextLookTime: EpochMs;
}

/**
 * Ends an attempt that certainly was not carried out; another action may have its turn.
 * @param record with the intent
 */
export function afterRefusedAct(
  { now, attempt, before, basis }: RefusedAct,
  { refusals, isSkipped }: Pick<NotedRefusal, 'refusals' | 'isSkipped'>,
  {
    record,
    ladder,
    pause,
  }: {
    readonly record: NodeRecord;
    readonly ladder: readonly LadderAction[];
    readonly pause: LaunchPause | undefined;
  },
): AfterRefusedAct {
  const over = withoutAttempt({ ...before, attempt }, attempt);
  const { incident } = over;
  const undone: NodeRecord = {
    ...over,
    leftovers: { ...record.leftovers, ...over.leftovers },
    number: record.number,
    launched: record.launched,
    refusals,
    ...(isSkipped && incident && { incident: withSkippedLaunch(incident, attempt.key) }),
    attempt: before.attempt,
  };
  const next = nextAction(
    {
      ladder,
      taken: incident?.taken ?? [],
      acts: undone.acts,
      refusals: undone.refusals,
      basis,
      skippedLaunches: undone.incident?.skippedLaunches,
      launchesFrom: pause?.until,
    },
    now,
  );
  const isNext = next.kind === 'next';
  const attemptState = isNext && before.attempt !== undefined ? 'hasTime' : 'failed';
  // Its slot is free: others look at once.
  const nextLookTime = earliest(isNext ? undefined : next.until, addDuration(now, AT_ONCE));
  return { record: undone, attemptState, nextLookTime };
}
