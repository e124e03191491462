/**
 * Work that somebody else does for Curfew: a hook of a termination, or the clean-up of a FinalizerRule. Each call carries a key that stays the
 * same when it is repeated, so that a worker that has done the work already can say so.
 */
import type { HookAnswer } from '../domain/hook-answer.ts';
import type { JsonObject } from '../domain/kubernetes-object.ts';
import type { HookTarget } from '../domain/termination.ts';
import type { DurationMs } from '../domain/time.ts';

export interface HookCall {
  readonly purpose: 'hook' | 'cleanup';
  /** The hook's or the rule's name. */
  readonly name: string;
  readonly target: HookTarget;
  /** Equal for all calls about one hook of one termination, or one clean-up of one object. */
  readonly key: string;
  /** The object that is terminated. */
  readonly about: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
  };
  /** Further details for the worker. */
  readonly details: JsonObject;
  /** Nobody waits for the work: the call is over once it is taken on, and takes this long at most. Absent: a function's own answer is waited for. */
  readonly takenOnWithin?: DurationMs;
}

export interface Hooks {
  /** Throws `RetryableError` when the call could not be made or its outcome is not known. */
  invoke(call: HookCall): Promise<HookAnswer>;
}
