/** The ports of terminations, rules and orphans. */
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';

export type TerminationDeps = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'instances' | 'events' | 'audit' | 'metrics' | 'clock' | 'hooks'
>;
