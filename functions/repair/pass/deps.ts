/** What a pass works with, when it begins, and how far apart passes are. */
import { seconds } from '../../../shared/domain/time.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import type { decide } from '../decide.ts';
import type { decidePass } from './decide.ts';

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

/**
 * A pass for a node that becomes due begins to read so long before, and decides at the due instant: what it reads grows with the cluster,
 * and the node need not wait for it. A change that is known of by then makes it read again (ADR 0018).
 */
export const LOOK_AHEAD = seconds(0.5);
/** Passes of one pool are this far apart. */
export const PASS_SPACING = seconds(1);
/** A pass that dies is made up for after this long. */
export const PASS_SETTLES_AFTER = seconds(60);
