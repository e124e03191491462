/**
 * Judges an attempt that has launched a replacement: it waits for it, gives it up, or terminates the unhealthy node.
 * Pure.
 */
import { isWanted, judgeRecovered, judgeWithoutAttempt } from './attempt-end.ts';
import { withoutAttempt, withoutTakenBackLaunch } from './attempt.ts';
import { type Finding, findingOf, findingUnderWay } from './finding.ts';
import { withSkippedLaunch } from './incident.ts';
import { judgeByLadder } from './ladder-verdict.ts';
import { allActionsOf, hasLaunch, terminationOfReplaced } from './ladder.ts';
import { refusedUntil, retryText } from './next-action.ts';
import type { NodeFacts } from './node-facts.ts';
import { isInUse, pauseAfterFailure, replacementStatusOf } from './replacement.ts';
import { LAUNCH_CHECK, type OwnDueVerdict } from './verdict.ts';
import type { AttemptOf, Replacement } from '../attempt-record.ts';
import { formatDuration } from '../../../../shared/domain/go-duration.ts';
import { addDuration, earliest, isDue, toDurationMs, toTimestamp } from '../../../../shared/domain/time.ts';

/**
 * Judges an attempt whose replacement was launched: repair waits for it, gives it up, or terminates the unhealthy node.
 */
export function judgeReplacing(facts: NodeFacts, attempt: AttemptOf<'Replace'>): Finding {
  const { context, node, isUnhealthy } = facts;
  const { now } = context;
  const replacement = facts.record.leftovers?.replacement ?? attempt.replacement;
  const { name } = replacement;
  const status = replacementStatusOf(replacement, context);
  const isReleased = isInUse(replacement, status);
  const record = { ...facts.record, attempt };
  const current = { ...facts, record };
  const isPoolGone = context.isPoolGone && !isReleased;
  if (!isUnhealthy || !isWanted(facts) || isPoolGone) return judgeTakenBack(current, attempt, name, isReleased);
  const check = addDuration(now, LAUNCH_CHECK);
  switch (status.kind) {
    case 'gone':
      return judgeFailedLaunch(
        facts,
        attempt,
        `NodeClaim ${name} is gone: ${isReleased ? '' : 'Karpenter has no capacity for it, or '}it was deleted`,
      );
    case 'launching':
    case 'unready': {
      // Past the point of no return nothing is given up. Our intent to take its taint off names its Node.
      if (isReleased && (replacement.node !== undefined || isDue(now, attempt.until)))
        return judgeOpened(current, attempt, replacement);
      if (isDue(now, attempt.until)) {
        const had = formatDuration(toDurationMs(attempt.until - attempt.time));
        return judgeFailedLaunch(facts, attempt, `NodeClaim ${name} is not ready after ${had}`);
      }
      const message = `NodeClaim ${name} is being launched, since ${toTimestamp(attempt.time)}, until ${toTimestamp(attempt.until)}`;
      return findingUnderWay(record, { kind: 'underWay', node, message }, earliest(attempt.until, check));
    }
    case 'ready':
      return judgeOpened(current, attempt, { ...replacement, node: status.node.name });
  }
}

/** Judges an attempt whose replacement is ready, or in use: the unhealthy node may go, unless something about it forbids that. */
function judgeOpened(facts: NodeFacts, attempt: AttemptOf<'Replace'>, replacement: Replacement): Finding {
  const { context, own, record } = facts;
  if (own.kind === 'due') return judgeReadyReplacement(facts, own, attempt, replacement);
  // A veto, or somebody else at work: the replacement is kept until that is over.
  const { verdict, nextLookTime } = judgeByLadder(facts);
  const is = isInUse(replacement, replacementStatusOf(replacement, context))
    ? 'in use'
    : 'ready and kept until that is over';
  const saying = verdict && {
    ...verdict,
    message: `${verdict.message}; its replacement, NodeClaim ${replacement.name}, is ${is}`,
  };
  return findingOf(record, saying, nextLookTime ?? addDuration(context.now, LAUNCH_CHECK), { attemptState: 'ended' });
}

/** Ends an attempt whose node is well again, or that nobody wants any more. The launch uses an attempt (I11). */
function judgeTakenBack(facts: NodeFacts, attempt: AttemptOf<'Replace'>, name: string, isReleased: boolean): Finding {
  const record = withoutTakenBackLaunch(facts.record, attempt, allActionsOf(facts.context.repair));
  if (facts.isUnhealthy) return judgeWithoutAttempt(facts, record);
  const stays = isReleased ? `NodeClaim ${name} stays beside it` : 'its replacement is not needed';
  return judgeRecovered({ ...facts, record }, attempt, `: ${stays}`, 'while it was being replaced');
}

/** Judges an attempt whose replacement is ready: the unhealthy NodeClaim may go. */
function judgeReadyReplacement(
  facts: NodeFacts,
  own: OwnDueVerdict,
  attempt: AttemptOf<'Replace'>,
  replacement: Replacement,
): Finding {
  const { record, context, node } = facts;
  const { now } = context;
  const isReleased = isInUse(replacement, replacementStatusOf(replacement, context));
  if (!isReleased && !hasLaunch(own.ladder))
    return judgeFailedLaunch(facts, attempt, 'its list has no such action any more');
  const action = terminationOfReplaced(attempt.key);
  const basis = context.basisOf(own.claim);
  const waits = refusedUntil({ refusals: record.refusals, basis }, action, now);
  if (waits === undefined) {
    const opening = { ...action, replacement };
    const verdict = { ...own, node, action: opening, laterActions: [], unfinished: undefined };
    return findingOf(record, verdict, addDuration(now, LAUNCH_CHECK), { attemptState: 'ended' });
  }
  const { until } = waits;
  const message = `${own.message}; the termination was refused: ${retryText(until)}`;
  return findingOf(record, { kind: 'retry', node, message }, until, { attemptState: 'ended' });
}

/**
 * Gives a launch up: it counts as not taken. The next action follows at once, and the pool launches nothing for a
 * while.
 */
function judgeFailedLaunch(facts: NodeFacts, attempt: AttemptOf<'Replace'>, why: string): Finding {
  const { incident } = facts.record;
  const failed = withoutAttempt({ ...facts.record, attempt }, attempt);
  const record = { ...failed, ...(incident && { incident: withSkippedLaunch(incident, attempt.key) }) };
  const { now, launchPause } = facts.context;
  // The record of the pool gets this pause after the pass.
  const context = { ...facts.context, launchPause: pauseAfterFailure(launchPause, now) };
  const finding = judgeByLadder({ ...facts, record, context });
  return { ...finding, attemptState: 'failed', unreported: [{ kind: 'failedLaunch', attempt, why }] };
}
