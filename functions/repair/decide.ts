/**
 * The rule of repair for a whole pool: which of its due nodes are repaired now, by rank, as far as guards, budgets,
 * limits and the ramp allow. It also says what the record of the pool keeps. Pure.
 */
import { type Candidate, dueOf, inFlightOf, type PresentNode, toFinding } from './rule/finding.ts';
import type { GrantedRepair, PoolDecision, PoolObservation } from './rule/pool-decision.ts';
import { nextPoolState } from './rule/pool-memory.ts';
import { calledOff, createAttempt, failureOf, newNode, withoutAttempt } from './rule/attempt.ts';
import { budgetBlocker } from './rule/concurrency-limits.ts';
import { futility } from './rule/futility.ts';
import { createGuards, type Guards, type GuardInputs, othersNotKnown, unconfirmed } from './rule/guards.ts';
import { isBeforeReboot } from './rule/ladder.ts';
import { decideNode, judgeNode } from './rule/node-verdict.ts';
import { advanceRamp, nextRamp, rampAllows, rampBlocker, undoneOf, withoutUndone } from './rule/ramp.ts';
import type { Incident, NodeRecord } from './node-record.ts';
import type { PoolRecord } from './pool-record.ts';
import { type Blocker, type DueNode, FOLLOW_CHECK, type Rank, type Verdict } from './rule/verdict.ts';
import { resolveNodeCount } from '../../shared/domain/repair-policy.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  minutes,
  seconds,
  toDurationMs,
} from '../../shared/domain/time.ts';

export { CONFIRMED, guardInputsOf, toBeConfirmed, type Unconfirmed } from './rule/guards.ts';
export { afterTakeBack, leftoversToTakeBack, recordWithLeftovers, withoutTakenBack } from './rule/leftovers.ts';
export type { RecordToCleanUp } from './rule/leftovers.ts';
export { joinAsks, type JudgedPool, judgePool, type NextRead, nextRead } from './rule/pool-verdict.ts';
export { afterRefusedAct, LOOK_AGAIN_AFTER, noteRefusedAct } from './rule/refused-act.ts';
export type { NotedRefusal, RefusedAct } from './rule/refused-act.ts';
export { decideNode, judgeNode, poolOf, stillWanted } from './rule/node-verdict.ts';

/** The number of nodes that one pass acts on; the others have the next pass. */
const MAX_ACTS = 100;

/** A due node gains one in its score for each such time. */
const AGES_BY = minutes(30);

/** The number of repairs that a pool has in flight at most, for its record is limited. */
const MAX_IN_FLIGHT = 5_000;

/** The longest time for which nodes that have just recovered hold the repair of another node, in one incident. */
const LONGEST_HELD_BY_RECOVERING = minutes(15);

/** The shortest time between two passes of one pool. */
export const PASS_SPACING = seconds(1);

/** Two passes are at least three times as far apart as the last one took. */
const SPACING_BY_DURATION = 3;
/** Two passes are at least a minute apart while a cluster freeze or a zone outage blocks repairs. */
const OUTAGE_SPACING = minutes(1);

/** The time until the next pass. @param decision undefined: there was nothing to decide */
export const spacingAfter = (took: DurationMs, decision?: Pick<PoolDecision, 'isOutage'>): DurationMs =>
  toDurationMs(Math.max(PASS_SPACING, took * SPACING_BY_DURATION, decision?.isOutage === true ? OUTAGE_SPACING : 0));

/** The rules of repair: the decision on a node, the judgement of a node, and the decision for a pool. */
export const RULES = { decideNode, judgeNode, decide } as const;

/** Grants the repairs that due nodes need, as far as the pool allows. */
export function decide(observation: PoolObservation): PoolDecision {
  const { now, findings, state, rules, guardInputs } = observation;
  const inFlight = inFlightOf(findings, state, now);
  if (!rules.gateOpen || guardInputs === undefined) {
    const { ramp, holdingGuards } = state;
    return nextPoolState(observation, { findings, granted: [], inFlight, ramp, holdingGuards });
  }

  const candidates = findings.flatMap((finding): Candidate[] => {
    const due = dueOf(finding);
    return due === undefined || finding.kind === 'gone' ? [] : [{ ...due, finding }];
  });
  const guards = createGuards(guardInputs);
  const blockers = new Map(candidates.map(each => [each, guards.blockerOf(each.finding.node)]));
  const holdingGuards = [...new Set([...blockers.values()].flatMap(blocker => blocker?.guard ?? []))];
  const currentRamp = state.ramp && withoutUndone(state.ramp, undoneOf(findings, state, now));
  const isAnythingDue = candidates.length > 0;
  const mayRamp = currentRamp !== undefined || state.holdingGuards.length > 0;
  const ramp = mayRamp
    ? nextRamp({ ramp: currentRamp, holdingGuards: state.holdingGuards }, { holdingGuards, isAnythingDue }, now)
    : undefined;
  const outcomes = grant(candidates, { observation, guardInputs, guards, blockers, inFlight, ramp });
  const byUid = new Map(outcomes.map(({ finding }) => [finding.node.uid, finding]));
  const granted = outcomes.flatMap(({ granted: each }) => each ?? []);
  const next = findings.map(finding => byUid.get(finding.node.uid) ?? finding);
  const rampAfter = ramp && advanceRamp(ramp, granted.length, now);
  return nextPoolState(observation, { findings: next, granted, inFlight, ramp: rampAfter, holdingGuards });
}

