/**
 * What a pass finds of one node: what became of an attempt, by looking (I4), and whose turn it is. What it decides of the node alone stands
 * in `node-verdict.ts`; what the pool allows, in `decide.ts`. Pure.
 */
import { ownerOf } from '../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { heldUntil } from '../../../shared/domain/refusal.ts';
import {
  type EpochMs,
  addDuration,
  earliest,
  isDue,
  latest,
  parseTimestamp,
  toTimestamp,
} from '../../../shared/domain/time.ts';
import { newNode, accepted, calledOff, describe, replacementOf, settledTime, withoutAttempt } from './attempt.ts';
import { WELL_FOR, clocksOf, illnessAt, illsOf, nextEpisodes } from './illness.ts';
import { actsOf, allRungsOf, awaitsReboot, hasTime, isBeforeReboot, isInPlace, rungsOf } from './ladder.ts';
import { decideNode, endsBy, otherAtWork, readableSettings } from './node-verdict.ts';
import { replacementSeen, replacementStatusOf, unmarkTime } from './replacement.ts';
import { lookAtReplacing } from './replacing.ts';
import { IN_FLIGHT, QUIET, type LookContext, type LookResult, type JudgedNode } from './judged-node.ts';
import type { Attempt, NodeRecord } from './record.ts';
import { FOLLOW_CHECK, BLOCKED_CHECK } from './times.ts';
import { dueOf, lookAtTurn, lookWhileOff, wasWithoutTime } from './turn.ts';
import type { NodeLook, Verdict } from './verdict.ts';

/** @param held what is remembered of the node */
export function lookAt(context: LookContext, node: NodeView, held: NodeRecord | undefined): NodeLook {
  const { now, rules, pool } = context;
  const settings = readableSettings(rules);
  const isOn = rules.gateOpen && settings !== undefined;
  const ownTime = context.observedTimes.get(node.uid);
  // What was ill before, without a time, is no change.
  const isNew = !wasWithoutTime(held);
  const observedTime = isNew ? (ownTime ?? context.changesTime) : undefined;
  const ills = settings === undefined ? [] : illsOf(node, { now, settings, record: held, observedTime, ownTime });
  const owner = ownerOf(node, context.owners);
  const asked = context.asked.get(node.name);
  const episodes =
    settings === undefined ? (held?.episodes ?? []) : nextEpisodes(node, settings, held?.episodes ?? [], now);
  const decision = decideNode({ now, node, owner, rules, ills, episodes, asked });
  const claim = owner.kind === 'claim' ? owner.claim : undefined;
  const isIll = settings === undefined ? isIllStill(node, held) : ills.length > 0;
  const other = isIll ? otherAtWork(node, claim, asked, now) : undefined;
  const known = held ?? newNode(node.name, pool);
  const { illness: _, others: __, pool: ___, ...rest } = known;
  const illness = illnessAt(known.illness, isIll, now);
  const ended = known.illness !== undefined && illness === undefined ? endOf(known) : undefined;
  const record: NodeRecord = {
    ...rest,
    name: node.name,
    ...(pool !== undefined && { pool }),
    clocks: settings === undefined ? clocksStill(node, known) : clocksOf(ills),
    ...(illness && { illness }),
    ...ended,
    episodes: [...episodes],
    acts: [...(held?.acts ?? actsOf(node))],
    ...(other && { others: known.others?.what === other.what ? known.others : { what: other.what, time: now } }),
  };
  const { replacement } = known.ours ?? {};
  const seen: JudgedNode = {
    context,
    node,
    record: replacement
      ? { ...record, ours: { ...record.ours, replacement: replacementSeen(replacement, context, now) } }
      : record,
    held,
    decision,
    ills,
    isIll,
    isOn,
    rungs: decision.kind === 'due' ? rungsOf(decision.terms, decision.claim?.terminationGracePeriod) : [],
    allRungs: settings ? allRungsOf(settings) : [],
  };
  const look = withEnds(lookAtAttempt(seen), seen);
  const countsOther =
    other !== undefined && record.others !== undefined && !isDue(now, addDuration(record.others.time, other.countsFor));
  const otherEnds = countsOther && record.others ? addDuration(record.others.time, other.countsFor) : undefined;
  return {
    ...look,
    state: isOn && countsOther ? 'inFlight' : look.state,
    time: earliest(look.time, otherEnds),
  };
}

/** Without settings: the statements whose conditions still say what they said. */
const clocksStill = ({ conditions }: NodeView, { clocks }: NodeRecord): NodeRecord['clocks'] =>
  Object.fromEntries(
    Object.entries(clocks).filter(([key]) => conditions.some(({ type, status }) => key === `${type}=${status}`)),
  );

