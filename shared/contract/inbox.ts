/** Settings of every function's inbox; the deployed queue and its local stand-ins have the same. */
export { FUNCTION_TIMEOUT_SECONDS, VISIBILITY_TIMEOUT_SECONDS } from '../domain/run-end.ts';
export { DEAD_LETTER_RETENTION_DAYS, INBOX_RETENTION_DAYS } from '../domain/retention.ts';

/**
 * Batches that a function has in progress at once, at most (`packages/curfew-cdk/src/function-definitions.ts`): it protects the API server. In
 * one process over a real cluster as well.
 */
export const MAX_CONCURRENCY = 10;

/**
 * Receives before dead-lettering: about a day at one per three minutes. A change is published once, and again only hours later, so
 * its message must outlive a day's outage (I5, I9).
 */
export const MAX_RECEIVES = 500;

/**
 * Receives of a message that is sent again every minute, a tick or a wake-up of the sweep: a little longer than until the next one.
 * If each were tried for a day, those of a day's outage would add up.
 */
export const MAX_REPEATED_RECEIVES = 5;

/** Receives of a message that fails because of a bug: it is parked with its reason after about an hour, and loops no longer. */
export const MAX_BUG_RECEIVES = 20;