interface Granting {
  readonly observation: PoolObservation;
  readonly guardInputs: GuardInputs;
  readonly guards: Guards;
  readonly blockers: ReadonlyMap<Candidate, Blocker | undefined>;
  readonly inFlight: ReadonlySet<string>;
  readonly ramp: PoolRecord['ramp'];
}

interface Grant {
  readonly finding: PresentNode;
  readonly granted?: GrantedRepair;
}

/** Decides on each candidate, in their rank. */
function grant(candidates: readonly Candidate[], granting: Granting): readonly Grant[] {
  const { blockers, guards, ramp } = granting;
  const { now, pool, rules } = granting.observation;
  const isObserving = rules.mode === 'Observe';
  const places = createPlaces(granting);
  const score = scores(candidates, now);
  let granted = 0;
  return ranked(candidates, now).map((candidate, index): Grant => {
    const rank = { order: index + 1, of: candidates.length, score: Math.round(score(candidate.due) * 100) / 100 };
    const guarded = blockers.get(candidate);
    if (guarded !== undefined) return { finding: blockedNode(candidate, guarded, rank) };
    const recovering = heldByRecovering(candidate, guards, now);
    const judged = inIncident(candidate, recovering.incident, pool);
    const blocker = recovering.blocker ?? blockerOf(judged, granting) ?? places.admit(judged);
    if (blocker !== undefined) return { finding: blockedNode(judged, blocker, rank) };
    if (!isObserving && ramp !== undefined && granted >= rampAllows(ramp))
      return { finding: blockedNode(judged, rampBlocker(ramp, now), rank) };
    if (!isObserving && granted >= MAX_ACTS)
      return { finding: { ...judged.finding, time: addDuration(now, seconds(1)) } };
    places.take(judged);
    if (isObserving) return { finding: observedNode(judged, now) };
    granted += 1;
    return begun(judged, rank, now);
  });
}

/**
 * Orders due nodes by their score: the dense rank of priority among those that are due, and one more for each half hour
 * that a node has been due, whatever held it. Nodes with equal scores are ordered by health, the less healthy first,
 * then by name.
 */
export function ranked(candidates: readonly Candidate[], now: EpochMs): readonly Candidate[] {
  const score = scores(candidates, now);
  return candidates.toSorted(
    (a, b) =>
      score(b.due) - score(a.due) ||
      b.due.severity - a.due.severity ||
      (a.finding.node.name < b.finding.node.name ? -1 : 1),
  );
}

function scores(candidates: readonly Candidate[], now: EpochMs): (due: DueNode) => number {
  const priorities = [...new Set(candidates.map(({ due }) => due.entryPolicy.priority))].toSorted((a, b) => a - b);
  return ({ entryPolicy, dueSince }) => priorities.indexOf(entryPolicy.priority) + (now - dueSince) / AGES_BY;
}

/** A candidate whose node is remembered, with the incident that it is in. */
interface RememberedCandidate extends Candidate {
  readonly finding: Candidate['finding'] & { readonly record: NodeRecord };
}

function inIncident(candidate: Candidate, incident: Incident, pool: string | undefined): RememberedCandidate {
  const { finding } = candidate;
  const record = { ...(finding.record ?? newNode(finding.node.name, pool)), incident };
  return { ...candidate, finding: { ...finding, record } };
}

/** The blocker of a candidate that the guards let through, before places are counted; undefined: none. */
function blockerOf({ finding, due, action }: Candidate, { observation, guardInputs }: Granting): Blocker | undefined {
  const { now, state, answers } = observation;
  const isReplacing = action.type === 'Terminate' || action.type === 'Replace';
  const mayBeFutile = isReplacing && guardInputs.settings.futility !== undefined;
  const futile = mayBeFutile
    ? futility(guardInputs, failureOf(due.dueCondition), finding.node, state.terminations)
    : undefined;
  return (
    othersNotKnown(guardInputs.requestsFault, now) ?? futile ?? unconfirmed(due, answers?.get(finding.node.uid), now)
  );
}

/**
 * Counts the places that pool, budget, zone and cluster leave for the nodes of one pass. A repair in flight keeps its
 * place, and takes no second one. A custom resource disrupts nothing.
 */