const isIllStill = (node: NodeView, held: NodeRecord | undefined): boolean =>
  held !== undefined &&
  (Object.keys(clocksStill(node, held)).length > 0 ||
    (held.attempt !== undefined &&
      node.conditions.some(
        ({ type, status }) =>
          type === held.attempt?.incident.conditionType && status === held.attempt.incident.conditionStatus,
      )));

/** What is remembered of an illness that is over. */
function endOf({ illness, acts }: NodeRecord): Pick<NodeRecord, 'before'> | undefined {
  const last = acts.at(-1);
  const key = illness?.taken.at(-1);
  if (illness === undefined || last === undefined || key === undefined) return undefined;
  return { before: { type: illness.type, key, time: last.time } };
}

/** The node with what can still end: the illness after a while, a termination by its stuck time. */
function withEnds(look: LookResult, { node, record, context: { now } }: JudgedNode): NodeLook {
  const wellTime = look.record?.illness?.wellTime ?? record.illness?.wellTime;
  const wellEnds = wellTime === undefined || look.record === undefined ? undefined : addDuration(wellTime, WELL_FOR);
  const isOver = wellEnds !== undefined && isDue(now, wellEnds);
  // A run that died had set it, and nothing begins now that would make use of it.
  const isLeft =
    look.record?.attempt === undefined && dueOf(look) === undefined && look.record?.ours?.annotation !== undefined;
  const { replacement } = look.record?.ours ?? {};
  const unmarks = replacement && unmarkTime(replacement);
  const isUnused =
    replacement !== undefined && unmarks === undefined && replacementOf(look.record?.attempt) === undefined;
  const isMarked = unmarks !== undefined && isDue(now, unmarks);
  return {
    ...look,
    takesBack: look.takesBack || isLeft || isMarked || (isUnused && dueOf(look) === undefined),
    state: look.state === 'quiet' && replacement !== undefined ? 'followed' : look.state,
    node: { name: node.name, uid: node.uid },
    view: node,
    time: earliest(isOver ? look.time : earliest(look.time, wellEnds), unmarks),
  };
}

function lookAtAttempt(seen: JudgedNode): LookResult {
  const { context, record, isOn } = seen;
  const { attempt } = record;
  if (attempt === undefined) return isOn ? lookAtTurn(seen, undefined) : lookWhileOff(seen);
  const answered = withDrainEnd(attempt, context, seen.node.uid);
  if (answered.phase === 'accepted') return lookAtAccepted(seen, answered);
  const settled = settledTime(answered);
  if (!isDue(context.now, settled)) {
    const message = `attempt ${answered.number} may still be under way`;
    const verdict: Verdict = { kind: 'settle', node: seen.node, message };
    return { ...IN_FLIGHT, record: { ...record, attempt: answered }, verdict, time: settled };
  }
  if (wasCarriedOut(answered, context, seen.node)) {
    const taken = accepted({ ...record, attempt: answered }, answered, seen.allRungs);
    const look = lookAtAccepted({ ...seen, record: taken }, taken.attempt ?? answered);
    return { ...look, unsaid: [{ kind: 'carriedOut', attempt: answered }, ...look.unsaid] };
  }
  const waits = retryTime(seen, answered);
  if (waits !== undefined) {
    const why = record.refusals?.[answered.key]?.message ?? '';
    const message = `${why}; it is tried again at ${toTimestamp(waits)}`;
    return { ...IN_FLIGHT, record, verdict: { kind: 'retry', node: seen.node, message }, time: waits };
  }
  return lookAtStale(seen, answered);
}

function withDrainEnd(attempt: Attempt, { drainEnds }: LookContext, uid: string): Attempt {
  const end = drainEnds.get(uid);
  const isOurs = attempt.action === 'Drain' && end !== undefined && end.requestId === attempt.requestId;
  return isOurs ? { ...attempt, answer: end.answer } : attempt;
}

/**
 * A termination that was begun: the NodeClaim is gone, or on its way with a deadline no later than ours. A graceful deletion that somebody else had begun is
 * not what the attempt was for. Nothing tells for certain that a machine was not rebooted, so that counts as carried out. What is asked for
 * under an id of its own can be asked for again.
 */
function wasCarriedOut(attempt: Attempt, context: LookContext, { annotations }: NodeView): boolean {
  const { claims, now } = context;
  switch (attempt.action) {
    case 'Reboot':
      return annotations !== undefined;
    case 'Drain':
    case 'CustomResource':
      return false;
    case 'Replace':
      return attempt.replacement !== undefined && replacementStatusOf(attempt.replacement, context).kind !== 'gone';
    case 'Terminate': {
      // Without a NodeClaim the instance was looked at before (`inquire` in `../look.ts`), and had not been ended.
      if (attempt.claim === undefined) return false;
      const seen = claims.get(attempt.claim.uid);
      if (seen?.deletionTime === undefined) return seen === undefined;
      const deadline = parseTimestamp(attempt.terminationTimestamp ?? '');
      return deadline === undefined || endsBy(seen, latest(now, deadline));
    }
  }
}

