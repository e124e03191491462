/**
 * What became of an attempt, by what is seen now (I4): it goes on, it is over, it is called off, or the next action
 * follows. Pure.
 */
import { answerOf, awaitsReboot, describe, hasTime } from './act-under-way.ts';
import { accepted, annotationOf, calledOff, replacementOf, judgeTime, withoutAttempt } from './attempt.ts';
import { againAt, judgeByLadder } from './due-node.ts';
import { allActionsOf, isBeforeReboot, terminationAfter } from './ladder.ts';
import { dueOf, toFinding, hasTrait } from './finding.ts';
import { refusedUntil } from './next-action.ts';
import { readableSettings, withSkipped } from './incident.ts';
import type { Attempt, AttemptOf, Replacement } from '../attempt-record.ts';
import type { NodeRecord } from '../record.ts';
import { isStillUnhealthy } from './onsets.ts';
import { nextPause, replacementStatusOf } from './replacement.ts';
import {
  BLOCKED_CHECK,
  type DueNode,
  type Finding,
  FOLLOW_CHECK,
  type GoneNode,
  type JudgeContext,
  LAUNCH_CHECK,
  type NodeFacts,
  type Verdict,
} from './verdict.ts';
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import { endsBy } from '../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { retryNotBefore } from '../../../shared/domain/refusal.ts';
import {
  addDuration,
  earliest,
  type EpochMs,
  isDue,
  latest,
  parseTimestamp,
  toDurationMs,
  toTimestamp,
} from '../../../shared/domain/time.ts';

/** Its repair is under way. */
const inFlight = (
  record: Finding['record'],
  verdict: Finding['verdict'],
  time: Finding['time'],
  needsCleanUp = false,
): Finding => toFinding(record, verdict, time, { state: 'inFlight', needsCleanUp });

/** What became of the attempt that is remembered of the node. */
export function judgeAttempt(facts: NodeFacts, storedAttempt: Attempt): Finding {
  const { context, record, node } = facts;
  const attempt = withDrainEnd(storedAttempt, context, node.uid);
  if (attempt.phase === 'accepted') return judgeAccepted(facts, attempt);
  const runOver = judgeTime(attempt);
  if (!isDue(context.now, runOver)) {
    const message = `attempt ${attempt.number} may still be under way`;
    return inFlight({ ...record, attempt }, { kind: 'unresolved', node, message }, runOver);
  }
  if (wasCarriedOut(attempt, context)) {
    const settings = readableSettings(context.rules);
    const next = accepted({ ...record, attempt }, attempt, settings ? allActionsOf(settings) : []);
    const finding = judgeAccepted({ ...facts, record: next }, next.attempt ?? attempt);
    return { ...finding, news: [{ kind: 'carriedOut', attempt }, ...finding.news] };
  }
  const waits = retryTime(facts, attempt);
  if (waits !== undefined) {
    const why = record.refusals?.[attempt.key]?.message ?? '';
    const message = `${why}; ${againAt(waits)}`;
    return inFlight(record, { kind: 'retry', node, message }, waits);
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
 * not. A drain or custom resource has an id of its own, so it can be requested again.
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
      return replacementStatusOf(attempt.replacement, context).kind !== 'gone';
    case 'Terminate': {
      // Without a NodeClaim the instance was looked at before (`functions/repair/inquiry.ts`), and had not
      // been ended.
      if (attempt.claim === undefined) return false;
      const claim = claims.get(attempt.claim.uid);
      if (claim?.deletionTime === undefined) return claim === undefined;
      const deadline = parseTimestamp(annotationOf(attempt)?.set ?? '');
      return deadline === undefined || endsBy(claim, latest(now, deadline));
    }
  }
}

/** Repair is on and enforces: an attempt may go on. */
const isEnforced = ({ context, isOn }: NodeFacts): boolean => isOn && context.rules.mode === 'Enforce';

/** An attempt goes on also while the block cannot be read: a mistake stops nothing that was begun. */
function isWanted(facts: NodeFacts): boolean {
  const { gateOpen, settings } = facts.context.rules;
  return isEnforced(facts) || (gateOpen && settings !== undefined && 'invalid' in settings);
}

/**
 * Until when a termination waits that the API server keeps refusing. Its annotation stays meanwhile. undefined: it may
 * be tried.
 */
function retryTime(facts: NodeFacts, { action, key }: Attempt): EpochMs | undefined {
  const { context, decision, record } = facts;
  if (action !== 'Terminate' || !isEnforced(facts) || decision.kind !== 'due') return undefined;
  return retryNotBefore(record.refusals?.[key], { basis: context.basisOf(decision.claim), now: context.now });
}