function createPlaces({ observation, guardInputs, inFlight }: Granting) {
  const { settings, area, poolNodes, budget, now } = guardInputs;
  const maxConcurrent =
    settings.maxConcurrentRepairs && resolveNodeCount(settings.maxConcurrentRepairs, poolNodes.length);
  const limit = Math.min(maxConcurrent ?? MAX_IN_FLIGHT, MAX_IN_FLIGHT);
  const concurrencyLimits = observation.concurrencyLimits?.(inFlight);
  const disrupted = new Set(budget?.disrupted);
  const needsPlace = ({ finding: { node } }: Candidate): boolean => !inFlight.has(node.uid);
  const isDisruptive = ({ action }: Candidate): boolean => action.type !== 'CustomResource';
  let count = inFlight.size;
  return {
    /** The blocker of the candidate; undefined: it may begin, and counts in zone and cluster from now on. */
    admit(candidate: Candidate): Blocker | undefined {
      const { node } = candidate.finding;
      return (
        (needsPlace(candidate) && count >= limit ? budgetBlocker(area, count, limit, now) : undefined) ??
        (isDisruptive(candidate) ? budget?.blockerOf(node.uid, disrupted) : undefined) ??
        (needsPlace(candidate) ? concurrencyLimits?.admit(node) : undefined)
      );
    },
    /** Counts an admitted candidate, which now begins, in pool and budget, too. */
    take(candidate: Candidate): void {
      if (needsPlace(candidate)) count += 1;
      if (isDisruptive(candidate)) disrupted.add(candidate.finding.node.uid);
    },
  };
}

/** Begins the attempt. The record keeps what the previous action made or requested, so that it can be taken back. */
function begun(candidate: RememberedCandidate, rank: Rank, now: EpochMs): Grant {
  const { finding, action, laterActions, unfinished } = candidate;
  const { node, record } = finding;
  const { message, ladder } = candidate.due;
  const created = createAttempt(candidate, now);
  const { attempt } = created;
  const recordBefore = record.attempt === undefined ? record : withoutAttempt(record, record.attempt);
  const launches = action.type === 'Replace' && unfinished === undefined;
  const launched = launches ? (record.launched ?? 0) + 1 : record.launched;
  const next = { ...recordBefore, ...(launched !== undefined && { launched }), attempt, number: attempt.number };
  const verdict: Verdict = { kind: 'repair', node, attempt, message };
  return {
    finding: toFinding({ ...finding, record: next, verdict }),
    granted: { ...created, finding, ladder, laterActions, message, rank },
  };
}

/** The finding of a due node that its pool blocks. */
export function blockedNode({ finding, due }: Candidate, blocker: Blocker, rank: Rank): PresentNode {
  const { record } = finding;
  const { dueCondition } = due;
  const { message, until: time } = blocker;
  const verdict: Verdict = { kind: 'notAllowed', node: finding.node, blocker, dueCondition, message, rank };
  // A node that was drained for its reboot is uncordoned meanwhile.
  if (record?.attempt !== undefined && isBeforeReboot(record.attempt)) {
    const opened = calledOff(record, record.attempt);
    return toFinding({ ...finding, record: opened, verdict, time, course: 'failed' });
  }
  // The annotation of an earlier attempt is taken back while the node is held.
  const isUseless = finding.isUseless || record?.leftovers?.annotation !== undefined;
  return toFinding({ ...finding, verdict, time, isUseless });
}

/** Says what would be done if the mode were Enforce. */
export function observedNode(candidate: Candidate, now: EpochMs): PresentNode {
  const { finding, due, laterActions } = candidate;
  const { attempt } = createAttempt(candidate, now);
  const verdict: Verdict = { kind: 'wouldRepair', node: finding.node, attempt, laterActions, message: due.message };
  return toFinding({ ...finding, verdict, time: addDuration(now, FOLLOW_CHECK) });
}

/** Whether nodes that have just come back hold this one, and for how long they have done so in this incident. */
function heldByRecovering(
  { finding: { node, record }, due: { dueCondition } }: Candidate,
  guards: Guards,
  now: EpochMs,
): { readonly incident: Incident; readonly blocker?: Blocker } {
  const { recovering: recoveringBefore, ...incident } = record?.incident ?? {
    type: dueCondition.conditionType,
    taken: [],
  };
  const { totalMs = 0, since } = recoveringBefore ?? {};
  const spent = totalMs + (since === undefined ? 0 : now - since);
  const toleration = toDurationMs(Math.max(0, dueCondition.dueTime - dueCondition.lastTransitionTime));
  const blocker = spent >= LONGEST_HELD_BY_RECOVERING ? undefined : guards.withRecovering(node, toleration);
  if (blocker === undefined)
    return { incident: spent === 0 ? incident : { ...incident, recovering: { totalMs: spent } } };
  const last = addDuration(now, toDurationMs(LONGEST_HELD_BY_RECOVERING - spent));
  return {
    incident: { ...incident, recovering: { totalMs, since: since ?? now } },
    blocker: { ...blocker, until: earliest(blocker.until, last) },
  };
}
