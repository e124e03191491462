/** Context that terminations, FinalizerRules, objects and orphans act with. */
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';

/** The name under which this function has records, timers and audit lines. */
export const OWNER = 'finalizer';

export type FinalizerDeps = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'instances' | 'events' | 'audit' | 'metrics' | 'clock' | 'hooks'
>;

/** The ports, and the reporter of what was done. */
export interface FinalizerContext {
  readonly deps: FinalizerDeps;
  readonly reporter: Reporter;
}
