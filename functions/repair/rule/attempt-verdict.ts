/** What became of an attempt, by what is seen now (I4): it goes on, it is over, it is called off, or the next action follows. Pure. */
import { accepted, calledOff, describe, endsBy, settledTime, withoutAttempt } from './attempt.ts';
import {
  answerOf,
  allActionsOf,
  awaitsReboot,
  dueOf,
  hasTime,
  isBeforeReboot,
  judgeTurn,
  refusedUntil,
  terminationAfter,
} from './ladder.ts';
import { readableSettings } from './incident.ts';
import type { Attempt, AttemptOf, NodeRecord, Replacement } from '../record.ts';
import { type ReplacementStatus, replacementStatusOf } from './replacement.ts';
import {
  BLOCKED_CHECK,
  type DueNode,
  type Finding,
  FOLLOW_CHECK,
  type GoneNode,
  IN_FLIGHT,
  type JudgeContext,
  type JudgedNode,
  QUIET,
  type Verdict,
} from './verdict.ts';
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { heldUntil } from '../../../shared/domain/refusal.ts';
import {
  addDuration,
  earliest,
  type EpochMs,
  isDue,
  latest,
  parseTimestamp,
  seconds,
  toDurationMs,
  toTimestamp,
} from '../../../shared/domain/time.ts';

/** What became of the attempt that is remembered of the node. */
export function judgeAttempt(judged: JudgedNode, before: Attempt): Finding {
  const { context, record, node } = judged;
  const attempt = withDrainEnd(before, context, node.uid);
  if (attempt.phase === 'accepted') return judgeAccepted(judged, attempt);
  const settled = settledTime(attempt);
  if (!isDue(context.now, settled)) {
    const message = `attempt ${attempt.number} may still be under way`;
    return { ...IN_FLIGHT, record: { ...record, attempt }, verdict: { kind: 'settle', node, message }, time: settled };
  }
  if (wasCarriedOut(attempt, context)) {
    const settings = readableSettings(context.rules);
    const taken = accepted({ ...record, attempt }, attempt, settings ? allActionsOf(settings) : []);
    const finding = judgeAccepted({ ...judged, record: taken }, taken.attempt ?? attempt);
    return { ...finding, unsaid: [{ kind: 'carriedOut', attempt }, ...finding.unsaid] };
  }
  const waits = retryTime(judged, attempt);
  if (waits !== undefined) {
    const why = record.refusals?.[attempt.key]?.message ?? '';
    const message = `${why}; it is tried again at ${toTimestamp(waits)}`;
    return { ...IN_FLIGHT, record, verdict: { kind: 'retry', node, message }, time: waits };
  }
  return judgeStale(judged, attempt);
}

function withDrainEnd(attempt: Attempt, { drainEnds }: JudgeContext, uid: string): Attempt {
  const end = drainEnds.get(uid);
  const isOurs = attempt.action === 'Drain' && end !== undefined && end.requestId === attempt.requestId;
  return isOurs ? { ...attempt, answer: end.answer } : attempt;
}

/**
 * A termination was carried out if the NodeClaim is gone, or is being deleted with a deadline no later than ours; a graceful deletion by somebody
 * else is not enough. A reboot counts as carried out, because nothing proves that it was not. A drain or custom resource has an id of its own,
 * so it can be requested again.
 */
function wasCarriedOut(attempt: Attempt, context: JudgeContext): boolean {
  const { claims, now } = context;
  switch (attempt.action) {
    case 'Reboot':
      return true;
    case 'Drain':
    case 'CustomResource':
      return false;
    case 'Replace':
      return attempt.replacement !== undefined && replacementStatusOf(attempt.replacement, context).kind !== 'gone';
    case 'Terminate': {
      // Without a NodeClaim the instance was looked at before (`inquire` in `functions/repair/observe.ts`), and had not been ended.
      if (attempt.claim === undefined) return false;
      const claim = claims.get(attempt.claim.uid);
      if (claim?.deletionTime === undefined) return claim === undefined;
      const deadline = parseTimestamp(attempt.terminationTimestamp ?? '');
      return deadline === undefined || endsBy(claim, latest(now, deadline));
    }
  }
}

/** Repair is on and enforces: an attempt may go on. */
const isEnforced = ({ context, isOn }: JudgedNode): boolean => isOn && context.rules.mode === 'Enforce';