/** The API server keeps failing a termination that is still wanted: it waits, and what it has set stays. undefined: it may be tried. */
function retryTime({ context, decision, record, isOn }: JudgedNode, { action, key }: Attempt): EpochMs | undefined {
  const isWanted = isOn && context.rules.mode === 'Enforce' && decision.kind === 'due';
  if (action !== 'Terminate' || !isWanted) return undefined;
  return heldUntil(record.refusals?.[key], { basis: context.basisOf(decision.claim), now: context.now });
}

/** Not carried out by a run that ended: taken over where it is still wanted, else taken back. */
function lookAtStale(seen: JudgedNode, attempt: Attempt): LookResult {
  const { isOn, context } = seen;
  const record = withoutAttempt(seen.record, attempt);
  // Its replacement may be open by now.
  if (attempt.action === 'Terminate' && attempt.replacement !== undefined)
    return lookAtReplacing({ ...seen, record }, { ...attempt, action: 'Replace', phase: 'accepted' });
  const wanted = isOn && context.rules.mode === 'Enforce' ? lookAtTurn({ ...seen, record }, attempt) : undefined;
  if (wanted !== undefined && dueOf(wanted)?.stale !== undefined) return wanted;
  const otherwise = wanted ?? (isOn ? lookAtTurn({ ...seen, record }, undefined) : lookWhileOff({ ...seen, record }));
  return { ...otherwise, takesBack: true, state: 'followed' };
}

function lookAtAccepted(seen: JudgedNode, attempt: Attempt): LookResult {
  if (attempt.action === 'Replace') return lookAtReplacing(seen, attempt);
  return isInPlace(attempt) ? lookAtInPlace(seen, attempt) : lookAtTermination(seen, attempt);
}

/** The Node is still there. */
function lookAtTermination(seen: JudgedNode, attempt: Attempt): LookResult {
  const { context, node, isIll } = seen;
  const { now, claims } = context;
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  // Accepted, and yet the NodeClaim stands there as if nothing had happened.
  if (claim !== undefined && claim.deletionTime === undefined) {
    const record = withoutAttempt(seen.record, attempt);
    return {
      ...(seen.isOn ? lookAtTurn({ ...seen, record }, undefined) : lookWhileOff({ ...seen, record })),
      takesBack: true,
    };
  }
  const record = { ...seen.record, attempt };
  const takesBack = !isIll && hasHelpers(record, claim === undefined && attempt.claim !== undefined);
  if (!isDue(now, attempt.until)) {
    const time = earliest(attempt.until, addDuration(now, FOLLOW_CHECK));
    const message = describe(attempt);
    const verdict = isIll ? ({ kind: 'finishing', node, message } as const) : undefined;
    return { ...IN_FLIGHT, record, verdict, time, takesBack };
  }
  const kept = [...(claim?.finalizers ?? []).map(on('NodeClaim')), ...(node.finalizers ?? []).map(on('Node'))];
  const message = `its termination was begun at ${toTimestamp(attempt.time)} and is not over: ${stuckBy(kept)}; it holds no other repair any more`;
  const verdict: Verdict = { kind: 'stuck', node, attempt, message };
  return { ...QUIET, record, verdict, time: addDuration(now, FOLLOW_CHECK), state: 'followed', takesBack };
}

/** Who was asked for help is not needed any more; a drain is, for as long as the NodeClaim is on its way. */
function hasHelpers({ ours }: NodeRecord, isClaimGone: boolean): boolean {
  return ours?.resources !== undefined || ours?.mayHaveMade !== undefined || (isClaimGone && ours?.drain !== undefined);
}

