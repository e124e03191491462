/**
 * The rule of repair for a whole pool: which due nodes are repaired now, in their rank, as far as guards, budgets,
 * limits and the ramp allow, and what the pool remembers. Pure.
 */
import { createAttempt, failureOf, newNode, replacementOf, terminationOf, withoutAttempt } from './rule/attempt.ts';
import { budgetBlocker, type ConcurrencyLimits } from './rule/concurrency-limits.ts';
import { futility } from './rule/futility.ts';
import { createGuards, type Guards, inFlightOf, type Surroundings } from './rule/guards.ts';
import { othersNotKnown, unconfirmed } from './rule/incident.ts';
import { hasTrait, dueOf } from './rule/ladder.ts';
import { decideNode, judgeNode } from './rule/node-verdict.ts';
import { blockedNode, observedNode } from './rule/not-granted.ts';
import {
  advanceRamp,
  nextRamp,
  rampAllows,
  rampAt,
  rampBlocker,
  rampTime,
  undoneOf,
  withoutUndone,
} from './rule/ramp.ts';
import type { Attempt } from './attempt-record.ts';
import type { Incident, NodeRecord, PoolRecord } from './record.ts';
import { nextPause, pauseAt } from './rule/replacement.ts';
import {
  type Blocker,
  type Candidate,
  type DueNode,
  FOLLOW_CHECK,
  type LadderAction,
  type NodeFinding,
  type PresentNode,
  type Rank,
  type RepairRules,
  type Verdict,
} from './rule/verdict.ts';
import type { RefusalCause } from '../../shared/domain/refusal.ts';
import { resolveNodeCount } from '../../shared/domain/repair-policy.ts';
import { RUN_ENDS_WITHIN } from '../../shared/domain/run-end.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  hours,
  isDue,
  minutes,
  seconds,
  toDurationMs,
} from '../../shared/domain/time.ts';

/** One pass acts on so many nodes; the others have the next. */
const MOST_ACTS = 100;
/** A pool has so many repairs in flight at most, for its record is limited. */
const MOST_IN_FLIGHT = 5_000;
/** Nodes that have just come back hold another one for no longer than this in one incident. */
const LONGEST_HELD_BY_RECOVERING = minutes(15);
/** Terminations are remembered for this long, or for the window of `futility` if that is longer. */
const TERMINATIONS_KEPT_FOR = hours(24);
const MOST_TERMINATIONS = 100;

export interface PoolObservation {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly rules: RepairRules;
  readonly findings: readonly NodeFinding[];
  readonly state: PoolRecord;
  /** What the guards count; undefined: nothing may be repaired. */
  readonly surroundings: Surroundings | undefined;
  /** What EC2 says of nodes that are to be confirmed, by UID. */
  readonly answers?: ReadonlyMap<string, string> | undefined;
  /** The limits of zone and cluster, by what the pool has in flight. */
  readonly concurrencyLimits?: ((own: ReadonlySet<string>) => ConcurrencyLimits) | undefined;
}

export interface GrantedRepair {
  readonly finding: PresentNode;
  readonly attempt: Attempt;
  readonly action: LadderAction;
  readonly ladder: readonly LadderAction[];
  readonly laterActions: readonly LadderAction[];
  readonly message: string;
  readonly rank: Rank;
}

export interface PoolDecision {
  readonly findings: readonly NodeFinding[];
  readonly granted: readonly GrantedRepair[];
  /** UIDs that count as in flight before anything is granted. */
  readonly inFlight: ReadonlySet<string>;
  /** What is remembered if everything that was granted is accepted. */
  readonly state: PoolRecord;
  readonly wakeTime: EpochMs | undefined;
  /** Freeze or a zone hold: passes are a minute apart. */
  readonly isOutage: boolean;
}

/** The rules of repair: for one node, what a pass finds of it, and for a pool. */
export const RULES = { decideNode, judgeNode, decide } as const;

