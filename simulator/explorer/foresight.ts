/**
 * What is known of the runs from the schedules that were carried out. A run is deterministic: what it does next depends on nothing
 * but the answers that it had, and what a call answers and changes on nothing but what it reads. So most schedules need not be carried
 * out: where each step was seen before, on the same values, it is known what comes of it; and once everything that is still to come was
 * seen from the same objects, records and messages, too, the schedule has nothing new in it.
 */
import { isDeepStrictEqual } from 'node:util';
import { invariant } from '../../shared/domain/invariant.ts';
import type { Addition, Footprint } from './footprint.ts';
import type { Death } from './gate.ts';
import { stepsOf, type Position, type Schedule, type Turn } from './schedule.ts';
import { runsOf, type RunName, type Situation } from './situation.ts';
import { createStates, type Effect, type State } from './states.ts';

/** What is known of the moment before a call. */
export interface Moment extends Position {
  readonly changesSomething: boolean;
  /** Undefined: a change was needed just before the call, which another run would not have needed. */
  readonly state: State | undefined;
}

export interface Course {
  readonly positions: readonly Moment[];
  /** Everything afterwards follows from it: objects, records, messages, and how the runs ended. */
  readonly key: string;
}

/** Things and what they came to be, as text. */
export type Writes = readonly (readonly [thing: string, text: string])[];

/** What happened in a schedule that was carried out. */
export type Witnessed =
  | {
      readonly kind: 'call';
      readonly run: RunName;
      readonly footprint: Footprint;
      readonly death: Death | undefined;
      /** Answer or error, as text. */
      readonly answer: string;
      readonly writes: Writes;
    }
  | { readonly kind: 'change'; readonly index: number; readonly writes: Writes; readonly adds?: Addition };

/** How a run that did not die came to stand at the end: done, failed and why, or asleep. */
export type RunEnds = Readonly<Partial<Record<RunName, string>>>;

export interface Foresight {
  /**
   * Where one more turn leads to: courses from equal texts go on alike. Undefined: not known yet.
   */
  readonly after: (moment: Moment, turn: Turn) => string | undefined;
  /** undefined: some run comes to where none has been. */
  foresee(schedule: Schedule): Course | undefined;
  learn(happened: readonly Witnessed[], ends: RunEnds): void;
}

type Next = { readonly kind: 'call'; readonly footprint: Footprint } | { readonly kind: 'end'; readonly how: string };

