/** What one run of a drain has. */
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { DrainDeps } from './observe.ts';

export interface DrainContext {
  readonly deps: DrainDeps;
  readonly reporter: Reporter;
  readonly run: DrainRun;
}

/** What one run did itself; the same in all of its turns. */
export interface DrainRun {
  /** The message in hand is in the record, was answered, or asks for nothing. */
  isMessageDone: boolean;
  /** Id of the drain that it ended: it is the one to close it. */
  endedDrainId: string | undefined;
}
