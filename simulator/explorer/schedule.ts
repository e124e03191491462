/** Schedules, and the order of steps that one means. */
import type { Death } from './gate.ts';
import type { RunName, Situation } from './situation.ts';

/**
 * A departure from "the run that is at work goes on to its end, then the other one", before the call of that number of the two runs
 * together (from 0).
 */
export interface Turn {
  readonly before: number;
  readonly what: 'switch' | 'change' | 'dies before' | 'dies after';
}

export interface Schedule {
  readonly first: RunName;
  /** In order. Changes without a turn happen at the end, or just before the run that hears of them. */
  readonly turns: readonly Turn[];
}

export type Step =
  | { readonly kind: 'call'; readonly run: RunName; readonly death: Death | undefined; readonly position: Position }
  /** The next change of the situation. */
  | { readonly kind: 'change'; readonly index: number };

/** What stood before a call of one of the two runs, for choosing the next schedules. */
export interface Position {
  readonly run: RunName;
  /** The other run had calls to make, too. */
  readonly canSwitch: boolean;
  /** The other run, or none, had made the call before. */
  readonly isBoundary: boolean;
  /** Changes that had happened. */
  readonly changes: number;
}

export const otherThan = (run: RunName): RunName => (run === 'A' ? 'B' : 'A');

/** The steps of a schedule, one at a time: the caller says what is possible next. */
export function* stepsOf(
  schedule: Schedule,
  { changes = [] }: Pick<Situation, 'changes'>,
  isWaiting: (run: RunName) => boolean,
): Generator<Step, void, void> {
  let run = schedule.first;
  let last: RunName | undefined;
  let changed = 0;
  for (let number = 0; ; number += 1) {
    const due = schedule.turns.filter(({ before }) => before === number);
    if (due.some(({ what }) => what === 'switch')) run = otherThan(run);
    if (!isWaiting(run)) run = otherThan(run);
    if (!isWaiting(run)) break;
    for (const { what } of due) {
      if (what === 'change' && changed < changes.length) yield { kind: 'change', index: changed++ };
    }
    // A message that tells of a change comes after it.
    const needed = changes.findIndex(({ tells }) => tells === run);
    while (changed <= needed) yield { kind: 'change', index: changed++ };
    const death = due.find(({ what }) => what.startsWith('dies'))?.what;
    const position = { run, canSwitch: isWaiting(otherThan(run)), isBoundary: run !== last, changes: changed };
    yield {
      kind: 'call',
      run,
      death: death === undefined ? undefined : death === 'dies before' ? 'before' : 'after',
      position,
    };
    last = run;
  }
  while (changed < changes.length) yield { kind: 'change', index: changed++ };
}
