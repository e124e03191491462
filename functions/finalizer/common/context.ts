/** The ports of terminations, rules and orphans. */
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';

export type TerminationDeps = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'instances' | 'events' | 'audit' | 'metrics' | 'clock' | 'hooks'
>;

/** What effects act with, and what says so. */
export interface FinalizerContext {
  readonly deps: TerminationDeps;
  readonly reporter: Reporter;
}
