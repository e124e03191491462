/**
 * The rule of repair for a whole pool: who of the due nodes is repaired now, ranked, within what guards, budgets, limits and the ramp allow;
 * and what is remembered of it. Pure.
 */
import { resolveNodeCount } from '../../../shared/domain/repair-policy.ts';
import {
  type EpochMs,
  addDuration,
  earliest,
  hours,
  isDue,
  minutes,
  seconds,
  toDurationMs,
} from '../../../shared/domain/time.ts';
import { newNode, calledOff, createAttempt, withoutAttempt } from './attempt.ts';
import {
  type Guards,
  type Surroundings,
  advanceRamp,
  budgetBlocker,
  createGuards,
  failureOf,
  futility,
  nextRamp,
  rampAllows,
  rampBlocker,
  rampAt,
  rampTime,
  withoutUndone,
} from './guards.ts';
import { isBeforeReboot, type Rung } from './ladder.ts';
import { type DueNode, type RepairRules, readableSettings } from './node-verdict.ts';
import { nextPause, pauseAt } from './replacement.ts';
import type { Attempt, Illness, NodeRecord, PoolRecord } from './record.ts';
import { FOLLOW_CHECK, RUN_SETTLES_AFTER } from './times.ts';
import { dueOf } from './turn.ts';
import type { Blocker, Candidate, Gate, NodeLook, Rank, Verdict } from './verdict.ts';

/** One pass acts on so many nodes; the others have the next. */
const MOST_ACTS = 100;

/** A pool has so many repairs in flight at most, for its record is limited. */
const MOST_IN_FLIGHT = 5_000;

/** One node is held by others that come back for so long at most in one illness. */
const LONGEST_SETTLED = minutes(15);

/** Terminations are remembered for so long, or as long as `futility` asks. */
const TERMINATIONS_KEPT_FOR = hours(24);

const MOST_TERMINATIONS = 100;

export interface PoolObservation {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly rules: RepairRules;
  readonly looks: readonly NodeLook[];
  readonly state: PoolRecord;
  /** What the guards count; undefined: nothing may be repaired. */
  readonly surroundings: Surroundings | undefined;
  /** What EC2 says of nodes that are to be confirmed, by UID. */
  readonly answers?: ReadonlyMap<string, string> | undefined;
  /** The limits of zone and cluster, by what the pool has in flight. */
  readonly gate?: ((own: ReadonlySet<string>) => Gate) | undefined;
}

export interface Granted {
  readonly look: NodeLook;
  readonly attempt: Attempt;
  readonly rung: Rung;
  readonly rungs: readonly Rung[];
  readonly rest: readonly Rung[];
  readonly message: string;
  readonly rank: Rank;
}

export interface PoolDecision {
  readonly looks: readonly NodeLook[];
  readonly granted: readonly Granted[];
  /** UIDs that count as in flight before anything is granted. */
  readonly inFlight: ReadonlySet<string>;
  /** What is remembered if everything that was granted is accepted. */
  readonly state: PoolRecord;
  readonly wakeTime: EpochMs | undefined;
  /** Freeze or a zone hold: passes are a minute apart. */
  readonly isOutage: boolean;
}

/** What the pool allows of what its nodes need. */
export function decidePool(observation: PoolObservation): PoolDecision {
  const { now, looks, state, rules, surroundings } = observation;
  const inFlight = inFlightOf(looks, state, now);
  const settings = readableSettings(rules);
  const isOn = rules.gateOpen && settings !== undefined && surroundings !== undefined;
  if (!isOn) return remembered(observation, { looks, granted: [], inFlight, state, held: state.held });

  const candidates = looks.flatMap((look): Candidate[] => {
    const { view } = look;
    const turn = dueOf(look);
    if (turn === undefined || view === undefined) return [];
    const { kind: _, decision: due, ...action } = turn;
    return [{ look: { ...look, view }, due, ...action }];
  });
  const guards = createGuards(surroundings);
  const held = new Set<string>();
  const blockers = new Map<Candidate, Blocker | undefined>();
  for (const candidate of candidates) {
    const blocker = guards.blockerOf(candidate.look.view);
    blockers.set(candidate, blocker);
    if (blocker?.guard !== undefined) held.add(blocker.guard);
  }
  const isObserving = rules.mode === 'Observe';
  const ramp = nextRamp(
    { ...state, ramp: withoutUndone(state.ramp, undoneOf(looks, state, now)) },
    { held: [...held], isAnythingDue: candidates.length > 0 },
    now,
  );
  const outcomes = grant(candidates, { observation, surroundings, guards, blockers, inFlight, ramp, isObserving });
  const byUid = new Map(outcomes.map(outcome => [outcome.look.node.uid, outcome]));
  const granted = outcomes.flatMap(({ grant: each }) => each ?? []);
  const next = looks.map(look => byUid.get(look.node.uid)?.look ?? look);
  return remembered(observation, {
    looks: next,
    granted,
    inFlight,
    state: { ...state, ramp: advanceRamp(ramp, granted.length, now) },
    held: [...held],
  });
}

