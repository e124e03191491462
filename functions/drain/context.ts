/** Context of one run of a drain. */
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { DrainDeps } from './observe.ts';

export interface DrainContext {
  readonly deps: DrainDeps;
  readonly reporter: Reporter;
  readonly run: DrainRunState;
}

/** Memory of one run, shared by all of its turns. */
export interface DrainRunState {
  /** The message in hand is in the record, was answered, or asks for nothing. */
  isMessageDone: boolean;
  /** Id of the drain that this run ended: it is the one to close it. */
  endedDrainId: string | undefined;
}
