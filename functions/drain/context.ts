/** Context of one run of a drain: the ports, and its memory. */
import type { decide } from './decide.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';

/** Ports that drains use. */
export type DrainDeps = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'bus' | 'events' | 'audit' | 'metrics' | 'clock' | 'cluster'
>;

/** The rules of the concern. Mutants put mistakes in their place. */
export interface ReplaceableRules {
  readonly decide: typeof decide;
}

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