/** How many a run that died had granted and not carried out. */
function undoneOf(looks: readonly NodeLook[], { inFlight, ramp }: PoolRecord, now: EpochMs): number {
  return looks.filter(({ node: { uid }, view, record, state }) => {
    const since = inFlight[uid];
    if (view === undefined || since === undefined || ramp === undefined || since < ramp.stepTime) return false;
    const isSettled = isDue(now, addDuration(since, RUN_SETTLES_AFTER));
    return isSettled && state !== 'inFlight' && record?.attempt?.phase !== 'accepted';
  }).length;
}

/** Those of which an attempt is under way, and those that a run set out to act on which may still be at work. */
function inFlightOf(looks: readonly NodeLook[], state: PoolRecord, now: EpochMs): ReadonlySet<string> {
  const present = new Set(looks.filter(({ view }) => view !== undefined).map(({ node }) => node.uid));
  const begun = Object.entries(state.inFlight)
    .filter(([uid, since]) => present.has(uid) && !isDue(now, addDuration(since, RUN_SETTLES_AFTER)))
    .map(([uid]) => uid);
  const quiet = new Set(looks.filter(isSettledOtherwise).map(({ node }) => node.uid));
  return new Set([...looks.filter(isInFlight).map(({ node }) => node.uid), ...begun.filter(uid => !quiet.has(uid))]);
}

/** What the record says of it is over: nobody is about to act on it. */
const isSettledOtherwise = ({ state, verdict }: NodeLook): boolean =>
  state !== 'inFlight' &&
  (verdict?.kind === 'recovered' ||
    verdict?.kind === 'stuck' ||
    verdict?.kind === 'exhausted' ||
    verdict?.kind === 'retry');

const isInFlight = ({ state }: NodeLook): boolean => state === 'inFlight';

interface Granting {
  readonly observation: PoolObservation;
  readonly surroundings: Surroundings;
  readonly guards: Guards;
  readonly blockers: ReadonlyMap<Candidate, Blocker | undefined>;
  readonly inFlight: ReadonlySet<string>;
  readonly ramp: PoolRecord['ramp'];
  readonly isObserving: boolean;
}

interface Outcome {
  readonly look: NodeLook;
  readonly grant?: Granted;
}

/** One outcome each, ranked. A node whose repair is in flight goes on in its place and takes none anew. */
function grant(candidates: readonly Candidate[], granting: Granting): readonly Outcome[] {
  const { observation, surroundings, guards, blockers, inFlight, ramp, isObserving } = granting;
  const { now, state } = observation;
  const { settings, scope, poolNodes } = surroundings;
  const budget = settings.maxConcurrentRepairs && resolveNodeCount(settings.maxConcurrentRepairs, poolNodes.length);
  const limit = Math.min(budget ?? MOST_IN_FLIGHT, MOST_IN_FLIGHT);
  const gate = observation.gate?.(inFlight);
  let count = inFlight.size;
  const disrupted = new Set(surroundings.budget?.disrupted);
  let granted = 0;
  const score = scores(candidates, now);
  return ranked(candidates, now).map((candidate, index): Outcome => {
    const { look, due, rung, rungs, rest, stale } = candidate;
    const rank = { place: index + 1, of: candidates.length, score: Math.round(score(due) * 100) / 100 };
    const blockedBy = (of: Candidate, blocker: Blocker): Outcome => blocked(of, blocker, rank);
    const { view } = look;
    const needsPlace = !inFlight.has(view.uid);
    const guarded = blockers.get(candidate);
    if (guarded !== undefined) return blockedBy(candidate, guarded);
    const settles = settling(candidate, guards, now);
    const record: NodeRecord = { ...(look.record ?? newNode(view.name, observation.pool)), illness: settles.illness };
    const settled = { ...candidate, look: { ...look, record } };
    if (settles.blocker !== undefined) return blockedBy(settled, settles.blocker);
    const futile =
      rung.type === 'Terminate' || rung.type === 'Replace'
        ? futility(surroundings, failureOf(due.incident), view, state.terminations)
        : undefined;
    if (futile !== undefined) return blockedBy(settled, futile);
    const doubted = unconfirmed(due, observation.answers?.get(view.uid), now);
    if (doubted !== undefined) return blockedBy(settled, doubted);
    if (needsPlace && count >= limit) return blockedBy(settled, budgetBlocker(scope, count, limit, now));
    const isDisruptive = rung.type !== 'CustomResource';
    const budgeted = isDisruptive ? surroundings.budget?.blockerOf(view.uid, disrupted) : undefined;
    if (budgeted !== undefined) return blockedBy(settled, budgeted);
    const full = needsPlace ? gate?.take(view) : undefined;
    if (full !== undefined) return blockedBy(settled, full);
    if (isObserving) {
      if (needsPlace) count += 1;
      if (isDisruptive) disrupted.add(view.uid);
      const attempt = createAttempt(settled, now);
      const verdict: Verdict = { kind: 'wouldRepair', node: view, attempt, rest, message: due.message };
      return { look: { ...settled.look, verdict, time: addDuration(now, FOLLOW_CHECK) } };
    }
    if (ramp !== undefined && granted >= rampAllows(ramp)) return blockedBy(settled, rampBlocker(ramp, now));
    if (granted >= MOST_ACTS) return { look: { ...settled.look, time: addDuration(now, seconds(1)) } };
    granted += 1;
    if (needsPlace) count += 1;
    if (isDisruptive) disrupted.add(view.uid);
    const attempt = createAttempt({ ...settled, stale }, now);
    // What the action before has asked for is still known as ours.
    const before = record.attempt === undefined ? record : withoutAttempt(record, record.attempt);
    const launched = rung.type === 'Replace' && stale === undefined ? (record.launched ?? 0) + 1 : record.launched;
    const base = launched === undefined ? before : { ...before, launched };
    const verdict: Verdict = { kind: 'repair', node: view, attempt, message: due.message };
    return {
      look: {
        ...settled.look,
        record: { ...base, attempt, number: attempt.number },
        verdict,
        state: 'inFlight',
      },
      grant: { look: settled.look, attempt, rung, rungs, rest, message: due.message, rank },
    };
  });
}