/** Grants what the pool allows of what its nodes need. */
export function decide(observation: PoolObservation): PoolDecision {
  const { now, findings, state, rules, surroundings } = observation;
  const inFlight = inFlightOf(findings, state, now);
  if (!rules.gateOpen || surroundings === undefined) {
    const { ramp, holdingGuards } = state;
    return nextPoolState(observation, { findings, granted: [], inFlight, ramp, holdingGuards });
  }

  const candidates = findings.flatMap((finding): Candidate[] => {
    const due = dueOf(finding);
    return due === undefined || finding.kind === 'gone' ? [] : [{ ...due, finding }];
  });
  const guards = createGuards(surroundings);
  const blockers = new Map(candidates.map(each => [each, guards.blockerOf(each.finding.node)]));
  const holdingGuards = [...new Set([...blockers.values()].flatMap(blocker => blocker?.guard ?? []))];
  const before = state.ramp && withoutUndone(state.ramp, undoneOf(findings, state, now));
  const isAnythingDue = candidates.length > 0;
  const mayRamp = before !== undefined || state.holdingGuards.length > 0;
  const ramp = mayRamp
    ? nextRamp({ ramp: before, holdingGuards: state.holdingGuards }, { holdingGuards, isAnythingDue }, now)
    : undefined;
  const outcomes = grant(candidates, { observation, surroundings, guards, blockers, inFlight, ramp });
  const byUid = new Map(outcomes.map(({ finding }) => [finding.node.uid, finding]));
  const granted = outcomes.flatMap(({ granted: each }) => each ?? []);
  const next = findings.map(finding => byUid.get(finding.node.uid) ?? finding);
  const stepped = ramp && advanceRamp(ramp, granted.length, now);
  return nextPoolState(observation, { findings: next, granted, inFlight, ramp: stepped, holdingGuards });
}

interface Granting {
  readonly observation: PoolObservation;
  readonly surroundings: Surroundings;
  readonly guards: Guards;
  readonly blockers: ReadonlyMap<Candidate, Blocker | undefined>;
  readonly inFlight: ReadonlySet<string>;
  readonly ramp: PoolRecord['ramp'];
}

interface Grant {
  readonly finding: PresentNode;
  readonly granted?: GrantedRepair;
}

