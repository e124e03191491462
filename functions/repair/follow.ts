/**
 * What a pass finds of one node: what became of an attempt, by looking (I4), and whose turn it is. What it decides of the node alone stands
 * in `node-verdict.ts`; what the pool allows, in `decide.ts`. Pure.
 */
import { formatDuration } from '../../shared/domain/go-duration.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { ownerOf, type OwnerIndex } from '../../shared/domain/node-owner.ts';
import type { RepairSettings } from '../../shared/domain/repair-policy.ts';
import { addDuration, earliest, isDue, latest, minutes, seconds, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { nextEpisodes } from './flapping.ts';
import { clocksOf, illnessAt, illsOf, WELL_FOR, type Ill } from './illness.ts';
import {
  actsOf,
  awaitsReboot,
  hasTime,
  isInPlace,
  keyOf,
  rungsOf,
  takenBefore,
  turnOf,
  withAct,
  type Rung,
} from './ladder.ts';
import { decideNode, isTerminatingForcefully, type NodeDecision, type RepairRules } from './node-verdict.ts';
import { otherAtWork } from './others.ts';
import { newNode, type Attempt, type NodeRecord } from './record.ts';
import type { NodeLook, Verdict } from './verdict.ts';

/**
 * How long the attempt of another run may still act: a function runs for at most 30 s, what it sent last may take effect some seconds
 * later, and the two clocks may differ.
 */
export const RUN_SETTLES_AFTER = seconds(60);
/** A node with something under way is looked at this often, so that it never goes out of sight. */
export const FOLLOW_CHECK = minutes(5);
/** A hold that ends with a change elsewhere is looked at again after this long. */
export const HOLD_CHECK = minutes(5);
const OTHERS_CHECK = minutes(1);

/** What nodes are judged by. */
export interface LookContext {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly rules: RepairRules;
  readonly owners: OwnerIndex;
  readonly claims: ReadonlyMap<string, NodeClaimView>;
  /** By UID: when the forwarder saw the change of the node that this pass is for. */
  readonly observedTimes: ReadonlyMap<string, EpochMs>;
  /** The same for every node, where the pass is for changes alone. */
  readonly changesTime: EpochMs | undefined;
  /** By UID: how a drain that was asked for ended. */
  readonly drainEnds: ReadonlyMap<string, { readonly requestId: string; readonly answer: NonNullable<Attempt['answer']> }>;
  /** What stands for a node in other systems, by its name. */
  readonly asked: ReadonlyMap<string, string>;
  /** What a refused act rests on, beside its NodeClaim. */
  readonly basisOf: (claim: NodeClaimView | undefined) => string;
}

export const readableSettings = ({ settings }: RepairRules): RepairSettings | undefined =>
  settings === undefined || 'invalid' in settings ? undefined : settings;

/** From when on an attempt without an outcome is judged by what is seen. */
export const settledTime = ({ time, askTime }: Attempt): EpochMs => {
  const settled = addDuration(time, RUN_SETTLES_AFTER);
  return askTime === undefined ? settled : latest(settled, askTime);
};

/** @param held what is remembered of the node */
export function lookAt(context: LookContext, node: NodeView, held: NodeRecord | undefined): NodeLook {
  const { now, rules, pool } = context;
  const settings = readableSettings(rules);
  const isOn = rules.gateOpen && settings !== undefined;
  const ownTime = context.observedTimes.get(node.uid);
  // What was ill before, without a time, is no change.
  const isNew = held === undefined || held.said?.code !== 'ignore';
  const observedTime = isNew ? (ownTime ?? context.changesTime) : undefined;
  const ills = settings === undefined ? [] : illsOf(node, { now, settings, record: held, observedTime, ownTime });
  const owner = ownerOf(node, context.owners);
  const asked = context.asked.get(node.name);
  const episodes = settings === undefined ? (held?.episodes ?? []) : nextEpisodes(node, settings, held?.episodes ?? [], now);
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
  const seen: Seen = { context, node, record, held, decision, ills, isIll, isOn, rungs: settings ? rungsOf(settings) : [] };
  const look = withEnds(lookAtAttempt(seen), seen);
  const countsOther = other !== undefined && record.others !== undefined && !isDue(now, addDuration(record.others.time, other.countsFor));
  const otherEnds = countsOther && record.others ? addDuration(record.others.time, other.countsFor) : undefined;
  return {
    ...look,
    holds: look.holds || (isOn && countsOther),
    time: earliest(look.time, otherEnds),
  };
}

interface Seen {
  readonly context: LookContext;
  readonly node: NodeView;
  readonly record: NodeRecord;
  readonly held: NodeRecord | undefined;
  readonly decision: NodeDecision;
  readonly ills: readonly Ill[];
  readonly isIll: boolean;
  readonly isOn: boolean;
  readonly rungs: readonly Rung[];
}

type Partly = Omit<NodeLook, 'node' | 'view'>;
const QUIET = { holds: false, isFollowed: false, takesBack: false } as const;

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
function withEnds(look: Partly, { node, record, context: { now } }: Seen): NodeLook {
  const wellTime = look.record?.illness?.wellTime ?? record.illness?.wellTime;
  const wellEnds = wellTime === undefined || look.record === undefined ? undefined : addDuration(wellTime, WELL_FOR);
  const isOver = wellEnds !== undefined && isDue(now, wellEnds);
  return { ...look, node: { name: node.name, uid: node.uid }, view: node, time: isOver ? look.time : earliest(look.time, wellEnds) };
}

function lookAtAttempt(seen: Seen): Partly {
  const { context, record, isOn } = seen;
  const { attempt } = record;
  if (attempt === undefined) return isOn ? lookAtTurn(seen, undefined) : lookWhileOff(seen);
  const answered = withDrainEnd(attempt, context, seen.node.uid);
  if (answered.phase === 'accepted') return lookAtAccepted(seen, answered);
  const settled = settledTime(answered);
  if (!isDue(context.now, settled)) {
    const message = `attempt ${answered.number} may still be under way`;
    const verdict: Verdict = { kind: 'settle', node: seen.node, message };
    return { record: { ...record, attempt: answered }, verdict, time: settled, holds: true, isFollowed: true, takesBack: false };
  }
  if (wasCarriedOut(answered, context, seen.node)) {
    const taken = accepted({ ...record, attempt: answered }, answered, seen.rungs);
    return { ...lookAtAccepted({ ...seen, record: taken }, taken.attempt ?? answered), found: answered };
  }
  return lookAtStale(seen, answered);
}

/** The record once the act is accepted. */
export function accepted(record: NodeRecord, attempt: Attempt, rungs: readonly Rung[]): NodeRecord {
  const { key, action, bootID, incident } = attempt;
  const { [key]: _, ...refusals } = record.refusals ?? {};
  const { refusals: __, ...rest } = record;
  const act = { key, action, time: attempt.time, ...(bootID !== undefined && { bootID }) };
  return {
    ...rest,
    ...(Object.keys(refusals).length > 0 && { refusals }),
    attempt: { ...attempt, phase: 'accepted' },
    illness: {
      ...record.illness,
      type: incident.conditionType,
      taken: [...new Set([...(record.illness?.taken ?? []), key])],
    },
    acts: [...withAct(record, act, rungs)],
    before: { type: incident.conditionType, key, time: attempt.time },
  };
}

function withDrainEnd(attempt: Attempt, { drainEnds }: LookContext, uid: string): Attempt {
  const end = drainEnds.get(uid);
  const isOurs = attempt.action === 'Drain' && end !== undefined && end.requestId === attempt.requestId;
  return isOurs ? { ...attempt, answer: end.answer } : attempt;
}

/**
 * A termination that was begun: the NodeClaim is gone, or on its way and forceful. A graceful deletion that somebody else had begun is
 * not what the attempt was for. Nothing tells for certain that a machine was not rebooted, so that counts as carried out. What is asked for
 * under an id of its own can be asked for again.
 */
function wasCarriedOut({ action, claim }: Attempt, { claims, now }: LookContext, { annotations }: NodeView): boolean {
  switch (action) {
    case 'Reboot':
      return annotations !== undefined;
    case 'Drain':
    case 'CustomResource':
      return false;
    case 'Terminate': {
      // Without a NodeClaim the instance was looked at before (`pass.ts`), and had not been ended.
      if (claim === undefined) return false;
      const seen = claims.get(claim.uid);
      return seen === undefined || isTerminatingForcefully(seen, now);
    }
  }
}

/** Not carried out by a run that ended: taken over where it is still wanted, else taken back. */
function lookAtStale(seen: Seen, attempt: Attempt): Partly {
  const { isOn, context } = seen;
  const record = withoutAttempt(seen.record, attempt);
  const wanted = isOn && context.rules.mode === 'Enforce' ? lookAtTurn({ ...seen, record }, attempt) : undefined;
  if (wanted?.due?.stale !== undefined) return wanted;
  const otherwise = wanted ?? (isOn ? lookAtTurn({ ...seen, record }, undefined) : lookWhileOff({ ...seen, record }));
  return { ...otherwise, takesBack: true, isFollowed: true };
}

/** The attempt is over; what it has made or set is still known as ours. */
export function withoutAttempt({ attempt: _, ...record }: NodeRecord, attempt: Attempt): NodeRecord {
  const { action, claim, phase, terminationTimestamp: set, previousTimestamp: previous, requestId } = attempt;
  const isSet = phase === 'intended' && action === 'Terminate' && set !== undefined && claim !== undefined;
  const annotation = isSet ? { claim, set, ...(previous !== undefined && { previous }) } : undefined;
  const drain = action === 'Drain' ? requestId : undefined;
  if (annotation === undefined && drain === undefined) return record;
  return { ...record, ours: { ...record.ours, ...(annotation && { annotation }), ...(drain !== undefined && { drain }) } };
}

function lookAtAccepted(seen: Seen, attempt: Attempt): Partly {
  return isInPlace(attempt) ? lookAtInPlace(seen, attempt) : lookAtTermination(seen, attempt);
}

/** The Node is still there. */
function lookAtTermination(seen: Seen, attempt: Attempt): Partly {
  const { context, node, isIll } = seen;
  const { now, claims } = context;
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  // Accepted, and yet the NodeClaim stands there as if nothing had happened.
  if (claim !== undefined && claim.deletionTime === undefined) {
    const record = withoutAttempt(seen.record, attempt);
    return { ...(seen.isOn ? lookAtTurn({ ...seen, record }, undefined) : lookWhileOff({ ...seen, record })), takesBack: true };
  }
  const record = { ...seen.record, attempt };
  const takesBack = !isIll && hasHelpers(record, claim === undefined && attempt.claim !== undefined);
  if (!isDue(now, attempt.until)) {
    const time = earliest(attempt.until, addDuration(now, FOLLOW_CHECK));
    const message = describe(attempt);
    const verdict = isIll ? ({ kind: 'finishing', node, message } as const) : undefined;
    return { record, verdict, time, holds: true, isFollowed: true, takesBack };
  }
  const kept = [...(claim?.finalizers ?? []).map(on('NodeClaim')), ...(node.finalizers ?? []).map(on('Node'))];
  const message = `its termination was begun at ${toTimestamp(attempt.time)} and is not over: ${stuckBy(kept)}; it holds no other repair any more`;
  const time = addDuration(now, FOLLOW_CHECK);
  return { record, verdict: { kind: 'stuck', node, attempt, message }, time, holds: false, isFollowed: true, takesBack };
}

const on = (kind: string) => (finalizer: string) => `${finalizer} on the ${kind}`;
export const stuckBy = (finalizers: readonly string[]): string =>
  finalizers.length === 0 ? 'no finalizer holds it' : `held by finalizer ${finalizers.join(', ')}`;

/** Who was asked for help is not needed any more; a drain is, for as long as the NodeClaim is on its way. */
function hasHelpers({ ours }: NodeRecord, isClaimGone: boolean): boolean {
  return ours?.resources !== undefined || ours?.mayHaveMade !== undefined || (isClaimGone && ours?.drain !== undefined);
}

function lookAtInPlace(seen: Seen, attempt: Attempt): Partly {
  const { context, node, isIll, isOn, rungs } = seen;
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
  if (!isWanted && attempt.action === 'Drain' && hasTime(attempt, now)) {
    const over = untaken(withoutAttempt(record, attempt), attempt);
    return { ...(isOn ? lookAtTurn({ ...seen, record: over }, undefined) : lookWhileOff({ ...seen, record: over })), takesBack: true };
  }
  if (hasTime(attempt, now)) {
    const time = earliest(attempt.until, addDuration(now, FOLLOW_CHECK));
    const verdict: Verdict | undefined = isIll ? { kind: 'finishing', node, message: describe(attempt) } : undefined;
    return { record, verdict, time, holds: true, isFollowed: true, takesBack: false };
  }
  if (attempt.answer?.kind === 'stopped') {
    const message = `${describe(attempt)}; no further action is set`;
    return { record, verdict: { kind: 'exhausted', node, message }, time: addDuration(now, HOLD_CHECK), holds: false, isFollowed: true, takesBack: false };
  }
  if (!isOn) return { record, time: addDuration(now, FOLLOW_CHECK), holds: true, isFollowed: true, takesBack: false };
  const turn = lookAtTurn({ ...seen, record, rungs }, undefined);
  const isLeft = turn.verdict?.kind !== 'exhausted' && turn.verdict?.kind !== 'retry';
  return { ...turn, holds: isLeft, isFollowed: true, takesBack: !isLeft && record.ours?.maintenance === true };
}

/** Called off before its time was over: not taken. */
function untaken(record: NodeRecord, { key }: Attempt): NodeRecord {
  if (record.illness === undefined) return record;
  return { ...record, illness: { ...record.illness, taken: record.illness.taken.filter(each => each !== key) } };
}

const rebootSeen = ({ action, bootID }: Attempt, node: NodeView): string =>
  action !== 'Reboot' || bootID === undefined
    ? ''
    : node.bootID === bootID
      ? ', although its boot ID is the same as before'
      : ` (boot ID ${node.bootID ?? 'none'})`;

/** Since when, until when: what is said of an act under way. */
export function describe({ action, claim, until, answer, time }: Attempt): string {
  if (answer !== undefined) return `${action} is over: ${answer.message}`;
  const since = `since ${toTimestamp(time)}`;
  if (action !== 'Terminate') return `${action} is under way ${since}, until ${toTimestamp(until)}`;
  return claim === undefined
    ? `the instance was terminated in its Auto Scaling group, ${since}`
    : `NodeClaim ${claim.name} is being terminated, ${since}`;
}

/** Nothing of it is under way: what the node's own state says, and whose turn it is. */
function lookAtTurn(seen: Seen, stale: Attempt | undefined): Partly {
  const { decision, node, record, context, rungs, ills } = seen;
  const { now } = context;
  switch (decision.kind) {
    case 'ignore':
      if (decision.reason !== 'NoNodeClaim') return lookAtNothing(seen);
      return hold(seen, { kind: 'unclaimed', node, incident: decision.incident, message: decision.message }, HOLD_CHECK);
    case 'refuse':
      return lookAtNothing(seen);
    case 'tolerate': {
      const { incident, message } = decision;
      const doubts = ills.flatMap(({ doubt, condition: { type, lastTransitionTime } }) =>
        doubt === undefined ? [] : [`the clock that wrote ${type} is ${doubt}: its time is ${lastTransitionTime === undefined ? '(none)' : toTimestamp(lastTransitionTime)}`],
      );
      return { ...QUIET, record, verdict: { kind: 'tolerate', node, incident, doubts, message }, time: incident.dueTime };
    }
    case 'blocked': {
      const { reason, incident, message } = decision;
      return hold(seen, { kind: 'blocked', node, reason, incident, message }, reason === 'BeingDisrupted' ? OTHERS_CHECK : HOLD_CHECK);
    }
    case 'vetoed': {
      const { until } = decision.veto;
      const check = addDuration(now, HOLD_CHECK);
      const look = hold(seen, { kind: 'vetoed', node, decision, message: decision.message }, HOLD_CHECK);
      return { ...look, time: until === undefined ? check : earliest(until, check) };
    }
    case 'finishing':
      return hold(seen, { kind: 'finishing', node, message: decision.message }, FOLLOW_CHECK);
    case 'due': {
      const { incident } = decision;
      const taken = record.illness?.taken ?? takenBefore(record, incident.conditionType, rungs, now);
      const basis = context.basisOf(decision.claim);
      const turn = turnOf({ rungs, taken, acts: record.acts, refusals: record.refusals, basis }, now);
      if (turn.kind === 'next') {
        const { rung } = turn;
        const rest = rungs.slice(rungs.indexOf(rung) + 1).filter(each => !taken.includes(keyOf(each)));
        const same = stale?.key === keyOf(rung) ? stale : undefined;
        const begun: NodeRecord = { ...record, illness: { ...record.illness, type: incident.conditionType, taken: [...taken] } };
        return { ...QUIET, record: begun, due: { decision, rung, rest, stale: same } };
      }
      if (turn.kind === 'refused') {
        const message = `${decision.message}; refused: ${turn.message}; it is tried again at ${toTimestamp(turn.until)}`;
        return { ...QUIET, record, verdict: { kind: 'retry', node, message }, time: turn.until };
      }
      const returns = turn.until === undefined ? '' : `; an allowance returns at ${toTimestamp(turn.until)}`;
      const list = rungs.map(({ type, timeout }) => `${type} ${formatDuration(timeout)}`).join(', ');
      const message = `every action of repair.actions (${list}) was taken or has no attempt left, no further action is set${returns}`;
      return { ...QUIET, record, verdict: { kind: 'exhausted', node, message }, time: earliest(turn.until, addDuration(now, HOLD_CHECK)) };
    }
  }
}

function hold({ record, context: { now } }: Seen, verdict: Verdict, check: typeof HOLD_CHECK): Partly {
  return { ...QUIET, record, verdict, time: addDuration(now, check) };
}

/** Well, or not to be judged. */
function lookAtNothing(seen: Seen): Partly {
  const { decision, node, record, held, context } = seen;
  const { now, rules } = context;
  if (decision.kind === 'refuse') {
    return { ...QUIET, record: kept(seen), verdict: { kind: 'refuse', node, message: decision.message }, time: addDuration(now, FAULT_CHECK) };
  }
  if (decision.kind !== 'ignore' || decision.reason === 'NoNodeClaim') return { ...QUIET, record };
  const { reason, message } = decision;
  const verdict: Verdict = { kind: 'ignore', node, reason, message };
  if (reason === 'NoTransitionTime') return { ...QUIET, record, verdict, time: addDuration(now, FAULT_CHECK) };
  const isAsked = reason !== 'Healthy' && held === undefined && context.observedTimes.has(node.uid);
  const wasOpen = isAsked || (held !== undefined && Object.keys(held.clocks).length > 0);
  const window = readableSettings(rules)?.flapping?.window;
  const last = record.episodes.at(-1)?.endTime;
  const time = window !== undefined && last !== undefined ? addDuration(last, window) : undefined;
  return { ...QUIET, record: kept(seen), ...(wasOpen && { verdict }), time, takesBack: record.ours !== undefined };
}

/** A node that cannot be judged is looked at this often; a fix usually comes as an event. */
const FAULT_CHECK = minutes(60);

/** What is worth remembering of a node that is not ill; undefined: nothing. */
function kept({ record, context: { now } }: Seen): NodeRecord | undefined {
  const { illness, acts, ours, episodes, clocks, attempt, said } = record;
  const isActed = acts.some(({ time }) => !isDue(now, addDuration(time, KEPT_FOR)));
  const isAny =
    illness !== undefined ||
    isActed ||
    (said !== undefined && !isDue(now, addDuration(said.time, minutes(60)))) ||
    ours !== undefined ||
    attempt !== undefined ||
    episodes.length > 0 ||
    Object.keys(clocks).length > 0;
  return isAny ? record : undefined;
}

/** Acts are remembered for a day. */
export const KEPT_FOR = minutes(24 * 60);

/** Nothing may be repaired: what is under way is followed, and what was begun is known when it may be again. */
function lookWhileOff(seen: Seen): Partly {
  const { record } = seen;
  const look = lookAtNothing(seen);
  const isLeft = record.ours?.annotation !== undefined || record.ours?.drain !== undefined;
  return { ...look, takesBack: look.takesBack || isLeft };
}

/** Its Node is gone. */
export function lookAtGone(
  { uid, held }: { readonly uid: string; readonly held: NodeRecord },
  { now, claims }: LookContext,
): NodeLook {
  const { attempt } = held;
  const node = { name: held.name, uid };
  const base = { node, view: undefined, holds: false, isFollowed: false, takesBack: held.ours !== undefined };
  const gone: Verdict = { kind: 'gone', node, message: 'the node is gone, its incident is closed' };
  if (attempt === undefined) return { ...base, record: undefined, verdict: gone };
  const settled = settledTime(attempt);
  if (attempt.phase === 'intended' && !isDue(now, settled)) return { ...base, record: held, time: settled, isFollowed: true };
  const isLost = attempt.phase === 'intended' && { lost: attempt };
  const claim = attempt.claim && claims.get(attempt.claim.uid);
  if (attempt.action !== 'Terminate' || claim?.deletionTime === undefined) {
    const over = attempt.phase === 'intended' ? withoutAttempt(held, attempt) : held;
    return { ...base, record: undefined, verdict: gone, takesBack: over.ours !== undefined, ...isLost };
  }
  if (!isDue(now, attempt.until)) {
    return { ...base, record: held, time: earliest(attempt.until, addDuration(now, FOLLOW_CHECK)), isFollowed: true };
  }
  const message = `its termination was begun at ${toTimestamp(attempt.time)}, its Node is gone, and it is not over: ${stuckBy(claim.finalizers.map(on('NodeClaim')))}`;
  const verdict: Verdict = { kind: 'stuck', node, attempt, claim: { name: claim.name, uid: claim.uid }, message };
  return { ...base, record: held, verdict, time: addDuration(now, FOLLOW_CHECK), isFollowed: true };
}
