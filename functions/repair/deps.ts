/** What a pass works with. Types only. */
import type { PodView } from '../../shared/domain/pod.ts';
import type { RefusalCause } from '../../shared/domain/refusal.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { Made } from './actions/action.ts';
import type { decidePool, Granted } from './rule/decide.ts';
import type { lookAt } from './rule/follow.ts';
import type { decideNode } from './rule/node-verdict.ts';
import type { Attempt, NodeRecord } from './rule/record.ts';

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

/** What came of an act. */
export type Outcome =
  /** @param pods of the node, as far as they were looked up */
  | { readonly kind: 'accepted'; readonly pods: readonly PodView[]; readonly attempt: Attempt; readonly isOther?: true }
  /** It is not wanted any more; nothing was done. */
  | { readonly kind: 'calledOff'; readonly why: string }
  /** It certainly was not carried out. */
  | { readonly kind: 'refused'; readonly why: string; readonly cause: RefusalCause; readonly reason: string }
  /** Some call failed: the next pass finds out what happened. */
  | { readonly kind: 'unknown'; readonly error: unknown };

export interface Carried {
  readonly granted: Granted;
  readonly record: NodeRecord;
  readonly made: Made;
  readonly outcome: Outcome;
}
