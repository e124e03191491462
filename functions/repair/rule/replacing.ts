/** What becomes of a repair whose replacement has been asked for: it is waited for, gives way, or lets the ill NodeClaim go. Pure. */
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import { addDuration, earliest, isDue, seconds, toDurationMs, toTimestamp } from '../../../shared/domain/time.ts';
import { withoutAttempt } from './attempt.ts';
import { refusedUntil, terminationAfter } from './ladder.ts';
import { replacementStatusOf, type ReplacementStatus } from './replacement.ts';
import { IN_FLIGHT, QUIET, type JudgedNode, type LookResult } from './judged-node.ts';
import type { AttemptOf } from './record.ts';
import { lookAtTurn, lookWhileOff } from './turn.ts';

/** Karpenter's news of a NodeClaim reach nobody here: it is looked at. */
const LAUNCH_CHECK = seconds(30);

export function lookAtReplacing(seen: JudgedNode, attempt: AttemptOf<'Replace'>): LookResult {
  const { context, node, isIll, isOn } = seen;
  const { now, rules } = context;
  const replacement = seen.record.ours?.replacement ?? attempt.replacement;
  const status: ReplacementStatus =
    replacement === undefined ? { kind: 'gone' } : replacementStatusOf(replacement, context);
  const isReleased = 'isReleased' in status && status.isReleased;
  const stays = isReleased
    ? `NodeClaim ${attempt.replacement?.name ?? ''} stays beside it`
    : 'its replacement is not needed';
  const record = { ...seen.record, attempt };
  const over = withoutAttempt(record, attempt);
  if (!isIll) {
    const message = `the node is well again while it was being replaced, attempt ${attempt.number}: ${stays}`;
    return { ...QUIET, record: over, verdict: { kind: 'recovered', node, attempt, message }, takesBack: true };
  }
  const isInvalid = rules.gateOpen && rules.settings !== undefined && 'invalid' in rules.settings;
  const isWanted = (isOn && rules.mode === 'Enforce') || isInvalid;
  if (!isWanted) {
    const rest = { ...seen, record: over };
    return { ...(isOn ? lookAtTurn(rest, undefined) : lookWhileOff(rest)), takesBack: true };
  }
  if (status.kind === 'gone')
    return giveUp(
      seen,
      attempt,
      `NodeClaim ${replacement?.name ?? ''} is gone: Karpenter has no capacity for it, or it was deleted`,
    );
  if (status.kind !== 'ready') {
    if (isDue(now, attempt.until) && !isReleased) {
      const had = formatDuration(toDurationMs(attempt.until - attempt.time));
      return giveUp(seen, attempt, `NodeClaim ${replacement?.name ?? ''} is not ready after ${had}`);
    }
    const time = earliest(attempt.until, addDuration(now, LAUNCH_CHECK));
    const message = `NodeClaim ${replacement?.name ?? ''} is being launched, since ${toTimestamp(attempt.time)}, until ${toTimestamp(attempt.until)}`;
    return { ...IN_FLIGHT, record, verdict: { kind: 'underWay', node, message }, time };
  }
  const waits = { ...IN_FLIGHT, record, time: addDuration(now, LAUNCH_CHECK) };
  const { decision, rungs } = seen;
  // A veto, or somebody else at work: the replacement is kept until that is over.
  if (decision.kind !== 'due') {
    const { verdict, time } = lookAtTurn({ ...seen, record }, undefined);
    return { ...waits, verdict, time: time ?? waits.time };
  }
  const rung = terminationAfter(attempt.key, rungs);
  if (rung === undefined) return giveUp(seen, attempt, 'its list has no such action any more');
  const until = refusedUntil(
    { refusals: record.refusals, basis: context.basisOf(decision.claim) },
    attempt.key,
    rung,
    now,
  );
  if (until !== undefined) {
    const message = `${decision.message}; the termination was refused: it is tried again at ${toTimestamp(until)}`;
    return { ...waits, verdict: { kind: 'retry', node, message }, time: until };
  }
  const found = { ...replacement, name: replacement?.name ?? '', node: status.node.name };
  return { ...waits, verdict: { kind: 'due', decision, rung, rungs, rest: [], stale: undefined, replacement: found } };
}

/** It is not taken: the next action follows at once, and the pool launches nothing for a while. */
function giveUp(seen: JudgedNode, attempt: AttemptOf<'Replace'>, why: string): LookResult {
  const { illness } = seen.record;
  const failed = withoutAttempt({ ...seen.record, attempt }, attempt);
  const passed = [...new Set([...(illness?.passed ?? []), attempt.key])];
  const record = { ...failed, ...(illness && { illness: { ...illness, passed } }) };
  const pause = { ...seen.context, launchesFrom: addDuration(seen.context.now, LAUNCH_CHECK) };
  const turn = lookAtTurn({ ...seen, record, context: pause }, undefined);
  return { ...turn, takesBack: true, state: 'followed', unsaid: [{ kind: 'failedLaunch', attempt, why }] };
}