const AGES_BY = minutes(30);

/**
 * Who comes first: the dense rank of priority among those that are due, and one more for each half hour that a node has been due, whatever
 * held it. Of equal ones the less healthy node, then by name.
 */
export function ranked(candidates: readonly Candidate[], now: EpochMs): readonly Candidate[] {
  const score = scores(candidates, now);
  return candidates.toSorted(
    (a, b) =>
      score(b.due) - score(a.due) || b.due.severity - a.due.severity || (a.look.node.name < b.look.node.name ? -1 : 1),
  );
}

function scores(candidates: readonly Candidate[], now: EpochMs): (due: DueNode) => number {
  const priorities = [...new Set(candidates.map(({ due }) => due.terms.priority))].toSorted((a, b) => a - b);
  return ({ terms, dueSince }) => priorities.indexOf(terms.priority) + (now - dueSince) / AGES_BY;
}

function blocked({ look, due }: Candidate, blocker: Blocker, rank: Rank): Outcome {
  const { reason, message, setting, until } = blocker;
  const { incident } = due;
  const verdict: Verdict = { kind: 'blocked', node: look.view, reason, incident, message, setting, rank };
  const { record } = look;
  // A node that was drained for its reboot does not stay closed meanwhile.
  if (record?.attempt !== undefined && isBeforeReboot(record.attempt)) {
    const opened = calledOff(record, record.attempt);
    return { look: { ...look, record: opened, verdict, time: until, takesBack: true, state: 'followed' } };
  }
  // What an attempt before has set waits for nothing here.
  const takesBack = look.takesBack || record?.ours?.annotation !== undefined;
  return { look: { ...look, verdict, time: until, takesBack } };
}

/** Whether those that have just come back hold it, and the time that it has been held so. */
function settling(
  { look, due }: Candidate,
  guards: Guards,
  now: EpochMs,
): { readonly illness: Illness | undefined; readonly blocker?: Blocker } {
  const illness = look.record?.illness;
  const { totalMs: total = 0, since } = illness?.settling ?? {};
  const spent = total + (since === undefined ? 0 : now - since);
  const toleration = toDurationMs(Math.max(0, due.incident.dueTime - due.incident.lastTransitionTime));
  const blocker = spent >= LONGEST_SETTLED ? undefined : guards.settle(look.view, toleration);
  if (blocker === undefined) {
    const { settling: _, ...rest } = illness ?? { type: due.incident.conditionType, taken: [] };
    return { illness: spent === 0 ? rest : { ...rest, settling: { totalMs: spent } } };
  }
  const settled = { totalMs: total, since: since ?? now };
  const last = addDuration(now, toDurationMs(LONGEST_SETTLED - spent));
  return {
    illness: { ...(illness ?? { type: due.incident.conditionType, taken: [] }), settling: settled },
    blocker: { ...blocker, until: earliest(blocker.until, last) ?? blocker.until },
  };
}