/** A run ended before it carried the attempt out. The attempt is taken over if it is still wanted, else taken back. */
function judgeUnfinished(facts: NodeFacts, attempt: Attempt): Finding {
  const factsAfter = { ...facts, record: withoutAttempt(facts.record, attempt) };
  // Its replacement may be open by now.
  const replacement = replacementOf(attempt);
  if (attempt.action === 'Terminate' && attempt.claim !== undefined && replacement !== undefined)
    return judgeReplacing(factsAfter, { ...attempt, action: 'Replace', phase: 'accepted', replacement });
  const finding = judgeByLadder(factsAfter, isEnforced(facts) ? attempt : undefined);
  return dueOf(finding)?.unfinished === undefined ? { ...finding, needsCleanUp: true, state: 'followed' } : finding;
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

/** The Node is still there. */
function judgeTermination(facts: NodeFacts, attempt: AttemptOf<'Terminate'>): Finding {
  const { context, node, isUnhealthy } = facts;
  const { now, claims } = context;
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  // The deletion was accepted, and the NodeClaim is not being deleted: the attempt is over.
  if (claim !== undefined && claim.deletionTime === undefined)
    return judgeAnew(facts, withoutAttempt(facts.record, attempt));
  const record = { ...facts.record, attempt };
  const needsCleanUp = !isUnhealthy && hasHelpers(record, claim === undefined && attempt.claim !== undefined);
  if (!isDue(now, attempt.until)) {
    const time = earliest(attempt.until, addDuration(now, FOLLOW_CHECK));
    const verdict = isUnhealthy
      ? ({ kind: 'finishing', node, dueCondition: attempt.dueCondition, message: describe(attempt) } as const)
      : undefined;
    return inFlight(record, verdict, time, needsCleanUp);
  }
  const kept = [...(claim?.finalizers ?? []).map(on('NodeClaim')), ...(node.finalizers ?? []).map(on('Node'))];
  const message = `its termination was begun at ${toTimestamp(attempt.time)} and is not over: ${stuckBy(kept)}; it holds no other repair any more`;
  const verdict: Verdict = { kind: 'stuck', node, attempt, message };
  return toFinding(record, verdict, addDuration(now, FOLLOW_CHECK), { needsCleanUp });
}

/** Custom resources have no use for a healthy node. A drain has, until the NodeClaim is gone. */
function hasHelpers({ leftovers }: NodeRecord, isClaimGone: boolean): boolean {
  return (
    leftovers?.resources !== undefined ||
    leftovers?.mayHaveMade !== undefined ||
    (isClaimGone && leftovers?.drain !== undefined)
  );
}

/** A reboot goes on, whatever is switched off meanwhile. */
function judgeReboot(facts: NodeFacts, attempt: AttemptOf<'Reboot'>): Finding {
  const { context, node, isUnhealthy } = facts;
  if (!isUnhealthy && !awaitsReboot(attempt, node, context.now)) {
    const { incident: _, ...mended } = facts.record;
    // A reboot that helped ends the incident at once.
    const record = node.bootID === attempt.bootID ? facts.record : mended;
    return judgeRecovered({ ...facts, record }, attempt, rebootSeen(attempt, node));
  }
  return judgeStanding(facts, attempt) ?? judgeNext(facts);
}

function judgeDrainBeforeReboot(facts: NodeFacts, attempt: AttemptOf<'Drain'>): Finding {
  if (!facts.isUnhealthy) return judgeRecovered(facts, attempt);
  if (!isWanted(facts)) return judgeCalledOff(facts, attempt);
  return judgeStanding(facts, attempt) ?? judgeRebootNext(facts, attempt);
}

/** Somebody else was asked. A drain is called off; whoever answers to a custom resource is not interrupted half way. */
function judgeRequest(facts: NodeFacts, attempt: AttemptOf<'Drain' | 'CustomResource'>): Finding {
  if (!facts.isUnhealthy) return judgeRecovered(facts, attempt);
  if (!isWanted(facts) && attempt.action === 'Drain' && hasTime(attempt, facts.context.now))
    return judgeCalledOff(facts, attempt);
  return judgeStanding(facts, attempt) ?? judgeNext(facts);
}

/** @param seen what else is said of it */
function judgeRecovered(facts: NodeFacts, attempt: Attempt, seen = '', when = `after ${attempt.action}`): Finding {
  const { record, node } = facts;
  // No entry names the condition any more: nothing has helped.
  if (isStillUnhealthy(node, { ...record, attempt }))
    return judgeAnew({ ...facts, wasUnhealthy: true }, withoutAttempt(record, attempt));
  const message = `the node is well again ${when}, attempt ${attempt.number}${seen}`;
  return toFinding(withoutAttempt(record, attempt), { kind: 'recovered', node, attempt, message });
}

/** It has time, or who was asked says that nothing follows, or repair is off; undefined: the next action may follow. */
function judgeStanding(facts: NodeFacts, attempt: Attempt): Finding | undefined {
  const { context, node, record, isUnhealthy, isOn } = facts;
  const { now } = context;
  const check = addDuration(now, FOLLOW_CHECK);
  if (hasTime(attempt, now)) {
    const verdict = isUnhealthy ? ({ kind: 'underWay', node, message: describe(attempt) } as const) : undefined;
    return inFlight(record, verdict, earliest(attempt.until, check));
  }
  const needsCleanUp = hasMaintenance(record);
  if (answerOf(attempt)?.kind === 'stopped') {
    const message = `${describe(attempt)}; no further action is set`;
    const time = addDuration(now, BLOCKED_CHECK);
    return toFinding(record, { kind: 'exhausted', node, message }, time, { state: 'followed', needsCleanUp });
  }
  return isOn ? undefined : inFlight(record, undefined, check, needsCleanUp);
}

/** The reboot, or what stands in its place. */
function judgeRebootNext(facts: NodeFacts, attempt: Attempt): Finding {
  const { record } = facts;
  const finding = judgeByLadder(facts);
  const due = dueOf(finding);
  if (due?.action.type === 'Reboot' || finding.verdict?.kind === 'retry') return judgeNext(facts, finding);
  // The node stays cordoned only for its reboot.
  if (due === undefined) return judgeCalledOff(facts, attempt);
  const over = withoutAttempt(record, attempt);
  return { ...judgeByLadder({ ...facts, record: over }), state: 'inFlight', needsCleanUp: hasMaintenance(record) };
}

/** The next action of the ladder. */
function judgeNext(facts: NodeFacts, finding = judgeByLadder(facts)): Finding {
  const hasNext = !hasTrait(finding.verdict, 'settled');
  return { ...finding, state: hasNext ? 'inFlight' : 'followed', needsCleanUp: hasMaintenance(facts.record) };
}

const hasMaintenance = ({ leftovers }: NodeRecord): boolean => leftovers?.maintenance === true;

/** The attempt counts as not taken, and begins again when it may. */
function judgeCalledOff(facts: NodeFacts, attempt: Attempt): Finding {
  return judgeAnew(facts, calledOff({ ...facts.record, attempt }, attempt));
}

/** The attempt is over, and what it has set is taken back. */
function judgeAnew(facts: NodeFacts, record: NodeRecord): Finding {
  return { ...judgeByLadder({ ...facts, record }), needsCleanUp: true };
}

const rebootSeen = ({ bootID }: AttemptOf<'Reboot'>, node: NodeView): string =>
  bootID === undefined
    ? ''
    : node.bootID === bootID
      ? ', although its boot ID is the same as before'
      : ` (boot ID ${node.bootID ?? 'none'})`;

/** A replacement was launched: repair waits for it, gives it up, or terminates the unhealthy node. */
function judgeReplacing(facts: NodeFacts, attempt: AttemptOf<'Replace'>): Finding {
  const { context, node, isUnhealthy, decision } = facts;
  const { now } = context;
  const replacement = facts.record.leftovers?.replacement ?? attempt.replacement;
  const { name } = replacement;
  const status = replacementStatusOf(replacement, context);
  const isReleased = replacement.releasedTime !== undefined || ('isReleased' in status && status.isReleased);
  const record = { ...facts.record, attempt };
  const current = { ...facts, record };
  if (!isUnhealthy) {
    const stays = isReleased ? `NodeClaim ${name} stays beside it` : 'its replacement is not needed';
    return judgeRecovered(current, attempt, `: ${stays}`, 'while it was being replaced');
  }
  if (!isWanted(facts)) return judgeAnew(facts, withoutAttempt(record, attempt));
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
      if (isDue(now, attempt.until) && !isReleased) {
        const had = formatDuration(toDurationMs(attempt.until - attempt.time));
        return judgeFailedLaunch(facts, attempt, `NodeClaim ${name} is not ready after ${had}`);
      }
      const isLate = isDue(now, attempt.until);
      const message = isLate
        ? `NodeClaim ${name} is in use and not ready: the repair waits until it is`
        : `NodeClaim ${name} is being launched, since ${toTimestamp(attempt.time)}, until ${toTimestamp(attempt.until)}`;
      return inFlight(record, { kind: 'underWay', node, message }, isLate ? check : earliest(attempt.until, check));
    }
    case 'ready': {
      if (decision.kind === 'due') {
        const ready = { ...replacement, node: status.node.name };
        return judgeReadyReplacement(current, decision, attempt, ready);
      }
      // A veto, or somebody else at work: the replacement is kept until that is over.
      const { verdict, time } = judgeByLadder(current);
      return inFlight(record, verdict, time ?? check);
    }
  }
}

