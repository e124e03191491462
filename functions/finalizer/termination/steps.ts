/**
 * Work in steps: each looks at the live state and answers whether it is done, so that the list can be taken up again after any crash.
 * An act that may happen only once is an attempt in the record, not a step's memory.
 */
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { StepRole } from './rule/turn.ts';

export type StepOutcome =
  | { readonly kind: 'done' }
  /** It carried something out or lost a race, and this run looks again at once. */
  | { readonly kind: 'progressed'; readonly because: string }
  /**
   * The step is looked at again at `until`, or when what it waits `on` changes. `isBlocked`: somebody forbids it for now, and not only time is
   * needed.
   */
  | { readonly kind: 'notYet'; readonly until: EpochMs; readonly on: string; readonly isBlocked?: boolean }
  /** The step cannot be done as things are; `reason` is one CamelCase word. `until`: it is tried again then. */
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string; readonly until?: EpochMs };

export interface Step<Context> {
  readonly name: string;
  readonly role?: StepRole;
  /** Reason of the Event when it is refused; absent: `NodeChangeRefused`. */
  readonly refusedReason?: string;
  /** The end of a time of its own, at which it is tried although it was refused; undefined: it has none. */
  timeoutTime?(context: Context): EpochMs | undefined;
  /** Idempotent. Throws `RetryableError` when it could not find out. */
  run(context: Context): Promise<StepOutcome>;
}

export type StepsOutcome =
  { readonly kind: 'done' } | (Exclude<StepOutcome, { kind: 'done' }> & { readonly step: string });

/** Runs the steps in order and stops at the first that is not done. */
export async function runSteps<Context>(steps: readonly Step<Context>[], context: Context): Promise<StepsOutcome> {
  for (const step of steps) {
    const outcome = await step.run(context);
    if (outcome.kind !== 'done') return { ...outcome, step: step.name };
  }
  return { kind: 'done' };
}