function lookAtInPlace(seen: JudgedNode, attempt: Attempt): LookResult {
  const { context, node, isIll, isOn } = seen;
  const { now, rules } = context;
  const record = { ...seen.record, attempt };
  if (!isIll && !awaitsReboot(attempt, node, now)) {
    const message = `the node is well again after ${attempt.action}, attempt ${attempt.number}${rebootSeen(attempt, node)}`;
    const over = withoutAttempt(record, attempt);
    // A reboot that helped ends the illness at once.
    const isMended = attempt.action === 'Reboot' && node.bootID !== attempt.bootID;
    const { illness: _, ...rest } = over;
    const verdict: Verdict = { kind: 'recovered', node, attempt, message };
    return { ...QUIET, record: isMended ? rest : over, verdict, takesBack: true };
  }
  // A drain is called off; others answer to a custom resource, and are not interrupted at half way. A block that cannot be read is a mistake.
  const isInvalid = rules.gateOpen && rules.settings !== undefined && 'invalid' in rules.settings;
  const isWanted = (isOn && rules.mode === 'Enforce') || isInvalid;
  if (!isWanted && attempt.action === 'Drain' && (hasTime(attempt, now) || isBeforeReboot(attempt)))
    return callOff(seen, attempt);
  if (hasTime(attempt, now)) {
    const time = earliest(attempt.until, addDuration(now, FOLLOW_CHECK));
    const verdict: Verdict | undefined = isIll ? { kind: 'underWay', node, message: describe(attempt) } : undefined;
    return { ...IN_FLIGHT, record, verdict, time };
  }
  const takesBack = record.ours?.maintenance === true;
  if (attempt.answer?.kind === 'stopped') {
    const message = `${describe(attempt)}; no further action is set`;
    const verdict: Verdict = { kind: 'exhausted', node, message };
    return { ...QUIET, record, verdict, time: addDuration(now, BLOCKED_CHECK), state: 'followed', takesBack };
  }
  if (!isOn) return { ...IN_FLIGHT, record, time: addDuration(now, FOLLOW_CHECK), takesBack };
  const turn = lookAtTurn({ ...seen, record }, undefined);
  // It stays closed only for the reboot.
  const due = dueOf(turn);
  if (isBeforeReboot(attempt) && due?.rung.type !== 'Reboot' && turn.verdict?.kind !== 'retry') {
    if (due === undefined) return callOff(seen, attempt);
    const next = lookAtTurn({ ...seen, record: withoutAttempt(record, attempt) }, undefined);
    return { ...next, state: 'inFlight', takesBack };
  }
  const isLeft = turn.verdict?.kind !== 'exhausted' && turn.verdict?.kind !== 'retry';
  return { ...turn, state: isLeft ? 'inFlight' : 'followed', takesBack };
}

/** It counts as not taken, and begins anew when it may. */
function callOff(seen: JudgedNode, attempt: Attempt): LookResult {
  const record = calledOff({ ...seen.record, attempt }, attempt);
  const rest = { ...seen, record };
  return { ...(seen.isOn ? lookAtTurn(rest, undefined) : lookWhileOff(rest)), takesBack: true };
}

const rebootSeen = (attempt: Attempt, node: NodeView): string =>
  attempt.action !== 'Reboot' || attempt.bootID === undefined
    ? ''
    : node.bootID === attempt.bootID
      ? ', although its boot ID is the same as before'
      : ` (boot ID ${node.bootID ?? 'none'})`;

/** Its Node is gone. */
export function lookAtGone(
  { uid, held }: { readonly uid: string; readonly held: NodeRecord },
  { now, claims }: LookContext,
): NodeLook {
  const { attempt } = held;
  const node = { name: held.name, uid };
  const base = { ...QUIET, node, view: undefined, takesBack: held.ours !== undefined };
  const gone: Verdict = { kind: 'gone', node, message: 'the node is gone, its incident is closed' };
  if (attempt === undefined) return { ...base, record: undefined, verdict: gone };
  const settled = settledTime(attempt);
  if (attempt.phase === 'intended' && !isDue(now, settled))
    return { ...base, record: held, time: settled, state: 'followed' };
  const unsaid: NodeLook['unsaid'] = attempt.phase === 'intended' ? [{ kind: 'lost', attempt }] : [];
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  if (attempt.action !== 'Terminate' || claim?.deletionTime === undefined) {
    const over = attempt.phase === 'intended' ? withoutAttempt(held, attempt) : held;
    return { ...base, record: undefined, verdict: gone, takesBack: over.ours !== undefined, unsaid };
  }
  const record = attempt.phase === 'intended' ? accepted(held, attempt, []) : held;
  if (!isDue(now, attempt.until)) {
    const time = earliest(attempt.until, addDuration(now, FOLLOW_CHECK));
    return { ...base, record, time, state: 'followed', unsaid };
  }
  const message = `its termination was begun at ${toTimestamp(attempt.time)}, its Node is gone, and it is not over: ${stuckBy(claim.finalizers.map(on('NodeClaim')))}`;
  const verdict: Verdict = { kind: 'stuck', node, attempt, claim: { name: claim.name, uid: claim.uid }, message };
  return { ...base, record, verdict, time: addDuration(now, FOLLOW_CHECK), state: 'followed', unsaid };
}

const on = (kind: string) => (finalizer: string) => `${finalizer} on the ${kind}`;

const stuckBy = (finalizers: readonly string[]): string =>
  finalizers.length === 0 ? 'no finalizer holds it' : `held by finalizer ${finalizers.join(', ')}`;
