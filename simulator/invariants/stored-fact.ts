/** Facts that the records of one kind hold, as the check of I12 follows them. */
import type { NewRecord } from '../../shared/ports/record-store.ts';
import type { CheckContext } from './invariant.ts';

/** A fact of a stored record. What it is about is a key of its own: another answer to one request is another fact. */
export interface Fact {
  /** What was said, for the violation. */
  readonly words: string;
  /** What still refers to it, in words; undefined: nothing, and it may go. @param after the record that it is missing in; undefined: it is gone */
  readonly referrer: (after: NewRecord | undefined) => string | undefined;
}

/** Facts of one kind. */
export interface Memory {
  /** Whether records with that key have such facts. */
  readonly isIn: (key: string) => boolean;
  readonly factsIn: (record: NewRecord) => ReadonlyMap<string, Fact>;
}

export type MakeMemory = (context: CheckContext) => Memory;
