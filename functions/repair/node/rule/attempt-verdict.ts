/**
 * Judges the attempt in a node's record by the live Node and NodeClaim (I4): it goes on, it is over, it is called off,
 * or the next action follows. If the Node is gone, a termination is still followed. Pure.
 */
import {
  awaitsReboot,
  callOffAndJudge,
  describe,
  isEnforced,
  isWanted,
  judgeRecovered,
  judgeRecoveredEarly,
  judgeWithoutAttempt,
  stopAndJudge,
  stuckReason,
} from './attempt-end.ts';
import {
  annotationOf,
  answerOf,
  hasTime,
  judgeTime,
  replacementOf,
  withAcceptedAttempt,
  withoutAttempt,
  withoutCalledOffAttempt,
} from './attempt.ts';
import { dueVerdictOf, type Finding, findingOf, findingUnderWay, type GoneNode, withState } from './finding.ts';
import { judgeByLadder } from './ladder-verdict.ts';
import { allActionsOf, isBeforeReboot } from './ladder.ts';
import { retryText } from './next-action.ts';
import type { JudgeContext, NodeFacts } from './node-facts.ts';
import { isStillUnhealthy } from './onset.ts';
import { replacementStatusOf } from './replacement.ts';
import { judgeReplacing } from './replacing.ts';
import { BLOCKED_CHECK, FOLLOW_CHECK, type Verdict } from './verdict.ts';
import type { Attempt, AttemptOf } from '../attempt-record.ts';
import type { NodeRecord } from '../record.ts';
import { hasDeadlineBy } from '../../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../../shared/domain/node.ts';
import { retryNotBefore } from '../../../../shared/domain/refusal.ts';
import {
  addDuration,
  earliest,
  type EpochMs,
  isDue,
  latest,
  parseTimestamp,
  toTimestamp,
} from '../../../../shared/domain/time.ts';

/** Judges the attempt in the node's record: one that was accepted, or one whose outcome was not recorded. */
export function judgeAttempt(facts: NodeFacts, storedAttempt: Attempt): Finding {
  const { context, record, node } = facts;
  const attempt = withDrainEnd(storedAttempt, context, node.uid);
  if (attempt.phase === 'accepted') return judgeAccepted(facts, attempt);
  const runOver = judgeTime(attempt);
  if (!isDue(context.now, runOver)) {
    const message = `attempt ${attempt.number} may still be under way`;
    return findingUnderWay({ ...record, attempt }, { kind: 'outcomeUnknown', node, message }, runOver);
  }
  if (wasCarriedOut(attempt, context, node.uid)) {
    const next = withAcceptedAttempt({ ...record, attempt }, attempt, allActionsOf(context.repair));
    const finding = judgeAccepted({ ...facts, record: next }, next.attempt ?? attempt);
    return { ...finding, unreported: [{ kind: 'carriedOut', attempt }, ...finding.unreported] };
  }
  const waits = retryTime(facts, attempt);
  if (waits !== undefined) {
    const why = record.refusals?.[attempt.key]?.message ?? '';
    const message = `${why}; ${retryText(waits)}`;
    // Others may have its slot meanwhile.
    return findingOf(record, { kind: 'retry', node, message }, waits, { attemptState: 'ended' });
  }
  return judgeUnfinished(facts, attempt);
}

function withDrainEnd(attempt: Attempt, { drainEnds }: JudgeContext, uid: string): Attempt {
  const end = drainEnds.get(uid);
  const isOurs = attempt.action === 'Drain' && end !== undefined && end.requestId === attempt.requestId;
  return isOurs ? { ...attempt, answer: end.answer } : attempt;
}

/**
 * A termination was carried out if the NodeClaim is gone, or is being deleted with a deadline no later than ours; a
 * graceful deletion by somebody else is not enough. A reboot counts as carried out, because nothing proves that it was
 * not, and a custom resource if it is there. A drain or custom resource has an id of its own, so it can be requested
 * again.
 */
function wasCarriedOut(attempt: Attempt, context: JudgeContext, uid: string): boolean {
  const { claims, now } = context;
  switch (attempt.action) {
    case 'Reboot':
      return true;
    case 'Drain':
      return false;
    case 'CustomResource':
      return context.isMade(uid);
    case 'Replace':
      return replacementStatusOf(attempt.replacement, context).kind !== 'gone';
    case 'Terminate': {
      // Without a NodeClaim the instance was looked at before (`functions/repair/inquiry.ts`), and had not
      // been ended.
      if (attempt.claim === undefined) return false;
      const claim = claims.get(attempt.claim.uid);
      if (claim?.deletionTime === undefined) return claim === undefined;
      const deadline = parseTimestamp(annotationOf(attempt)?.set ?? '');
      return deadline === undefined || hasDeadlineBy(claim, latest(now, deadline));
    }
  }
}

/**
 * The time until which a termination waits after the API server has refused it; its annotation stays meanwhile.
 * undefined: it may be tried now.
 */
