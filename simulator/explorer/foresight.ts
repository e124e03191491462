/**
 * What is known of the two runs from the schedules that were carried out. A run is deterministic: what it does next depends on nothing
 * but the answers that it had, and an answer on nothing but the writes before it. So most schedules need not be carried out: that
 * they come to the same as an earlier one, call by call and answer by answer, can be foreseen.
 */
import { changesSomething, type Footprint } from './footprint.ts';
import type { Death } from './gate.ts';
import { stepsOf, type Position, type Schedule, type Step } from './schedule.ts';
import type { RunName, Situation } from './situation.ts';

export interface ForeseenStep {
  readonly step: Step;
  /** Of a call. */
  readonly footprint: Footprint | undefined;
}

export interface Course {
  readonly positions: readonly (Position & { readonly changesSomething: boolean })[];
  /** Two courses with the same key are the same but for the order of calls that do not see each other. */
  readonly key: string;
}

/** What happened in a schedule that was carried out. */
export type Witnessed =
  | { readonly kind: 'call'; readonly run: RunName; readonly footprint: Footprint; readonly death: Death | undefined }
  | { readonly kind: 'change'; readonly index: number; readonly writes: readonly string[] };

export interface Foresight {
  /** undefined: some run comes to where none has been. */
  foresee(schedule: Schedule): Course | undefined;
  learn(happened: readonly Witnessed[]): void;
}

type Known = Footprint | 'end';

export function createForesight(situation: Pick<Situation, 'changes'>): Foresight {
  const ids = new Map<string, number>();
  const idOf = (text: string): number => {
    const known = ids.get(text);
    if (known !== undefined) return known;
    ids.set(text, ids.size + 1);
    return ids.size;
  };
  /** What a run does next, by what it has seen so far. */
  const next = new Map<number, Known>();
  /** What each change touches. */
  const touchedBy = new Map<number, readonly string[]>();

  /** The world and the two runs, as numbers that are equal when all that led to them is. */
  const createState = () => {
    const versions = new Map<string, number>();
    const seen: Record<RunName, number> = { A: idOf('A'), B: idOf('B') };
    const dead = new Set<RunName>();
    const write = (things: readonly string[], cause: string): void => {
      for (const thing of things) versions.set(thing, idOf(`${versions.get(thing) ?? 0} ${cause}`));
    };
    return {
      seen,
      dead,
      call(run: RunName, { reads, writes }: Footprint, death: Death | undefined): void {
        if (death !== 'before') {
          const answers = reads.map(thing => versions.get(thing) ?? 0).join(',');
          seen[run] = idOf(`${seen[run]} saw ${answers}`);
          write(writes, `by ${seen[run]}`);
        }
        if (death !== undefined) dead.add(run);
      },
      change: (index: number, things: readonly string[]): void => write(things, `change ${index}`),
      /** What a dead run had seen does not matter any more. */
      key(): string {
        const worlds = [...versions].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(entry => entry.join('='));
        const runs = (['A', 'B'] as const).map(run => (dead.has(run) ? 'dead' : String(seen[run])));
        return `${runs.join(' ')} ${worlds.join(' ')}`;
      },
    };
  };

  return {
    foresee(schedule) {
      const state = createState();
      const positions: (Position & { changesSomething: boolean })[] = [];
      let isKnown = true;
      const isWaiting = (run: RunName): boolean => {
        if (state.dead.has(run)) return false;
        const known = next.get(state.seen[run]);
        if (known === undefined) isKnown = false;
        return known !== undefined && known !== 'end';
      };
      for (const step of stepsOf(schedule, situation, isWaiting)) {
        if (!isKnown) return undefined;
        if (step.kind === 'change') {
          const things = touchedBy.get(step.index);
          if (things === undefined) return undefined;
          state.change(step.index, things);
          continue;
        }
        const footprint = next.get(state.seen[step.run]);
        if (footprint === undefined || footprint === 'end') return undefined;
        positions.push({ ...step.position, changesSomething: changesSomething(footprint) });
        state.call(step.run, footprint, step.death);
      }
      return isKnown ? { positions, key: state.key() } : undefined;
    },
    learn(happened) {
      const state = createState();
      for (const each of happened) {
        if (each.kind === 'change') {
          touchedBy.set(each.index, each.writes);
          state.change(each.index, each.writes);
          continue;
        }
        next.set(state.seen[each.run], each.footprint);
        state.call(each.run, each.footprint, each.death);
      }
      for (const run of ['A', 'B'] as const) if (!state.dead.has(run)) next.set(state.seen[run], 'end');
    },
  };
}
