/** What a schedule has come to between two steps: the values of all things, and what the runs have seen. */
import { MESSAGES, type Addition } from './footprint.ts';
import type { RunName } from './situation.ts';

export interface Known {
  /** The values of all things that are not as they were. */
  readonly values: ReadonlyMap<string, number>;
  readonly added: ReadonlyMap<string, readonly string[]>;
  /** What the runs have seen. */
  readonly seen: Readonly<Record<RunName, number>>;
  readonly dead: ReadonlySet<RunName>;
}

/** One object for each that differs: thousands of courses go through the same ones. */
export interface State extends Known {
  /** Everything that is still to come follows from it, and from who goes on. */
  readonly key: string;
  /** Where steps lead to from here, as far as that is known. */
  readonly steps: Map<string, { readonly to: State; readonly changesSomething: boolean }>;
  /** `key` after the last call: how the runs ended instead of what they saw. */
  endKey: string | undefined;
}

/** The outcome of a call or a change. */
export interface Effect {
  readonly seen: number;
  readonly writes: readonly (readonly [thing: string, value: number])[];
  readonly adds: Addition | undefined;
}

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

/** The states of one situation. */
export interface States {
  readonly begin: State;
  readonly numberOf: (text: string) => number;
  readonly stateOf: (known: Known) => State;
  readonly withEffect: (state: State, effect: Effect) => Known;
  /** What a call reads of a thing, as text; `pods/*` is all pods. */
  readonly valueOf: (state: State, thing: string) => string;
  /** All that was written or added, sorted. */
  readonly thingsOf: (known: Known) => readonly string[];
}

export function createStates(runs: readonly RunName[]): States {
  const numberOf = createNumbers();
  const states = new Map<string, State>();
  const thingsOf = ({ values, added }: Known): readonly string[] => [
    ...[...values].map(([thing, value]) => `${thing}=${value}`).toSorted(),
    ...[...added].map(([to, texts]) => `${to}: ${(to === MESSAGES ? texts.toSorted() : texts).join()}`).toSorted(),
  ];
  const stateOf = (known: Known): State => {
    const { seen, dead } = known;
    const key = [...runs.map(run => (dead.has(run) ? 'dead' : seen[run])), ...thingsOf(known)].join(' ');
    const state = states.get(key) ?? { ...known, key, steps: new Map(), endKey: undefined };
    states.set(key, state);
    return state;
  };
  const begin = stateOf({
    values: new Map(),
    added: new Map(),
    seen: { A: numberOf('A'), B: numberOf('B'), C: numberOf('C') },
    dead: new Set(),
  });

  const valueOf = ({ values, added }: State, thing: string): string => {
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
  const withEffect = ({ seen, dead, values, added }: State, { writes, adds }: Effect): Known => ({
    seen,
    dead,
    values: writes.length === 0 ? values : new Map([...values, ...writes]),
    added:
      adds === undefined
        ? added
        : new Map([...added, [adds.to, [...(added.get(adds.to) ?? []), String(numberOf(adds.text))]]]),
  });
  return { begin, numberOf, stateOf, withEffect, valueOf, thingsOf };
}
