/** Settings of every function's inbox; the deployed queue and its local stand-ins have the same. */
import type { FunctionName } from './names.ts';

/** Seconds that one run of a function may take. */
export const FUNCTION_TIMEOUT_SECONDS = 30;

/** Seconds that a received message stays hidden: six times the time-out, AWS's advice for queues that feed a function. */
export const VISIBILITY_TIMEOUT_SECONDS = 6 * FUNCTION_TIMEOUT_SECONDS;

/**
 * Receives before a queue gives a message up. At one per three minutes an outage of a day is sat out: what a message tells of is
 * told only once (I5, I9). A tick is told anew every minute.
 */
export function maxReceiveCountOf(name: FunctionName): number {
  return name === 'timer' ? 20 : 500;
}

/** Receives of a message that fails because of a bug: it is parked with its reason after about an hour, and loops no longer. */
export const MAX_BUG_RECEIVES = 20;
