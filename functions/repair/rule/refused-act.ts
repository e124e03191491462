/**
 * Decides what follows a refused act: what the record keeps, so that it is retried ever less often, and which action is
 * next. Tries of the kernel (`createTries`) decide at the call whether a change waits; the ladder has to know before,
 * since another action may then have its turn. Pure.
 */
import type { Attempt } from '../attempt-record.ts';
import type { LaunchPause } from '../pool-record.ts';
import type { NodeRecord } from '../node-record.ts';
import { withoutAttempt } from './attempt.ts';
import { withSkipped } from './incident.ts';
import { isWaitedFor, longestWait, nextAction } from './next-action.ts';
import type { LadderAction } from './verdict.ts';
import type { FindingWithState } from './finding.ts';
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import { noteRefusal, type RefusalCause, type Refusals, textOfRefusal } from '../../../shared/domain/refusal.ts';
import { addDuration, earliest, type EpochMs, seconds } from '../../../shared/domain/time.ts';

/** A node whose act was not carried out is looked at again after this long, and others may take its slot. */
export const LOOK_AGAIN_AFTER = seconds(1);

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
  const isSkipped = attempt.action === 'Replace' && !keepsTurn;
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

/** State of the node after its act was refused. */
export interface AfterRefusedAct {
  readonly record: NodeRecord;
  readonly state: FindingWithState['state'];
  readonly time: EpochMs;
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
    ...(isSkipped ? { incident: incident && withSkipped(incident, attempt.key) } : { refusals }),
    attempt: before.attempt,
  };
  const next = nextAction(
    {
      ladder,
      taken: incident?.taken ?? [],
      acts: undone.acts,
      refusals: undone.refusals,
      basis,
      skipped: undone.incident?.skipped,
      launchesFrom: pause?.until,
    },
    now,
  );
  const isNext = next.kind === 'next';
  const state = isNext && before.attempt !== undefined ? 'inFlight' : 'followed';
  // Its slot is free: others look at once.
  const time = earliest(isNext ? undefined : next.until, addDuration(now, LOOK_AGAIN_AFTER));
  return { record: undone, state, time };
}