/** The replacement is ready: the unhealthy NodeClaim may go. */
function judgeReadyReplacement(
  facts: NodeFacts,
  decision: DueNode,
  attempt: AttemptOf<'Replace'>,
  replacement: Replacement,
): Finding {
  const { record, context, node } = facts;
  const { now } = context;
  const action = terminationAfter(attempt.key, decision.ladder);
  if (action === undefined) return judgeFailedLaunch(facts, attempt, 'its list has no such action any more');
  const basis = context.basisOf(decision.claim);
  const waits = refusedUntil({ refusals: record.refusals, basis }, action, now);
  if (waits === undefined) {
    const opening = { ...action, replacement };
    const verdict = { kind: 'due', due: decision, action: opening, laterActions: [], unfinished: undefined } as const;
    return inFlight(record, verdict, addDuration(now, LAUNCH_CHECK));
  }
  const { until } = waits;
  const message = `${decision.message}; the termination was refused: ${againAt(until)}`;
  return inFlight(record, { kind: 'retry', node, message }, until);
}

/** The launch counts as not taken. The next action follows at once, and the pool launches nothing for a while. */
function judgeFailedLaunch(facts: NodeFacts, attempt: AttemptOf<'Replace'>, why: string): Finding {
  const { incident } = facts.record;
  const failed = withoutAttempt({ ...facts.record, attempt }, attempt);
  const record = { ...failed, ...(incident && { incident: withSkipped(incident, attempt.key) }) };
  const { now, launchPause } = facts.context;
  // As the pool's record has it after this pass.
  const context = { ...facts.context, launchPause: nextPause(launchPause, now) };
  const finding = judgeByLadder({ ...facts, record, context });
  return { ...finding, needsCleanUp: true, state: 'followed', news: [{ kind: 'failedLaunch', attempt, why }] };
}

