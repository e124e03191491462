/** Tries all schedules of a situation within the bounds, the simple ones first, and stops with the shortest that fails. */
import { differenceFrom, type EndState } from './end-state.ts';
import type { Course, Moment } from './foresight.ts';
import { sizeOf, type Followed } from './followed.ts';
import { explored, type Explored, type Outcome } from './run-schedule.ts';
import type { Schedule, Turn } from './schedule.ts';
import { runsOf, type Reconcilers, type Situation } from './situation.ts';

/** How far schedules may depart from one run after the other. */
export interface Bounds {
  /** Context switches between two calls of a run. */
  readonly switches: number;
  readonly crashes: number;
  /** Changes of the world between two calls of a run; those at a switch, before and after a run are free. */
  readonly intrusions: number;
  /** All of these together. */
  readonly departures: number;
}

export const FULL_BOUNDS: Bounds = { switches: 2, crashes: 1, intrusions: 1, departures: 3 };
/** What `npm test` takes for the kernel, on which all concerns stand. */
export const SMALL_BOUNDS: Bounds = { switches: 2, crashes: 1, intrusions: 1, departures: 2 };
/** What `npm test` takes for a concern: one switch, one crash, or one change, anywhere. */
export const SMALLEST_BOUNDS: Bounds = { ...SMALL_BOUNDS, departures: 1 };

/** What `npm test` takes, under 30 seconds in all. */
export function everydayBounds({ concern, isLong = false }: Pick<Situation, 'concern' | 'isLong'>): Bounds {
  if (concern === 'kernel') return SMALL_BOUNDS;
  return isLong ? { ...SMALLEST_BOUNDS, departures: 0 } : SMALLEST_BOUNDS;
}

export interface Failure {
  readonly outcome: Outcome;
  readonly reasons: readonly string[];
}

export interface Exploration {
  readonly situation: Situation;
  /** All within the bounds, or up to the level that fails. */
  readonly schedules: number;
  /** Of these: with a crash. */
  readonly crashes: number;
  /** Of these: looked at one by one; the others go on from where one of these went on from. */
  readonly followed: number;
  /** Of these: carried out; the others are the same but for the order of calls that do not see each other. */
  readonly carriedOut: number;
  readonly failure: Failure | undefined;
}

interface Candidate {
  readonly schedule: Schedule;
  readonly left: Bounds;
  /** Where its last turn leads to. */
  readonly leadsTo: string | undefined;
}

export interface ExploreOptions {
  /** Replaces functions, for tests that prove what a mistake would do. */
  readonly reconcilers?: Reconcilers;
  /** Told after each schedule that was followed how many those are. */
  readonly onSchedule?: (followed: number) => void;
}

/**
 * Tries all schedules with fewer departures before those with more; of those that fail with equally many it answers the
 * shortest.
 */
export async function explore(
  situation: Situation,
  widest: Bounds,
  { reconcilers = {}, onSchedule }: ExploreOptions = {},
): Promise<Exploration> {
  const bounds = situation.isWithoutCrashes === true ? { ...widest, crashes: 0 } : widest;
  const world = await explored(situation, reconcilers);
  const keys = new Set<string>();
  /** How it ends when one run is over before the other begins. */
  const expected = new Map<string, EndState>();
  const counts = { followed: 0, carriedOut: 0 };
  const places = new Map<string, Followed>();

  const carryOut = async (schedule: Schedule): Promise<{ course: Course; outcome: Outcome | undefined }> => {
    const foreseen = world.foresee(schedule);
    if (foreseen !== undefined && keys.has(foreseen.key)) return { course: foreseen, outcome: undefined };
    const outcome = await world.run(schedule);
    counts.carriedOut += 1;
    keys.add(outcome.course.key);
    return { course: outcome.course, outcome };
  };

  const root: Followed = { isCrashed: false, children: [] };
  const follow = (candidate: Candidate, from: Followed): readonly (readonly [Candidate, Followed])[] => {
    const place = placeOf(candidate);
    const known = place === undefined ? undefined : places.get(place);
    const followed = known ?? { isCrashed: candidate.left.crashes < bounds.crashes, children: [] };
    from.children.push(followed);
    if (place !== undefined) places.set(place, followed);
    return known === undefined ? [[candidate, followed]] : [];
  };
  let level = runsOf(situation).flatMap(first =>
    follow({ schedule: { first, turns: [] }, left: bounds, leadsTo: undefined }, root),
  );
  for (let departures = 0; departures <= bounds.departures; departures += 1) {
    const failures: Failure[] = [];
    const next: (readonly [Candidate, Followed])[] = [];
    // Those that cost no more join the ones that are being tried.
    const queue = [...level];
    for (const [candidate, followed] of queue) {
      const { course, outcome } = await carryOut(candidate.schedule);
      counts.followed += 1;
      onSchedule?.(counts.followed);
      if (outcome !== undefined) {
        if (departures === 0) expected.set(JSON.stringify(outcome.endState), outcome.endState);
        const reasons = complaintsAbout(outcome, expected);
        if (reasons.length > 0) failures.push({ outcome, reasons });
      }
      for (const child of childrenOf(candidate, course, situation, world)) {
        (child.left.departures === candidate.left.departures ? queue : next).push(...follow(child, followed));
      }
    }
    const [failure] = failures.toSorted((a, b) => lengthOf(a) - lengthOf(b));
    if (failure !== undefined) {
      const { reasons, outcome } = failure;
      const shown = await world.run(outcome.schedule, true);
      return { situation, ...sizeOf(root), ...counts, failure: { reasons, outcome: shown } };
    }
    level = next;
  }
  return { situation, ...sizeOf(root), ...counts, failure: undefined };
}

