/** The ports and helpers of the status of policies. Types only. */
import type { RepairDeps } from '../common/context.ts';
import type { SelectedPool } from './rule/policy-facts.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';

export type PolicyStatusDeps = Pick<RepairDeps, 'kubernetes' | 'records' | 'wakeUps' | 'events' | 'audit' | 'clock'> & {
  readonly reporter: Reporter;
  /** Counts of the repairs of a pool, whose record passes write. */
  readonly repairCountsOf: (pool: string | undefined) => Promise<SelectedPool['repairs']>;
};