/** Its Node is gone. */
export function judgeGone(
  uid: string,
  recordBefore: NodeRecord,
  { now, claims }: Pick<JudgeContext, 'now' | 'claims'>,
): GoneNode {
  const { attempt } = recordBefore;
  const node = { name: recordBefore.name, uid };
  const gone = (...finding: Parameters<typeof toFinding>): GoneNode => ({
    ...toFinding(...finding),
    kind: 'gone',
    node,
  });
  const closed: Verdict = { kind: 'gone', node, message: 'the node is gone, its incident is closed' };
  const needsCleanUp = recordBefore.leftovers !== undefined;
  if (attempt === undefined) return gone(undefined, closed, undefined, { needsCleanUp });
  const isIntended = attempt.phase === 'intended';
  const runOver = judgeTime(attempt);
  if (isIntended && !isDue(now, runOver))
    return gone(recordBefore, undefined, runOver, { state: 'followed', needsCleanUp });
  const news: GoneNode['news'] = isIntended ? [{ kind: 'lost', attempt }] : [];
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  if (attempt.action !== 'Terminate' || claim?.deletionTime === undefined) {
    const over = isIntended ? withoutAttempt(recordBefore, attempt) : recordBefore;
    return gone(undefined, closed, undefined, { needsCleanUp: over.leftovers !== undefined, news });
  }
  const record = isIntended ? accepted(recordBefore, attempt, []) : recordBefore;
  const check = addDuration(now, FOLLOW_CHECK);
  if (!isDue(now, attempt.until))
    return gone(record, undefined, earliest(attempt.until, check), { state: 'followed', needsCleanUp, news });
  const message = `its termination was begun at ${toTimestamp(attempt.time)}, its Node is gone, and it is not over: ${stuckBy(claim.finalizers.map(on('NodeClaim')))}`;
  const verdict: Verdict = { kind: 'stuck', node, attempt, claim: { name: claim.name, uid: claim.uid }, message };
  return gone(record, verdict, check, { needsCleanUp, news });
}

const on = (kind: string) => (finalizer: string) => `${finalizer} on the ${kind}`;

const stuckBy = (finalizers: readonly string[]): string =>
  finalizers.length === 0 ? 'no finalizer holds it' : `held by finalizer ${finalizers.join(', ')}`;
