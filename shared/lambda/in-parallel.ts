/** Messages of one batch at the same time: a run spends most of its time waiting for answers. */
import type { InboxMessage } from '../contract/inbox-message.ts';
import type { Reconcile } from '../ports/function-deps.ts';

export interface Parallel {
  /** Messages of one batch that are worked on at the same time, at most. */
  readonly atOnce: number;
  /** Messages about the same subject are worked on one after the other: the second finds what the first has left. */
  readonly subjectOf: (message: InboxMessage) => string;
}

/** `reconcile` with one run at a time for each subject, in the order of the calls. */
export function oneAtATime(reconcile: Reconcile, subjectOf: Parallel['subjectOf']): Reconcile {
  const lastRuns = new Map<string, Promise<void>>();
  return async message => {
    const subject = subjectOf(message);
    const before = lastRuns.get(subject);
    const begin = (): Promise<void> => reconcile(message);
    const run = before === undefined ? begin() : before.then(begin, begin);
    lastRuns.set(subject, run);
    try {
      await run;
    } finally {
      if (lastRuns.get(subject) === run) lastRuns.delete(subject);
    }
  };
}