/** Knows nothing at first; each `learn` takes in one schedule that was carried out. */
export function createForesight(situation: Pick<Situation, 'changes' | 'messages'>): Foresight {
  /** What a run does next, by what it has seen so far. */
  const next = new Map<number, Next>();
  /** The outcome of a call or change, by who made it and the values that it read. */
  const effects = new Map<string, Effect>();
  /** What each change touches. */
  const touchedBy = new Map<number, Set<string>>();
  const runs = runsOf(situation);

  const { begin, numberOf, stateOf, withEffect, valueOf, thingsOf } = createStates(runs);
  const callKey = (state: State, run: RunName, { reads }: Footprint): string =>
    `${state.seen[run]} ${reads.map(thing => valueOf(state, thing)).join(' ')}`;
  const changeKey = (state: State, index: number): string =>
    `change ${index} ${[...(touchedBy.get(index) ?? [])].map(thing => `${thing}=${valueOf(state, thing)}`).join(' ')}`;

  /** Where a change leads to. */
  const changed = (state: State, index: number): State | undefined => {
    // As long as nothing more is known to be touched by it.
    const step = `change ${index} of ${touchedBy.get(index)?.size}`;
    const known = state.steps.get(step);
    if (known !== undefined) return known.to;
    const effect = effects.get(changeKey(state, index));
    if (effect === undefined) return undefined;
    const to = stateOf(withEffect(state, effect));
    state.steps.set(step, { to, changesSomething: true });
    return to;
  };
  /** Where the next call of a run leads to, or its death at that call. */
  const called = (
    state: State,
    run: RunName,
    death: Death | undefined,
  ): { readonly to: State; readonly changesSomething: boolean } | undefined => {
    const step = `${run} ${death ?? 'goes on'}`;
    const known = state.steps.get(step);
    if (known !== undefined) return known;
    const call = next.get(state.seen[run]);
    const effect = call?.kind === 'call' ? effects.get(callKey(state, run, call.footprint)) : undefined;
    // What it would have come to need not be known of a call that is never made.
    if (effect === undefined && death !== 'before') return undefined;
    const changesSomething = effect === undefined || effect.writes.length > 0 || effect.adds !== undefined;
    const after = effect === undefined || death === 'before' ? state : withEffect(state, effect);
    const to = stateOf({
      ...after,
      ...(death === undefined && effect !== undefined && { seen: { ...state.seen, [run]: effect.seen } }),
      ...(death !== undefined && { dead: new Set([...state.dead, run]) }),
    });
    const result = { to, changesSomething };
    // A call that was never made may become known.
    if (effect !== undefined) state.steps.set(step, result);
    return result;
  };
  const endKeyOf = (state: State): string => {
    if (state.endKey !== undefined) return state.endKey;
    const ends = runs.map(run => {
      if (state.dead.has(run)) return 'dead';
      const known = next.get(state.seen[run]);
      const how = known?.kind === 'end' ? known.how : '';
      return how === ASLEEP ? `${how} ${state.seen[run]}` : how;
    });
    state.endKey = [...ends, ...thingsOf(state)].join(' ');
    return state.endKey;
  };

  return {
    foresee(schedule) {
      let state = begin;
      const positions: Moment[] = [];
      let isKnown = true;
      let isForced = false;
      const isWaiting = (run: RunName): boolean => {
        if (state.dead.has(run)) return false;
        const known = next.get(state.seen[run]);
        if (known === undefined) isKnown = false;
        return known?.kind === 'call';
      };
      for (const step of stepsOf(schedule, situation, isWaiting)) {
        if (!isKnown) return undefined;
        if (step.kind === 'change') {
          const to = changed(state, step.index);
          if (to === undefined) return undefined;
          state = to;
          isForced ||= step.forced;
          continue;
        }
        const after = called(state, step.run, step.death);
        if (after === undefined) return undefined;
        const { changesSomething } = after;
        positions.push({ ...step.position, changesSomething, state: isForced ? undefined : state });
        isForced = false;
        state = after.to;
      }
      return isKnown ? { positions, key: endKeyOf(state) } : undefined;
    },
    after({ state, run, changes, isBoundary }, { what, to }) {
      if (state === undefined) return undefined;
      const kind = what === 'change' && isBoundary ? 'change between runs' : what;
      const place = `${kind} ${changes} ${to ?? run}`;
      if (what === 'switch') return `${place} ${state.key}`;
      const later =
        what === 'change'
          ? changed(state, changes)
          : called(state, run, what === 'dies before' ? 'before' : 'after')?.to;
      return later && `${place} ${later.key}`;
    },
    learn(happened, ends) {
      let state = begin;
      for (const each of happened) {
        // What happened counts, whatever was foreseen.
        state.steps.clear();
        const writes = each.writes.map(([thing, text]) => [thing, numberOf(text)] as const);
        if (each.kind === 'change') {
          const touched = touchedBy.get(each.index) ?? new Set();
          for (const [thing] of writes) touched.add(thing);
          touchedBy.set(each.index, touched);
          const effect = { seen: 0, writes, adds: each.adds };
          effects.set(changeKey(state, each.index), effect);
          state = stateOf(withEffect(state, effect));
          continue;
        }
        const { run, footprint, death, answer } = each;
        next.set(state.seen[run], { kind: 'call', footprint });
        if (death !== 'before') {
          const seen = numberOf(`${state.seen[run]} saw ${answer}`);
          const effect = { seen, writes, adds: footprint.adds };
          const key = callKey(state, run, footprint);
          const before = effects.get(key)?.writes ?? writes;
          invariant(isDeepStrictEqual(before, writes), `${run} changes the same where it reads the same`);
          effects.set(key, effect);
          state = stateOf({ ...withEffect(state, effect), seen: { ...state.seen, [run]: seen } });
        }
        if (death !== undefined) state = stateOf({ ...state, dead: new Set([...state.dead, run]) });
      }
      for (const run of runs) {
        const how = ends[run];
        if (how !== undefined) next.set(state.seen[run], { kind: 'end', how });
      }
    },
  };
}

/** A run that waits for time to pass: what it does then depends on what it has seen. */
export const ASLEEP = 'asleep';