function retryTime(facts: NodeFacts, { action, key }: Attempt): EpochMs | undefined {
  const { context, own, record } = facts;
  if (action !== 'Terminate' || !isEnforced(facts) || own.kind !== 'due') return undefined;
  return retryNotBefore(record.refusals?.[key], { basis: context.basisOf(own.claim), now: context.now });
}

/** A run ended before it carried the attempt out. The attempt is taken over if it is still wanted, else taken back. */
function judgeUnfinished(facts: NodeFacts, attempt: Attempt): Finding {
  const factsAfter = { ...facts, record: withoutAttempt(facts.record, attempt) };
  const replaced = judgeReplacedAgain(factsAfter, attempt);
  if (replaced !== undefined) return replaced;
  const finding = judgeByLadder(factsAfter, isEnforced(facts) ? attempt : undefined);
  return dueVerdictOf(finding)?.unfinished === undefined ? { ...finding, attemptState: 'failed' } : finding;
}

/**
 * Judges a termination that did not take place, and whose replacement may have pods: the launch is the attempt again.
 * undefined: the termination has no replacement.
 */
function judgeReplacedAgain(facts: NodeFacts, attempt: Attempt): Finding | undefined {
  const replacement = replacementOf(attempt);
  return attempt.action === 'Terminate' && attempt.claim !== undefined && replacement !== undefined
    ? judgeReplacing(facts, { ...attempt, action: 'Replace', phase: 'accepted', replacement })
    : undefined;
}

function judgeAccepted(facts: NodeFacts, attempt: Attempt): Finding {
  const current = { ...facts, record: { ...facts.record, attempt } };
  switch (attempt.action) {
    case 'Replace':
      return judgeReplacing(facts, attempt);
    case 'Terminate':
      return judgeTermination(facts, attempt);
    case 'Reboot':
      return judgeReboot(current, attempt);
    case 'Drain':
      return isBeforeReboot(attempt) ? judgeDrainBeforeReboot(current, attempt) : judgeRequest(current, attempt);
    case 'CustomResource':
      return judgeRequest(current, attempt);
  }
}

/** Judges a termination that was accepted, while its Node is still there. */
function judgeTermination(facts: NodeFacts, attempt: AttemptOf<'Terminate'>): Finding {
  const { context, node, isUnhealthy } = facts;
  const { now, claims } = context;
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  // A restored cluster has undone the deletion: the action counts as not taken.
  if (claim !== undefined && claim.deletionTime === undefined) {
    const undone = withoutCalledOffAttempt({ ...facts.record, attempt }, attempt);
    return judgeReplacedAgain({ ...facts, record: undone }, attempt) ?? judgeWithoutAttempt(facts, undone);
  }
  const record = { ...facts.record, attempt };
  const hasUselessLeftovers = !isUnhealthy && hasHelpers(record, claim === undefined && attempt.claim !== undefined);
  if (!isDue(now, attempt.until)) {
    const nextLookTime = earliest(attempt.until, addDuration(now, FOLLOW_CHECK));
    const verdict = isUnhealthy
      ? ({ kind: 'finishing', node, dueCondition: attempt.dueCondition, message: describe(attempt) } as const)
      : undefined;
    return findingUnderWay(record, verdict, nextLookTime, hasUselessLeftovers);
  }
  const message = `its termination was begun at ${toTimestamp(attempt.time)} and is not over: ${stuckReason(claim?.finalizers ?? [], node.finalizers ?? [])}; it holds no other repair any more`;
  const verdict: Verdict = { kind: 'stuck', node, attempt, message };
  return findingOf(record, verdict, addDuration(now, FOLLOW_CHECK), { hasUselessLeftovers });
}

/**
 * Whether a healthy node under termination has custom resources or a drain that nothing needs any more. A drain is
 * needed until the NodeClaim is gone.
 */
function hasHelpers({ leftovers }: NodeRecord, isClaimGone: boolean): boolean {
  return (
    leftovers?.resources !== undefined ||
    leftovers?.mayHaveMade !== undefined ||
    (isClaimGone && leftovers?.drain !== undefined)
  );
}

/** Judges a reboot that was accepted. It goes on even if repair is switched off meanwhile. */
function judgeReboot(facts: NodeFacts, attempt: AttemptOf<'Reboot'>): Finding {
  const { context, node, isUnhealthy } = facts;
  if (!isUnhealthy && !awaitsReboot(attempt, node, context.now)) {
    const { incident: _, ...mended } = facts.record;
    // A reboot that helped ends the incident at once. It has not helped if only the settings changed.
    const hasHelped = node.bootID !== attempt.bootID && !isStillUnhealthy(node, facts.record);
    const record = hasHelped ? mended : facts.record;
    return judgeRecovered({ ...facts, record }, attempt, rebootSeen(attempt, node));
  }
  return judgeWithoutNextAction(facts, attempt) ?? judgeNext(facts);
}

function judgeDrainBeforeReboot(facts: NodeFacts, attempt: AttemptOf<'Drain'>): Finding {
  if (!facts.isUnhealthy) return judgeRecoveredEarly(facts, attempt);
  if (!isWanted(facts)) return stopAndJudge(facts, attempt);
  return judgeWithoutNextAction(facts, attempt) ?? judgeRebootNext(facts, attempt);
}

