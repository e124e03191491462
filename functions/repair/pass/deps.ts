/** What a pass works with, and how far apart passes are. */
import { seconds } from '../../../shared/domain/time.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import type { TimedRecord } from '../../../shared/lifecycle/timed-record.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import type { decide } from '../decide.ts';
import type { decidePass } from './decide.ts';
import type { PoolState } from './pool.ts';

export type PassDeps = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'bus' | 'instances' | 'events' | 'audit' | 'metrics' | 'clock'
> & {
  readonly reporter: Reporter;
  readonly decide: typeof decide;
  readonly decidePass: typeof decidePass;
  /** The number of repairs that are held or under way is another one. */
  readonly repairsChanged: () => Promise<void>;
};

/** A pool and its record, opened by this run. */
export interface OpenPool {
  /** undefined: the nodes without a NodePool. */
  readonly pool: string | undefined;
  readonly record: TimedRecord<PoolState>;
}

/** Passes of one pool are this far apart. */
export const PASS_SPACING = seconds(1);
/** A calm pool is looked at this long after a change. */
export const CALM_SPACING = seconds(5);
/** A pass that dies is repeated after this long. */
export const PASS_SETTLES_AFTER = seconds(60);