/** An attempt goes on also while the block cannot be read: a mistake stops nothing that was begun. */
function isWanted(judged: JudgedNode): boolean {
  const { gateOpen, settings } = judged.context.rules;
  return isEnforced(judged) || (gateOpen && settings !== undefined && 'invalid' in settings);
}

/** Until when a termination waits that the API server keeps refusing. Its annotation stays meanwhile. undefined: it may be tried. */
function retryTime(judged: JudgedNode, { action, key }: Attempt): EpochMs | undefined {
  const { context, decision, record } = judged;
  if (action !== 'Terminate' || !isEnforced(judged) || decision.kind !== 'due') return undefined;
  return heldUntil(record.refusals?.[key], { basis: context.basisOf(decision.claim), now: context.now });
}

/** A run ended before it carried the attempt out. The attempt is taken over if it is still wanted, else taken back. */
function judgeStale(judged: JudgedNode, attempt: Attempt): Finding {
  const rest = { ...judged, record: withoutAttempt(judged.record, attempt) };
  // Its replacement may be open by now.
  if (attempt.action === 'Terminate' && attempt.replacement !== undefined)
    return judgeReplacing(rest, { ...attempt, action: 'Replace', phase: 'accepted' });
  const turn = judgeTurn(rest, isEnforced(judged) ? attempt : undefined);
  return dueOf(turn)?.stale === undefined ? { ...turn, takesBack: true, state: 'followed' } : turn;
}

function judgeAccepted(judged: JudgedNode, attempt: Attempt): Finding {
  switch (attempt.action) {
    case 'Replace':
      return judgeReplacing(judged, attempt);
    case 'Terminate':
      return judgeTermination(judged, attempt);
    case 'Reboot':
    case 'Drain':
    case 'CustomResource':
      return judgeInPlace(judged, attempt);
  }
}

/** The Node is still there. */
function judgeTermination(judged: JudgedNode, attempt: AttemptOf<'Terminate'>): Finding {
  const { context, node, isUnhealthy } = judged;
  const { now, claims } = context;
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  // The deletion was accepted, and the NodeClaim is not being deleted: the attempt is over.
  if (claim !== undefined && claim.deletionTime === undefined)
    return { ...judgeTurn({ ...judged, record: withoutAttempt(judged.record, attempt) }), takesBack: true };
  const record = { ...judged.record, attempt };
  const takesBack = !isUnhealthy && hasHelpers(record, claim === undefined && attempt.claim !== undefined);
  if (!isDue(now, attempt.until)) {
    const time = earliest(attempt.until, addDuration(now, FOLLOW_CHECK));
    const verdict = isUnhealthy
      ? ({ kind: 'finishing', node, dueCondition: attempt.dueCondition, message: describe(attempt) } as const)
      : undefined;
    return { ...IN_FLIGHT, record, verdict, time, takesBack };
  }
  const kept = [...(claim?.finalizers ?? []).map(on('NodeClaim')), ...(node.finalizers ?? []).map(on('Node'))];
  const message = `its termination was begun at ${toTimestamp(attempt.time)} and is not over: ${stuckBy(kept)}; it holds no other repair any more`;
  const verdict: Verdict = { kind: 'stuck', node, attempt, message };
  return { ...QUIET, record, verdict, time: addDuration(now, FOLLOW_CHECK), state: 'followed', takesBack };
}

/** Custom resources have no use for a healthy node. A drain has, until the NodeClaim is gone. */
function hasHelpers({ ours }: NodeRecord, isClaimGone: boolean): boolean {
  return ours?.resources !== undefined || ours?.mayHaveMade !== undefined || (isClaimGone && ours?.drain !== undefined);
}

