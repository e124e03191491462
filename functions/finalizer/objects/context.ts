/** Context of the clean-up of objects, and the memory that one run has of its earlier turns. */
import type { FinalizerContext } from '../common/context.ts';
import type { HookAnswer } from '../../../shared/domain/hook-answer.ts';
import type { Backoff } from '../../../shared/lifecycle/refusals.ts';
import type { decide } from './decide.ts';
import type { reserveCallTime } from './rule/call-queue.ts';

/** The rules of objects. Mutants put mistakes in their place. */
export interface ReplaceableRules {
  readonly decideObject: typeof decide;
  readonly reserveCallTime: typeof reserveCallTime;
}

export type ObjectContext = FinalizerContext & ReplaceableRules;

/** The answer of a worker by its event. */
export type WorkerAnswer = HookAnswer & { readonly rule: string };

/** One run about one object and FinalizerRule. */
export interface ObjectRunContext extends ObjectContext {
  readonly backoff: Backoff;
  /** Number of the call that this run noted down. */
  ownAttempt: number | undefined;
  /** The answer of a worker, until it is in the ledger. */
  answer: WorkerAnswer | undefined;
}
