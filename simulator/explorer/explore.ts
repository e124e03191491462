/** Tries all schedules of a situation within the bounds, the simple ones first, and stops with the shortest that fails. */
import { differenceOf, type EndState } from './end-state.ts';
import { explored, type Outcome, type Reconcilers, type Schedule, type Turn } from './run-schedule.ts';
import type { RunName, Situation } from './situation.ts';

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
export const SMALL_BOUNDS: Bounds = { switches: 2, crashes: 1, intrusions: 1, departures: 2 };

export interface Failure {
  readonly outcome: Outcome;
  readonly reasons: readonly string[];
}

export interface Exploration {
  readonly situation: Situation;
  readonly schedules: number;
  /** Of these: with a crash. */
  readonly crashes: number;
  readonly failure: Failure | undefined;
}

interface Candidate {
  readonly schedule: Schedule;
  readonly left: Bounds;
}

export async function explore(
  situation: Situation,
  bounds: Bounds,
  reconcilers: Reconcilers = {},
): Promise<Exploration> {
  const world = explored(situation, reconcilers);
  /** How the runs end one after the other. */
  const expected = new Map<string, EndState>();
  let schedules = 0;
  let crashes = 0;
  let level: readonly Candidate[] = (['A', 'B'] as const).map(first => ({
    schedule: { first, turns: [] },
    left: bounds,
  }));
  for (let departures = 0; departures <= bounds.departures; departures += 1) {
    const failures: Failure[] = [];
    const next: Candidate[] = [];
    // Free children join the level that is being tried.
    const queue = [...level];
    for (let candidate = queue.shift(); candidate !== undefined; candidate = queue.shift()) {
      const outcome = await world.run(candidate.schedule);
      schedules += 1;
      if (candidate.left.crashes < bounds.crashes) crashes += 1;
      if (departures === 0) expected.set(outcome.endState.join('\n'), outcome.endState);
      const reasons = complaintsAbout(outcome, expected);
      if (reasons.length > 0) failures.push({ outcome, reasons });
      for (const child of childrenOf(candidate, outcome, situation)) {
        if (child.left.departures === candidate.left.departures) queue.push(child);
        else next.push(child);
      }
    }
    const [failure] = failures.toSorted((a, b) => lengthOf(a) - lengthOf(b));
    if (failure !== undefined) return { situation, schedules, crashes, failure };
    level = next;
  }
  return { situation, schedules, crashes, failure: undefined };
}

/** Departures count first: who reads it follows each of them. */
const lengthOf = ({ outcome }: Failure): number =>
  outcome.schedule.turns.length * 1000 + outcome.happenings.filter(({ kind }) => kind === 'call').length;

function complaintsAbout(
  { violations, endState }: Outcome,
  expected: ReadonlyMap<string, EndState>,
): readonly string[] {
  const broken = violations.map(({ invariant, message }) => `${invariant}: ${message}`);
  if (broken.length > 0) return broken;
  if (expected.has(endState.join('\n'))) return [];
  const differences = [...expected.values()].map(each => differenceOf(endState, each));
  const [nearest = []] = differences.toSorted((a, b) => a.length - b.length);
  return ['the end state is not that of one run after the other:', ...nearest];
}

/** The schedules with one more turn, after those that there are. */
function* childrenOf(
  { schedule, left }: Candidate,
  outcome: Outcome,
  { changes = [] }: Situation,
): Iterable<Candidate> {
  const { turns } = schedule;
  const last: Turn | undefined = turns.at(-1);
  const placed = turns.filter(({ what }) => what === 'change').length;
  const withTurn = (turn: Turn, cost: Partial<Bounds>): Candidate => ({
    schedule: { ...schedule, turns: [...turns, turn] },
    left: {
      switches: left.switches - (cost.switches ?? 0),
      crashes: left.crashes - (cost.crashes ?? 0),
      intrusions: left.intrusions - (cost.intrusions ?? 0),
      departures: left.departures - (cost.departures ?? 0),
    },
  });
  for (let before = last?.before ?? 0; before < outcome.positions.length; before += 1) {
    const position = outcome.positions[before];
    if (position === undefined) continue;
    const isHere = last?.before === before;
    const isBoundary = position.isBoundary || (isHere && last.what === 'switch');
    // Changes that their reader forced, at or before this place, happened there already.
    if (placed < changes.length && position.changes === placed && (!isHere || last.what !== 'dies before')) {
      if (isBoundary) yield withTurn({ before, what: 'change' }, {});
      else if (left.intrusions > 0 && left.departures > 0)
        yield withTurn({ before, what: 'change' }, { intrusions: 1, departures: 1 });
    }
    if (isHere) continue;
    if (position.canSwitch && !isBoundary && left.switches > 0 && left.departures > 0)
      yield withTurn({ before, what: 'switch' }, { switches: 1, departures: 1 });
    if (left.crashes > 0 && left.departures > 0) {
      yield withTurn({ before, what: 'dies before' }, { crashes: 1, departures: 1 });
      if (position.changesSomething) yield withTurn({ before, what: 'dies after' }, { crashes: 1, departures: 1 });
    }
  }
}

export type { RunName };