function judgeInPlace(judged: JudgedNode, attempt: Attempt): Finding {
  const { context, node, isUnhealthy, isOn } = judged;
  const { now } = context;
  const record = { ...judged.record, attempt };
  const over = withoutAttempt(record, attempt);
  if (!isUnhealthy && !awaitsReboot(attempt, node, now)) {
    const message = `the node is well again after ${attempt.action}, attempt ${attempt.number}${rebootSeen(attempt, node)}`;
    // A reboot that helped ends the incident at once.
    const isMended = attempt.action === 'Reboot' && node.bootID !== attempt.bootID;
    const { incident: _, ...rest } = over;
    const verdict: Verdict = { kind: 'recovered', node, attempt, message };
    return { ...QUIET, record: isMended ? rest : over, verdict, takesBack: true };
  }
  // A drain is called off. Whoever answers to a custom resource is not interrupted half way.
  if (!isWanted(judged) && attempt.action === 'Drain' && (hasTime(attempt, now) || isBeforeReboot(attempt)))
    return callOff(judged, attempt);
  const check = addDuration(now, FOLLOW_CHECK);
  if (hasTime(attempt, now)) {
    const verdict = isUnhealthy ? ({ kind: 'underWay', node, message: describe(attempt) } as const) : undefined;
    return { ...IN_FLIGHT, record, verdict, time: earliest(attempt.until, check) };
  }
  const takesBack = record.ours?.maintenance === true;
  if (answerOf(attempt)?.kind === 'stopped') {
    const message = `${describe(attempt)}; no further action is set`;
    const verdict: Verdict = { kind: 'exhausted', node, message };
    return { ...QUIET, record, verdict, time: addDuration(now, BLOCKED_CHECK), state: 'followed', takesBack };
  }
  if (!isOn) return { ...IN_FLIGHT, record, time: check, takesBack };
  const turn = judgeTurn({ ...judged, record });
  // The node stays cordoned only for its reboot.
  const due = dueOf(turn);
  if (isBeforeReboot(attempt) && due?.action.type !== 'Reboot' && turn.verdict?.kind !== 'retry') {
    if (due === undefined) return callOff(judged, attempt);
    return { ...judgeTurn({ ...judged, record: over }), state: 'inFlight', takesBack };
  }
  const isLeft = turn.verdict?.kind !== 'exhausted' && turn.verdict?.kind !== 'retry';
  return { ...turn, state: isLeft ? 'inFlight' : 'followed', takesBack };
}

/** The attempt counts as not taken, and begins anew when it may. */
function callOff(judged: JudgedNode, attempt: Attempt): Finding {
  const record = calledOff({ ...judged.record, attempt }, attempt);
  return { ...judgeTurn({ ...judged, record }), takesBack: true };
}

const rebootSeen = (attempt: Attempt, node: NodeView): string =>
  attempt.action !== 'Reboot' || attempt.bootID === undefined
    ? ''
    : node.bootID === attempt.bootID
      ? ', although its boot ID is the same as before'
      : ` (boot ID ${node.bootID ?? 'none'})`;

/** No event tells that a launch has ended. */
const LAUNCH_CHECK = seconds(30);

/** A replacement was launched: repair waits for it, gives it up, or terminates the unhealthy node. */
function judgeReplacing(judged: JudgedNode, attempt: AttemptOf<'Replace'>): Finding {
  const { context, node, isUnhealthy, decision } = judged;
  const { now } = context;
  const replacement = judged.record.ours?.replacement ?? attempt.replacement;
  const name = replacement?.name ?? '';
  const status: ReplacementStatus = replacement ? replacementStatusOf(replacement, context) : { kind: 'gone' };
  const isReleased = 'isReleased' in status && status.isReleased;
  const record = { ...judged.record, attempt };
  const over = withoutAttempt(record, attempt);
  if (!isUnhealthy) {
    const stays = isReleased
      ? `NodeClaim ${attempt.replacement?.name ?? ''} stays beside it`
      : 'its replacement is not needed';
    const message = `the node is well again while it was being replaced, attempt ${attempt.number}: ${stays}`;
    return { ...QUIET, record: over, verdict: { kind: 'recovered', node, attempt, message }, takesBack: true };
  }
  if (!isWanted(judged)) return { ...judgeTurn({ ...judged, record: over }), takesBack: true };
  const check = addDuration(now, LAUNCH_CHECK);
  switch (status.kind) {
    case 'gone':
      return giveUp(judged, attempt, `NodeClaim ${name} is gone: Karpenter has no capacity for it, or it was deleted`);
    case 'launching':
    case 'unready': {
      if (isDue(now, attempt.until) && !isReleased) {
        const had = formatDuration(toDurationMs(attempt.until - attempt.time));
        return giveUp(judged, attempt, `NodeClaim ${name} is not ready after ${had}`);
      }
      const message = `NodeClaim ${name} is being launched, since ${toTimestamp(attempt.time)}, until ${toTimestamp(attempt.until)}`;
      const verdict: Verdict = { kind: 'underWay', node, message };
      return { ...IN_FLIGHT, record, verdict, time: earliest(attempt.until, check) };
    }
    case 'ready': {
      if (decision.kind === 'due') {
        const found = { ...replacement, name, node: status.node.name };
        return letGo({ ...judged, record }, decision, attempt, found);
      }
      // A veto, or somebody else at work: the replacement is kept until that is over.
      const { verdict, time } = judgeTurn({ ...judged, record });
      return { ...IN_FLIGHT, record, verdict, time: time ?? check };
    }
  }
}