/** One outcome for each candidate, in their rank. */
function grant(candidates: readonly Candidate[], granting: Granting): readonly Grant[] {
  const { blockers, guards, ramp } = granting;
  const { now, pool, rules } = granting.observation;
  const isObserving = rules.mode === 'Observe';
  const places = createPlaces(granting);
  const score = scores(candidates, now);
  let granted = 0;
  return ranked(candidates, now).map((candidate, index): Grant => {
    const rank = { place: index + 1, of: candidates.length, score: Math.round(score(candidate.due) * 100) / 100 };
    const guarded = blockers.get(candidate);
    if (guarded !== undefined) return { finding: blockedNode(candidate, guarded, rank) };
    const recovering = heldByRecovering(candidate, guards, now);
    const judged = inIncident(candidate, recovering.incident, pool);
    const blocker = recovering.blocker ?? blockerOf(judged, granting) ?? places.admit(judged);
    if (blocker !== undefined) return { finding: blockedNode(judged, blocker, rank) };
    if (!isObserving && ramp !== undefined && granted >= rampAllows(ramp))
      return { finding: blockedNode(judged, rampBlocker(ramp, now), rank) };
    if (!isObserving && granted >= MOST_ACTS)
      return { finding: { ...judged.finding, time: addDuration(now, seconds(1)) } };
    places.take(judged);
    if (isObserving) return { finding: observedNode(judged, now) };
    granted += 1;
    return begun(judged, rank, now);
  });
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

/** What speaks against one that guards let through, before the places are counted. */
function blockerOf({ finding, due, action }: Candidate, { observation, surroundings }: Granting): Blocker | undefined {
  const { now, state, answers } = observation;
  const isReplacing = action.type === 'Terminate' || action.type === 'Replace';
  const mayBeFutile = isReplacing && surroundings.settings.futility !== undefined;
  const futile = mayBeFutile
    ? futility(surroundings, failureOf(due.dueCondition), finding.node, state.terminations)
    : undefined;
  return (
    othersNotKnown(surroundings.requestsFault, now) ?? futile ?? unconfirmed(due, answers?.get(finding.node.uid), now)
  );
}

/**
 * What pool, budget, zone and cluster leave for the nodes of one pass. A repair in flight keeps its place, and takes no
 * second one. A custom resource disrupts nothing.
 */
function createPlaces({ observation, surroundings, inFlight }: Granting) {
  const { settings, area, poolNodes, budget, now } = surroundings;
  const most = settings.maxConcurrentRepairs && resolveNodeCount(settings.maxConcurrentRepairs, poolNodes.length);
  const limit = Math.min(most ?? MOST_IN_FLIGHT, MOST_IN_FLIGHT);
  const concurrencyLimits = observation.concurrencyLimits?.(inFlight);
  const disrupted = new Set(budget?.disrupted);
  const needsPlace = ({ finding: { node } }: Candidate): boolean => !inFlight.has(node.uid);
  const isDisruptive = ({ action }: Candidate): boolean => action.type !== 'CustomResource';
  let count = inFlight.size;
  return {
    /** undefined: it may begin, and counts in zone and cluster from now on. */
    admit(candidate: Candidate): Blocker | undefined {
      const { node } = candidate.finding;
      return (
        (needsPlace(candidate) && count >= limit ? budgetBlocker(area, count, limit, now) : undefined) ??
        (isDisruptive(candidate) ? budget?.blockerOf(node.uid, disrupted) : undefined) ??
        (needsPlace(candidate) ? concurrencyLimits?.admit(node) : undefined)
      );
    },
    /** One that is admitted and begins counts in pool and budget, too. */
    take(candidate: Candidate): void {
      if (needsPlace(candidate)) count += 1;
      if (isDisruptive(candidate)) disrupted.add(candidate.finding.node.uid);
    },
  };
}

/** The attempt begins. What the action before has made or requested is still ours. */
function begun(candidate: RememberedCandidate, rank: Rank, now: EpochMs): Grant {
  const { finding, action, laterActions, unfinished } = candidate;
  const { node, record } = finding;
  const { message, ladder } = candidate.due;
  const attempt = createAttempt(candidate, now);
  const before = record.attempt === undefined ? record : withoutAttempt(record, record.attempt);
  const launches = action.type === 'Replace' && unfinished === undefined;
  const launched = launches ? (record.launched ?? 0) + 1 : record.launched;
  const next = { ...before, ...(launched !== undefined && { launched }), attempt, number: attempt.number };
  const verdict: Verdict = { kind: 'repair', node, attempt, message };
  return {
    finding: { ...finding, record: next, verdict, state: 'inFlight' },
    granted: { finding, attempt, action, ladder, laterActions, message, rank },
  };
}

const AGES_BY = minutes(30);

/**
 * Who comes first: the dense rank of priority among those that are due, and one more for each half hour that a node
 * has been due, whatever held it. Of equal ones the less healthy node, then by name.
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

/** Whether nodes that have just come back hold this one, and for how long they have done so in this incident. */
function heldByRecovering(
  { finding: { node, record }, due: { dueCondition } }: Candidate,
  guards: Guards,
  now: EpochMs,
): { readonly incident: Incident; readonly blocker?: Blocker } {
  const { recovering: before, ...incident } = record?.incident ?? { type: dueCondition.conditionType, taken: [] };
  const { totalMs = 0, since } = before ?? {};
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

interface Decided extends Pick<PoolDecision, 'findings' | 'granted' | 'inFlight'> {
  readonly ramp: PoolRecord['ramp'];
  readonly holdingGuards: readonly string[];
}

/** For how long terminations are remembered; undefined: a block that cannot be read may count them for longer. */
function windowOf({ settings }: RepairRules): DurationMs | undefined {
  if (settings !== undefined && 'invalid' in settings) return undefined;
  return toDurationMs(Math.max(settings?.futility?.window ?? 0, TERMINATIONS_KEPT_FOR));
}

/** What the next pass must know. */
function nextPoolState({ now, rules, state, findings: before }: PoolObservation, decided: Decided): PoolDecision {
  const { granted, inFlight, holdingGuards } = decided;
  const findings = decided.findings.map(each => (isLeftMarked(each) ? { ...each, takesBack: true } : each));
  const window = windowOf(rules);
  const since = (uid: string): EpochMs => state.inFlight[uid] ?? now;
  const newPlaces = granted.map(({ finding: { node } }) => [node.uid, inFlight.has(node.uid) ? since(node.uid) : now]);
  const places = Object.fromEntries([...[...inFlight].map(uid => [uid, since(uid)]), ...newPlaces]);
  const kept = ({ time }: { readonly time: EpochMs }) => window === undefined || !isDue(now, addDuration(time, window));
  const hasFailed = findings.some(({ news }) => news.some(({ kind }) => kind === 'failedLaunch'));
  const { launchPause, ramp: _, ...rest } = state;
  const pause = hasFailed ? nextPause(launchPause, now) : launchPause && pauseAt(launchPause, now);
  const ramp = decided.ramp && rampAt(decided.ramp, now);
  const next: PoolRecord = {
    ...rest,
    ...(ramp && { ramp }),
    inFlight: places,
    followed: findings.filter(each => isFollowed(each, places)).map(({ node }) => node.uid),
    holdingGuards: holdingGuards.toSorted(),
    ...(pause && { launchPause: pause }),
    terminations: state.terminations.filter(kept).slice(-MOST_TERMINATIONS),
    counts: { held: findings.filter(isHeld).length, repairing: findings.filter(isRepairing).length },
  };
  const begun = before.filter(({ state: of, node }) => of !== 'inFlight' && inFlight.has(node.uid));
  const [oldest] = next.terminations;
  const times = [
    ...findings.map(({ time }) => time),
    ...begun.map(({ node }) => addDuration(since(node.uid), RUN_ENDS_WITHIN)),
    Object.keys(places).length > 0 ? addDuration(now, FOLLOW_CHECK) : undefined,
    oldest && window && addDuration(oldest.time, window),
    ramp && rampTime(ramp, now),
  ];
  const isOutage = holdingGuards.some(guard => guard !== 'threshold') && before.some(each => dueOf(each) !== undefined);
  return { findings, granted, inFlight, state: next, wakeTime: times.reduce(earliest, undefined), isOutage };
}

/** A refused attempt has left marks, and nothing is about to be tried that would use them. */
const isLeftMarked = ({ record, verdict }: NodeFinding): boolean =>
  record?.ours !== undefined &&
  record.attempt === undefined &&
  verdict !== undefined &&
  !(verdict.kind === 'notAllowed' && verdict.blocker.kind === 'others') &&
  !hasTrait(verdict, 'reuses');

const isHeld = ({ verdict }: NodeFinding): boolean => hasTrait(verdict, 'held');

/** A node that has to be followed, and takes no place. */
const isFollowed = ({ node, state }: NodeFinding, inFlight: PoolRecord['inFlight']): boolean =>
  state !== 'idle' && !(node.uid in inFlight);

const isRepairing = ({ record }: NodeFinding): boolean => record?.attempt !== undefined;

/** An act on a node, and what came of it. */
interface CarriedAct {
  readonly granted: { readonly finding: Pick<NodeFinding, 'node'>; readonly attempt: Attempt };
  readonly outcome:
    | { readonly kind: 'refused'; readonly cause: RefusalCause }
    | { readonly kind: 'accepted' | 'overtaken' | 'calledOff' | 'unknown' };
}

/** What the pool remembers after the acts of a pass. */
export function poolAfter(
  state: PoolRecord,
  results: readonly CarriedAct[],
  findings: readonly NodeFinding[],
  now: EpochMs,
): PoolRecord {
  const of = (...kinds: readonly CarriedAct['outcome']['kind'][]): readonly CarriedAct[] =>
    results.filter(({ outcome }) => kinds.includes(outcome.kind));
  const hasFailed = results.some(
    ({ granted: { attempt }, outcome }) =>
      attempt.action === 'Replace' && outcome.kind === 'refused' && outcome.cause !== 'passing',
  );
  const hasReplaced = of('accepted', 'overtaken').some(
    ({ granted: { attempt } }) => attempt.action === 'Terminate' && replacementOf(attempt) !== undefined,
  );
  const undone = new Set(of('calledOff', 'refused').map(({ granted }) => granted.finding.node.uid));
  const isFree = (each: NodeFinding): boolean => undone.has(each.node.uid) && each.state !== 'inFlight';
  const free = new Set(findings.filter(isFree).map(({ node }) => node.uid));
  const known = new Set(state.terminations.flatMap(({ node }) => node ?? []));
  const acted = new Set(results.map(({ granted }) => granted.finding.node.uid));
  // Terminations of runs that died before they had counted them.
  const uncounted = findings.flatMap(({ node: { uid }, record, news }) => {
    const lost = news.find(({ kind }) => kind === 'lost')?.attempt;
    const attempt = lost ?? (record?.attempt?.phase === 'accepted' ? record.attempt : undefined);
    return acted.has(uid) || attempt?.action !== 'Terminate' ? [] : [terminationOf(uid, attempt)];
  });
  const terminated = of('accepted').flatMap(({ granted: { attempt, finding } }) =>
    attempt.action === 'Terminate' ? [terminationOf(finding.node.uid, attempt)] : [],
  );
  const inFlight = Object.fromEntries(Object.entries(state.inFlight).filter(([uid]) => !free.has(uid)));
  const { ramp: before, launchPause, ...rest } = state;
  const ramp = before && withoutUndone(before, undone.size);
  const pause = hasFailed ? nextPause(launchPause, now) : hasReplaced ? undefined : launchPause;
  return {
    ...rest,
    ...(pause && { launchPause: pause }),
    ...(ramp && { ramp }),
    inFlight,
    terminations: [...state.terminations, ...[...uncounted, ...terminated].filter(({ node }) => !known.has(node))],
    followed: findings.filter(each => isFollowed(each, inFlight)).map(({ node }) => node.uid),
    counts: { ...state.counts, repairing: findings.filter(isRepairing).length },
  };
}