/** Equal where equal turns may follow and lead to the same. */
function placeOf({ schedule: { turns }, left, leadsTo }: Candidate): string | undefined {
  const last = turns.at(-1);
  if (leadsTo === undefined || last === undefined) return undefined;
  const placed = turns.filter(({ what }) => what === 'change').length;
  return [last.before === 0, placed, left.switches, left.crashes, left.intrusions, left.departures, leadsTo].join(' ');
}

/** For the reader: each turn, then each call. */
const lengthOf = ({ outcome }: Failure): number =>
  outcome.schedule.turns.length * 1000 + outcome.interleaved.filter(({ kind }) => kind === 'call').length;

function complaintsAbout(
  { violations, endState, schedule }: Outcome,
  expected: ReadonlyMap<string, EndState>,
): readonly string[] {
  const broken = violations.map(({ invariant, message }) => `${invariant}: ${message}`);
  if (broken.length > 0) return broken;
  const isCrashed = schedule.turns.some(({ what }) => what.startsWith('dies'));
  const difference = differenceFrom(endState, [...expected.values()], isCrashed);
  return difference.length === 0 ? [] : ['the end state is not that of one run after the other:', ...difference];
}

/** The schedules with one more turn, after those that there are. */
function* childrenOf(
  { schedule, left }: Candidate,
  course: Course,
  { changes = [] }: Situation,
  { after }: Explored,
): Iterable<Candidate> {
  const { turns } = schedule;
  const last: Turn | undefined = turns.at(-1);
  const placed = turns.filter(({ what }) => what === 'change').length;
  const withTurn = (turn: Turn, cost: Partial<Bounds>, moment: Moment): Candidate => ({
    leadsTo: after(moment, turn),
    schedule: { ...schedule, turns: [...turns, turn] },
    left: {
      switches: left.switches - (cost.switches ?? 0),
      crashes: left.crashes - (cost.crashes ?? 0),
      intrusions: left.intrusions - (cost.intrusions ?? 0),
      departures: left.departures - (cost.departures ?? 0),
    },
  });
  const isCrashed = last?.what.startsWith('dies') === true;
  const from = last === undefined ? 0 : isCrashed ? last.before + 1 : last.before;
  for (let before = from; before < course.positions.length; before += 1) {
    const position = course.positions[before];
    if (position === undefined) continue;
    const isHere = last?.before === before;
    // Those that a reader of theirs needs happened by then.
    const isForced = position.changes > placed;
    if (placed < changes.length && !isForced) {
      if (position.isBoundary) yield withTurn({ before, what: 'change' }, {}, position);
      else if (left.intrusions > 0 && left.departures > 0)
        yield withTurn({ before, what: 'change' }, { intrusions: 1, departures: 1 }, position);
    }
    // A run is over: which of the others is next.
    if (!isHere && position.isBoundary && before > 0)
      for (const to of position.others) yield withTurn({ before, what: 'switch', to }, {}, position);
    if (left.departures === 0) continue;
    if (!isHere && !position.isBoundary && left.switches > 0)
      for (const to of position.others)
        yield withTurn({ before, what: 'switch', to }, { switches: 1, departures: 1 }, position);
    if (left.crashes > 0) {
      yield withTurn({ before, what: 'dies before' }, { crashes: 1, departures: 1 }, position);
      if (position.changesSomething)
        yield withTurn({ before, what: 'dies after' }, { crashes: 1, departures: 1 }, position);
    }
  }
}