/** The replacement is ready: the unhealthy NodeClaim may go. */
function letGo(
  judged: JudgedNode,
  decision: DueNode,
  attempt: AttemptOf<'Replace'>,
  replacement: Replacement,
): Finding {
  const { record, context, node } = judged;
  const { now } = context;
  const action = terminationAfter(attempt.key, decision.ladder);
  if (action === undefined) return giveUp(judged, attempt, 'its list has no such action any more');
  const basis = context.basisOf(decision.claim);
  const until = refusedUntil({ refusals: record.refusals, basis }, attempt.key, action, now);
  if (until === undefined) {
    const verdict = { kind: 'due', decision, action, rest: [], stale: undefined, replacement } as const;
    return { ...IN_FLIGHT, record, verdict, time: addDuration(now, LAUNCH_CHECK) };
  }
  const message = `${decision.message}; the termination was refused: it is tried again at ${toTimestamp(until)}`;
  return { ...IN_FLIGHT, record, verdict: { kind: 'retry', node, message }, time: until };
}

/** The launch counts as not taken. The next action follows at once, and the pool launches nothing for a while. */
function giveUp(judged: JudgedNode, attempt: AttemptOf<'Replace'>, why: string): Finding {
  const { incident } = judged.record;
  const failed = withoutAttempt({ ...judged.record, attempt }, attempt);
  const passed = [...new Set([...(incident?.passed ?? []), attempt.key])];
  const record = { ...failed, ...(incident && { incident: { ...incident, passed } }) };
  const context = { ...judged.context, launchesFrom: addDuration(judged.context.now, LAUNCH_CHECK) };
  const turn = judgeTurn({ ...judged, record, context });
  return { ...turn, takesBack: true, state: 'followed', unsaid: [{ kind: 'failedLaunch', attempt, why }] };
}

/** Its Node is gone. */
export function judgeGone(
  uid: string,
  before: NodeRecord,
  { now, claims }: Pick<JudgeContext, 'now' | 'claims'>,
): GoneNode {
  const { attempt } = before;
  const node = { name: before.name, uid };
  const base = { ...QUIET, kind: 'gone', node, takesBack: before.ours !== undefined } as const;
  const gone: Verdict = { kind: 'gone', node, message: 'the node is gone, its incident is closed' };
  if (attempt === undefined) return { ...base, record: undefined, verdict: gone };
  const isIntended = attempt.phase === 'intended';
  const settled = settledTime(attempt);
  if (isIntended && !isDue(now, settled)) return { ...base, record: before, time: settled, state: 'followed' };
  const unsaid: GoneNode['unsaid'] = isIntended ? [{ kind: 'lost', attempt }] : [];
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  if (attempt.action !== 'Terminate' || claim?.deletionTime === undefined) {
    const over = isIntended ? withoutAttempt(before, attempt) : before;
    return { ...base, record: undefined, verdict: gone, takesBack: over.ours !== undefined, unsaid };
  }
  const record = isIntended ? accepted(before, attempt, []) : before;
  const followed = { ...base, record, state: 'followed', unsaid } as const;
  const check = addDuration(now, FOLLOW_CHECK);
  if (!isDue(now, attempt.until)) return { ...followed, time: earliest(attempt.until, check) };
  const message = `its termination was begun at ${toTimestamp(attempt.time)}, its Node is gone, and it is not over: ${stuckBy(claim.finalizers.map(on('NodeClaim')))}`;
  const verdict: Verdict = { kind: 'stuck', node, attempt, claim: { name: claim.name, uid: claim.uid }, message };
  return { ...followed, verdict, time: check };
}

const on = (kind: string) => (finalizer: string) => `${finalizer} on the ${kind}`;

const stuckBy = (finalizers: readonly string[]): string =>
  finalizers.length === 0 ? 'no finalizer holds it' : `held by finalizer ${finalizers.join(', ')}`;
