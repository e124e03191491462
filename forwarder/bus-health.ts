/**
 * Judges by the last answers of the bus how many entries the next call takes, and how long the bus is left alone. Pure.
 */
import { toDurationMs, type DurationMs, type EpochMs } from '../shared/domain/time.ts';
import { MAX_ENTRIES_PER_CALL } from '../shared/ports/event-bus.ts';
import { backoffDelay, type BackoffRange, type RandomSource } from './backoff.ts';

export interface BusProblem {
  readonly reason: string;
  readonly since: EpochMs;
}

export interface BusHealth {
  /** Calls in a row that brought nothing to the bus. */
  readonly failures: number;
  readonly batchMax: number;
  /** The reason why the bus takes nothing, and since when. */
  readonly problem: BusProblem | undefined;
}

export type BusStep =
  /** A call brought something to the bus. */
  | { readonly kind: 'published' }
  /** A call brought nothing. `mayBeOneEntry`: perhaps because of a single entry of the batch. */
  | { readonly kind: 'failed'; readonly reason: string; readonly mayBeOneEntry: boolean };

export const HEALTHY: BusHealth = { failures: 0, batchMax: MAX_ENTRIES_PER_CALL, problem: undefined };

export function nextHealth(health: BusHealth, step: BusStep, now: EpochMs): BusHealth {
  if (step.kind === 'published')
    return { failures: 0, batchMax: Math.min(health.batchMax * 2, MAX_ENTRIES_PER_CALL), problem: undefined };
  return {
    failures: health.failures + 1,
    // Alone, an entry harms no other.
    batchMax: step.mayBeOneEntry ? 1 : health.batchMax,
    problem: { reason: step.reason, since: health.problem?.since ?? now },
  };
}

/** The change to log; undefined: the state was logged already. */
export function healthChange(before: BusHealth, after: BusHealth): 'failing' | 'working' | undefined {
  if (before.problem?.reason === after.problem?.reason) return undefined;
  return after.problem === undefined ? 'working' : 'failing';
}

/** @param options `asked`: how long the bus asks to be left alone, in milliseconds */
export function pauseAfter(
  { failures }: BusHealth,
  backoff: BackoffRange,
  { random, asked = 0 }: { readonly random?: RandomSource | undefined; readonly asked?: number | undefined },
): DurationMs {
  return toDurationMs(Math.max(backoffDelay(failures, backoff, random), Math.min(asked, backoff.longest)));
}
