/** Context of one run: the ports, and what its later turns must know of the earlier ones. */
import type { decide } from './decide.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { Backoff } from '../../shared/lifecycle/refusals.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { Announcement } from './rule/announcements.ts';

export type GracePeriodDeps = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'metrics' | 'clock'
>;

/** The rules of the concern. Mutants put mistakes in their place. */
export interface ReplaceableRules {
  readonly decide: typeof decide;
}

export interface GracePeriodContext {
  readonly deps: GracePeriodDeps;
  readonly reporter: Reporter;
  readonly backoff: Backoff;
  /** A timer brought the run here. */
  readonly isFromTimer: boolean;
  /** Announcements of this run, in its record or not. */
  announcements: readonly Announcement[];
}