/** What EC2 must say. */
export const CONFIRMED = 'impaired';
/** EC2's opinion changes without any event. */
const CONFIRM_CHECK = minutes(1);

/** What holds a node that EC2 does not call impaired; undefined: its entry does not ask for that (`confirm`), or EC2 does. */
function unconfirmed(
  { terms: { confirm }, incident: { field = '' } }: DueNode,
  answer: string | undefined,
  now: EpochMs,
): Blocker | undefined {
  if (confirm === undefined || answer === CONFIRMED) return undefined;
  const says = answer ?? 'nothing';
  return {
    reason: 'NotConfirmed',
    message: `EC2 says ${says} of ${confirm}, and confirm waits for ${CONFIRMED}`,
    setting: { field: `${field}.confirm`, numbers: { check: confirm, says } },
    until: addDuration(now, CONFIRM_CHECK),
  };
}

/** What the next pass must know. */
function remembered(
  { now, rules, state: before, looks: seen }: PoolObservation,
  decided: Pick<PoolDecision, 'looks' | 'granted' | 'inFlight' | 'state'> & { readonly held: readonly string[] },
): PoolDecision {
  const { granted, inFlight, state, held } = decided;
  const looks = decided.looks.map(look => (isLeftMarked(look) ? { ...look, takesBack: true } : look));
  const settings = readableSettings(rules);
  const window = toDurationMs(Math.max(settings?.futility?.window ?? 0, TERMINATIONS_KEPT_FOR));
  const uids = new Set([...inFlight, ...granted.map(({ look }) => look.node.uid)]);
  const since = (uid: string): EpochMs => before.inFlight[uid] ?? now;
  const followed = looks
    .filter(({ state: of, node }) => of !== 'quiet' && !uids.has(node.uid))
    .map(({ node }) => node.uid);
  const terminations = before.terminations.filter(({ time }) => !isDue(now, addDuration(time, window)));
  const hasFailed = looks.some(({ unsaid }) => unsaid.some(({ kind }) => kind === 'failedLaunch'));
  const pause = hasFailed ? nextPause(state.launchPause, now) : state.launchPause && pauseAt(state.launchPause, now);
  const { launchPause: _, ramp: stepped, ...rest } = state;
  const ramp = rampAt(stepped, now);
  const next: PoolRecord = {
    ...rest,
    ...(ramp && { ramp }),
    inFlight: Object.fromEntries(
      [...uids].map(uid => [
        uid,
        granted.some(({ look }) => look.node.uid === uid) && !inFlight.has(uid) ? now : since(uid),
      ]),
    ),
    followed,
    held: [...held].toSorted(),
    ...(pause && { launchPause: pause }),
    terminations: terminations.slice(-MOST_TERMINATIONS),
    counts: { held: looks.filter(isHeld).length, repairing: looks.filter(isRepairing).length },
  };
  const begun = seen
    .filter(look => !isInFlight(look) && inFlight.has(look.node.uid))
    .map(({ node }) => addDuration(since(node.uid), RUN_SETTLES_AFTER));
  const isOutage = held.some(guard => guard !== 'threshold') && seen.some(look => dueOf(look) !== undefined);
  const oldest = next.terminations[0];
  const times = [
    ...looks.map(({ time }) => time),
    ...begun,
    ...(Object.keys(next.inFlight).length > 0 ? [addDuration(now, FOLLOW_CHECK)] : []),
    ...(oldest === undefined ? [] : [addDuration(oldest.time, window)]),
    ...(ramp === undefined ? [] : [rampTime(ramp, now)]),
  ];
  return { looks, granted, inFlight, state: next, wakeTime: times.reduce(earliest, undefined), isOutage };
}

/** A refused try has left its marks, and is not the next thing to be tried. */
const isLeftMarked = ({ record, verdict }: NodeLook): boolean =>
  record?.ours !== undefined &&
  record.attempt === undefined &&
  verdict !== undefined &&
  verdict.kind !== 'due' &&
  verdict.kind !== 'retry' &&
  verdict.kind !== 'repair';

const HELD: readonly NonNullable<NodeLook['verdict']>['kind'][] = [
  'blocked',
  'vetoed',
  'unclaimed',
  'exhausted',
  'retry',
];

const isHeld = ({ verdict }: NodeLook): boolean => verdict !== undefined && HELD.includes(verdict.kind);

const isRepairing = ({ record }: NodeLook): boolean => record?.attempt !== undefined;
