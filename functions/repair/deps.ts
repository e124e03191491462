/** What a pass works with. Types only. */
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { decidePool } from './decide.ts';
import type { lookAt } from './follow.ts';
import type { decideNode } from './node-verdict.ts';

export type PassDeps = Pick<
  FunctionDeps,
  'kubernetes' | 'records' | 'wakeUps' | 'bus' | 'instances' | 'events' | 'audit' | 'metrics' | 'clock'
> & {
  readonly reporter: Reporter;
  readonly decideNode: typeof decideNode;
  readonly decidePool: typeof decidePool;
  readonly lookAt: typeof lookAt;
  /** The number of repairs that are held or in flight is another one; `zero`: it became none, or some. */
  readonly repairsChanged: (urgency: 'count' | 'zero') => Promise<void>;
};
export type PassWithAsk = PassDeps & {
  /** Asks for a pass of another pool. */
  readonly ask: (pool: string | undefined, what: string) => Promise<void>;
};
