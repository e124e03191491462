/**
 * What is known of the runs from the schedules that were carried out. A run is deterministic: what it does next depends on nothing
 * but the answers that it had, and what a call answers and changes on nothing but what it reads. So most schedules need not be carried
 * out: where each step was seen before, on the same values, it is known what comes of it; and once everything that is still to come was
 * seen from the same objects, records and messages, too, the schedule has nothing new in it.
 */
import { MESSAGES, type Addition, type Footprint } from './footprint.ts';
import type { Death } from './gate.ts';
import { stepsOf, type Position, type Schedule, type Turn } from './schedule.ts';
import { runsOf, type RunName, type Situation } from './situation.ts';

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
  after(moment: Moment, turn: Turn): string | undefined;
  /** undefined: some run comes to where none has been. */
  foresee(schedule: Schedule): Course | undefined;
  learn(happened: readonly Witnessed[], ends: RunEnds): void;
}

interface Known {
  readonly values: ReadonlyMap<string, number>;
  readonly added: ReadonlyMap<string, readonly string[]>;
  readonly seen: Readonly<Record<RunName, number>>;
  readonly dead: ReadonlySet<RunName>;
}

export interface State {
  readonly seen: Record<RunName, number>;
  readonly dead: Set<RunName>;
  copy(): State;
  apply(effect: Effect): void;
  callKey(run: RunName, footprint: Footprint): string;
  changeKey(index: number): string;
  /** Everything that is still to come follows from it, and from who goes on. */
  key(): string;
  /** After the last call: how the runs ended instead of what they saw. */
  endKey(): string;
}

interface Effect {
  readonly seen: number;
  readonly writes: readonly (readonly [thing: string, value: number])[];
  readonly adds: Addition | undefined;
}

type Next = { readonly kind: 'call'; readonly footprint: Footprint } | { readonly kind: 'end'; readonly how: string };

/** A number for each text. */
function createNumbers(): (text: string) => number {
  const numbers = new Map<string, number>();
  return text => {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    numbers.set(text, numbers.size + 1);
    return numbers.size;
  };
}

export function createForesight(situation: Pick<Situation, 'changes' | 'messages'>): Foresight {
  const numberOf = createNumbers();
  /** What a run does next, by what it has seen so far. */
  const next = new Map<number, Next>();
  /** What came of a call or change, by who made it and the values that it read. */
  const effects = new Map<string, Effect>();
  /** What each change touches. */
  const touchedBy = new Map<number, Set<string>>();
  const runs = runsOf(situation);

  /** The values of all things that are not as they were, and what the runs have seen. */
  const createState = (before?: Known): State => {
    const values = new Map(before?.values);
    const added = new Map(before?.added);
    const seen = before === undefined ? { A: numberOf('A'), B: numberOf('B'), C: numberOf('C') } : { ...before.seen };
    const dead = new Set(before?.dead);

    const valueOf = (thing: string): string => {
      const additions = added.get(thing);
      if (additions !== undefined) return additions.join();
      if (!thing.endsWith('*')) return String(values.get(thing) ?? 0);
      const prefix = thing.slice(0, -1);
      const entries = [...values].filter(([key]) => key.startsWith(prefix));
      return entries
        .map(([key, value]) => `${key}=${value}`)
        .toSorted()
        .join();
    };
    const apply = ({ writes, adds }: Effect): void => {
      for (const [thing, value] of writes) values.set(thing, value);
      if (adds !== undefined) added.set(adds.to, [...(added.get(adds.to) ?? []), String(numberOf(adds.text))]);
    };
    const things = (): readonly string[] => [
      ...[...values].map(([thing, value]) => `${thing}=${value}`).toSorted(),
      ...[...added].map(([to, texts]) => `${to}: ${(to === MESSAGES ? texts.toSorted() : texts).join()}`).toSorted(),
    ];
    return {
      seen,
      dead,
      apply,
      copy: () => createState({ values, added, seen, dead }),
      callKey: (run, { reads }) => `${seen[run]} ${reads.map(valueOf).join(' ')}`,
      changeKey: index =>
        `change ${index} ${[...(touchedBy.get(index) ?? [])].map(thing => `${thing}=${valueOf(thing)}`).join(' ')}`,
      key: () => [...runs.map(run => (dead.has(run) ? 'dead' : seen[run])), ...things()].join(' '),
      endKey() {
        const ends = runs.map(run => {
          if (dead.has(run)) return 'dead';
          const known = next.get(seen[run]);
          const how = known?.kind === 'end' ? known.how : '';
          return how === ASLEEP ? `${how} ${seen[run]}` : how;
        });
        return [...ends, ...things()].join(' ');
      },
    };
  };

  return {
    foresee(schedule) {
      const state = createState();
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
          const effect = effects.get(state.changeKey(step.index));
          if (effect === undefined) return undefined;
          state.apply(effect);
          isForced ||= step.forced;
          continue;
        }
        const { run, death } = step;
        const known = next.get(state.seen[run]);
        const effect = known?.kind === 'call' ? effects.get(state.callKey(run, known.footprint)) : undefined;
        // What it would have come to need not be known of a call that is never made.
        if (effect === undefined && death !== 'before') return undefined;
        const changesSomething = effect === undefined || effect.writes.length > 0 || effect.adds !== undefined;
        positions.push({ ...step.position, changesSomething, state: isForced ? undefined : state.copy() });
        isForced = false;
        if (death !== 'before' && effect !== undefined) {
          state.apply(effect);
          state.seen[run] = effect.seen;
        }
        if (death !== undefined) state.dead.add(run);
      }
      return isKnown ? { positions, key: state.endKey() } : undefined;
    },
    after({ state: before, run, changes, isBoundary }, { what, to }) {
      const state = before?.copy();
      if (state === undefined) return undefined;
      if (what === 'change') {
        const effect = effects.get(state.changeKey(changes));
        if (effect === undefined) return undefined;
        state.apply(effect);
      } else if (what !== 'switch') {
        const known = what === 'dies after' ? next.get(state.seen[run]) : undefined;
        const effect = known?.kind === 'call' ? effects.get(state.callKey(run, known.footprint)) : undefined;
        if (what === 'dies after' && effect === undefined) return undefined;
        if (effect !== undefined) state.apply(effect);
        state.dead.add(run);
      }
      const kind = what === 'change' && isBoundary ? 'change between runs' : what;
      return `${kind} ${changes} ${to ?? run} ${state.key()}`;
    },
    learn(happened, ends) {
      const state = createState();
      for (const each of happened) {
        const writes = each.writes.map(([thing, text]) => [thing, numberOf(text)] as const);
        if (each.kind === 'change') {
          const touched = touchedBy.get(each.index) ?? new Set();
          for (const [thing] of writes) touched.add(thing);
          touchedBy.set(each.index, touched);
          const effect = { seen: 0, writes, adds: each.adds };
          effects.set(state.changeKey(each.index), effect);
          state.apply(effect);
          continue;
        }
        const { run, footprint, death, answer } = each;
        next.set(state.seen[run], { kind: 'call', footprint });
        if (death !== 'before') {
          const seen = numberOf(`${state.seen[run]} saw ${answer}`);
          const effect = { seen, writes, adds: footprint.adds };
          effects.set(state.callKey(run, footprint), effect);
          state.apply(effect);
          state.seen[run] = seen;
        }
        if (death !== undefined) state.dead.add(run);
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