/**
 * Judges a drain or a custom resource that was accepted. If repair is switched off, a drain is called off; the
 * controller of a custom resource is not interrupted half way.
 */
function judgeRequest(facts: NodeFacts, attempt: AttemptOf<'Drain' | 'CustomResource'>): Finding {
  if (!facts.isUnhealthy) return judgeRecoveredEarly(facts, attempt);
  if (!isWanted(facts) && attempt.action === 'Drain' && hasTime(attempt, facts.context.now))
    return stopAndJudge(facts, attempt);
  return judgeWithoutNextAction(facts, attempt) ?? judgeNext(facts);
}

/**
 * The finding of an attempt after which no action follows yet: it still has time, its answer is `stopped`, or repair
 * is off. undefined: the next action may follow.
 */
function judgeWithoutNextAction(facts: NodeFacts, attempt: Attempt): Finding | undefined {
  const { context, node, record, isUnhealthy, isOn } = facts;
  const { now } = context;
  const check = addDuration(now, FOLLOW_CHECK);
  if (hasTime(attempt, now)) {
    const verdict = isUnhealthy ? ({ kind: 'underWay', node, message: describe(attempt) } as const) : undefined;
    return findingUnderWay(record, verdict, earliest(attempt.until, check));
  }
  if (answerOf(attempt)?.kind === 'stopped') {
    const message = `${describe(attempt)}; the node is left alone until it is well again`;
    const nextLookTime = addDuration(now, BLOCKED_CHECK);
    return findingOf(record, { kind: 'exhausted', node, message }, nextLookTime, { attemptState: 'ended' });
  }
  return isOn ? undefined : findingOf(record, undefined, check, { attemptState: 'ended' });
}

/**
 * Judges a node whose drain before a reboot has ended: the reboot follows, or the action that the ladder has in its
 * place.
 */
function judgeRebootNext(facts: NodeFacts, attempt: Attempt): Finding {
  const { record } = facts;
  const finding = judgeByLadder(facts);
  const due = dueVerdictOf(finding);
  if (due?.action.type === 'Reboot' || finding.verdict?.kind === 'retry') return judgeNext(facts, finding);
  // The node stays cordoned only for its reboot.
  if (due === undefined) return callOffAndJudge(facts, attempt);
  const over = withoutAttempt(record, attempt);
  return judgeNext(facts, judgeByLadder({ ...facts, record: over }));
}

/** Judges which action of the ladder follows the attempt. */
function judgeNext(facts: NodeFacts, finding = judgeByLadder(facts)): Finding {
  return { ...finding, attemptState: 'ended', hasUselessLeftovers: false };
}

const rebootSeen = ({ bootID }: AttemptOf<'Reboot'>, node: NodeView): string =>
  bootID === undefined
    ? ''
    : node.bootID === bootID
      ? ', although its boot ID is the same as before'
      : ` (boot ID ${node.bootID ?? 'none'})`;

/** Judges a node whose Node object is gone; its NodeClaim may still be there. */
export function judgeGone(
  uid: string,
  recordBefore: NodeRecord,
  { now, claims }: Pick<JudgeContext, 'now' | 'claims'>,
): GoneNode {
  const { attempt } = recordBefore;
  const node = { name: recordBefore.name, uid };
  const gone = (...[record, verdict, nextLookTime, more]: Parameters<typeof findingOf>): GoneNode => {
    const hasUselessLeftovers = recordBefore.leftovers !== undefined;
    return {
      ...withState(findingOf(record, verdict, nextLookTime, { hasUselessLeftovers, ...more })),
      kind: 'gone',
      node,
    };
  };
  const closed: Verdict = { kind: 'gone', node, message: 'the node is gone, its incident is closed' };
  if (attempt === undefined) return gone(undefined, closed);
  const isIntended = attempt.phase === 'intended';
  const runOver = judgeTime(attempt);
  if (isIntended && !isDue(now, runOver)) return gone(recordBefore, undefined, runOver, { attemptState: 'unawaited' });
  const unreported: GoneNode['unreported'] = isIntended ? [{ kind: 'lost', attempt }] : [];
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  if (attempt.action !== 'Terminate' || claim?.deletionTime === undefined) {
    const over = isIntended ? withoutAttempt(recordBefore, attempt) : recordBefore;
    return gone(undefined, closed, undefined, { hasUselessLeftovers: over.leftovers !== undefined, unreported });
  }
  const record = isIntended ? withAcceptedAttempt(recordBefore, attempt, []) : recordBefore;
  const check = addDuration(now, FOLLOW_CHECK);
  if (!isDue(now, attempt.until))
    return gone(record, undefined, earliest(attempt.until, check), { attemptState: 'unawaited', unreported });
  const message = `its termination was begun at ${toTimestamp(attempt.time)}, its Node is gone, and it is not over: ${stuckReason(claim.finalizers, [])}`;
  const named = { name: claim.name, uid: claim.uid };
  const verdict: Verdict = { kind: 'stuckWithoutNode', node, attempt, claim: named, message };
  return gone(record, verdict, check, { unreported });
}
