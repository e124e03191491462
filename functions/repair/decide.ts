/**
 * The rule of repair for a whole pool: which due nodes are repaired now, in their rank, as far as guards, budgets,
 * limits and the ramp allow, and what the pool remembers. Pure.
 */
import {
  calledOff,
  createAttempt,
  failureOf,
  newNode,
  replacementOf,
  terminationOf,
  withoutAttempt,
} from './rule/attempt.ts';
import { budgetBlocker, type ConcurrencyLimits } from './rule/concurrency-limits.ts';
import { futility } from './rule/futility.ts';
import { createGuards, type Guards, inFlightOf, type Surroundings } from './rule/guards.ts';
import { unconfirmed } from './rule/incident.ts';
import { countsAs, dueOf, isBeforeReboot } from './rule/ladder.ts';
import { decideNode, judgeNode } from './rule/node-verdict.ts';
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
  readonly rest: readonly LadderAction[];
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
  if (!rules.gateOpen || surroundings === undefined)
    return nextPoolState(observation, {
      findings,
      granted: [],
      inFlight,
      ramp: state.ramp,
      holdingGuards: state.holdingGuards,
    });

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

/** One outcome for each candidate, in their rank. A repair in flight keeps its place, and takes no second one. */
function grant(candidates: readonly Candidate[], granting: Granting): readonly Grant[] {
  const { observation, surroundings, guards, blockers, inFlight, ramp } = granting;
  const { now, state, pool, answers, rules } = observation;
  const { settings, area, poolNodes, budget } = surroundings;
  const most = settings.maxConcurrentRepairs && resolveNodeCount(settings.maxConcurrentRepairs, poolNodes.length);
  const limit = Math.min(most ?? MOST_IN_FLIGHT, MOST_IN_FLIGHT);
  const concurrencyLimits = observation.concurrencyLimits?.(inFlight);
  let count = inFlight.size;
  let granted = 0;
  const disrupted = new Set(budget?.disrupted);
  const score = scores(candidates, now);
  return ranked(candidates, now).map((candidate, index): Grant => {
    const { finding, due, action, rest, unfinished } = candidate;
    const { node } = finding;
    const { message } = due;
    const rank = { place: index + 1, of: candidates.length, score: Math.round(score(due) * 100) / 100 };
    const guarded = blockers.get(candidate);
    if (guarded !== undefined) return blocked(candidate, guarded, rank);
    const recovering = heldByRecovering(candidate, guards, now);
    const record: NodeRecord = { ...(finding.record ?? newNode(node.name, pool)), incident: recovering.incident };
    const judged = { ...candidate, finding: { ...finding, record } };
    const needsPlace = !inFlight.has(node.uid);
    const isDisruptive = action.type !== 'CustomResource';
    const isReplacing = action.type === 'Terminate' || action.type === 'Replace';
    const blocker =
      recovering.blocker ??
      (isReplacing && settings.futility
        ? futility(surroundings, failureOf(due.dueCondition), node, state.terminations)
        : undefined) ??
      unconfirmed(due, answers?.get(node.uid), now) ??
      (needsPlace && count >= limit ? budgetBlocker(area, count, limit, now) : undefined) ??
      (isDisruptive ? budget?.blockerOf(node.uid, disrupted) : undefined) ??
      (needsPlace ? concurrencyLimits?.admit(node) : undefined);
    if (blocker !== undefined) return blocked(judged, blocker, rank);
    const isObserving = rules.mode === 'Observe';
    if (!isObserving && ramp !== undefined && granted >= rampAllows(ramp))
      return blocked(judged, rampBlocker(ramp, now), rank);
    if (!isObserving && granted >= MOST_ACTS)
      return { finding: { ...judged.finding, time: addDuration(now, seconds(1)) } };
    if (needsPlace) count += 1;
    if (isDisruptive) disrupted.add(node.uid);
    const attempt = createAttempt(judged, now);
    if (isObserving) {
      const verdict: Verdict = { kind: 'wouldRepair', node, attempt, rest, message };
      return { finding: { ...judged.finding, verdict, time: addDuration(now, FOLLOW_CHECK) } };
    }
    granted += 1;
    // What the action before has made or requested is still ours.
    const before = record.attempt === undefined ? record : withoutAttempt(record, record.attempt);
    const launches = action.type === 'Replace' && unfinished === undefined;
    const launched = launches ? (record.launched ?? 0) + 1 : record.launched;
    const next = { ...before, ...(launched !== undefined && { launched }), attempt, number: attempt.number };
    const verdict: Verdict = { kind: 'repair', node, attempt, message };
    return {
      finding: { ...judged.finding, record: next, verdict, state: 'inFlight' },
      granted: { finding: judged.finding, attempt, action, ladder: due.ladder, rest, message, rank },
    };
  });
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

function blocked({ finding, due }: Candidate, blocker: Blocker, rank: Rank): Grant {
  const { record } = finding;
  const { dueCondition } = due;
  const { message, until: time } = blocker;
  const verdict: Verdict = { kind: 'notAllowed', node: finding.node, blocker, dueCondition, message, rank };
  // A node that was drained for its reboot is uncordoned meanwhile.
  if (record?.attempt !== undefined && isBeforeReboot(record.attempt)) {
    const opened = calledOff(record, record.attempt);
    return { finding: { ...finding, record: opened, verdict, time, takesBack: true, state: 'followed' } };
  }
  // The annotation of an earlier attempt is taken back while the node is held.
  const takesBack = finding.takesBack || record?.ours?.annotation !== undefined;
  return { finding: { ...finding, verdict, time, takesBack } };
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
  const hasFailed = findings.some(({ unreported }) => unreported.some(({ kind }) => kind === 'failedLaunch'));
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
  !countsAs(verdict, 'usesMarks');

const isHeld = ({ verdict }: NodeFinding): boolean => countsAs(verdict, 'held');

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
  const uncounted = findings.flatMap(({ node: { uid }, record, unreported }) => {
    const lost = unreported.find(({ kind }) => kind === 'lost')?.attempt;
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
