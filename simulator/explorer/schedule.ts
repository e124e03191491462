/** Schedules, and the order of steps that one means. */
import type { Death } from './gate.ts';
import { runsOf, type RunName, type Situation } from './situation.ts';

/**
 * A departure from "the run that is at work goes on to its end, then the next one", before the call of that number of all runs
 * together (from 0).
 */
export interface Turn {
  readonly before: number;
  readonly what: 'switch' | 'change' | 'dies before' | 'dies after';
  /** Of a switch: who goes on. */
  readonly to?: RunName;
}

export interface Schedule {
  readonly first: RunName;
  /** In order. Changes without a turn happen at the end, or just before the run that hears of them. */
  readonly turns: readonly Turn[];
}

export type Step =
  | { readonly kind: 'call'; readonly run: RunName; readonly death: Death | undefined; readonly position: Position }
  /** The next change of the situation. `forced`: the run that is to go on hears of it. */
  | { readonly kind: 'change'; readonly index: number; readonly forced: boolean };

/** What stood before a call of one of the runs, for choosing the next schedules. */
export interface Position {
  readonly run: RunName;
  /** Other runs that had calls to make, too. */
  readonly others: readonly RunName[];
  /** Another run, or none, had made the call before. */
  readonly isBoundary: boolean;
  /** Changes that had happened. */
  readonly changes: number;
}

/** The steps of a schedule, one at a time: the caller says which runs can go on. */
export function* stepsOf(
  schedule: Schedule,
  situation: Pick<Situation, 'changes' | 'messages'>,
  isWaiting: (run: RunName) => boolean,
): Generator<Step, void, void> {
  const { changes = [] } = situation;
  const runs = runsOf(situation);
  let run = schedule.first;
  let last: RunName | undefined;
  let changed = 0;
  for (let number = 0; ; number += 1) {
    const due = schedule.turns.filter(({ before }) => before === number);
    run = due.find(({ what }) => what === 'switch')?.to ?? run;
    if (!isWaiting(run)) {
      const own = runs.indexOf(run);
      const next = [...runs.slice(own + 1), ...runs.slice(0, own)].find(isWaiting);
      if (next === undefined) break;
      run = next;
    }
    for (const { what } of due) {
      if (what === 'change' && changed < changes.length) yield { kind: 'change', index: changed++, forced: false };
    }
    // A message that tells of a change comes after it.
    const needed = changes.findIndex(({ tells }) => tells === run);
    while (changed <= needed) yield { kind: 'change', index: changed++, forced: true };
    const death = due.find(({ what }) => what.startsWith('dies'))?.what;
    const others = runs.filter(other => other !== run && isWaiting(other));
    const position = { run, others, isBoundary: run !== last, changes: changed };
    yield {
      kind: 'call',
      run,
      death: death === undefined ? undefined : death === 'dies before' ? 'before' : 'after',
      position,
    };
    last = run;
  }
  while (changed < changes.length) yield { kind: 'change', index: changed++, forced: false };
}
