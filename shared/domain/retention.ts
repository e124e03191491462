/** Retention of messages, and so how late one may come. */
import { hours } from './time.ts';

/** Days that a message waits in an inbox, at most. */
export const INBOX_RETENTION_DAYS = 4;

/** Days that a dead letter waits for a person, at most: the longest that SQS keeps a message. */
export const DEAD_LETTER_RETENTION_DAYS = 14;

/**
 * The longest from a message's first arrival to its last: it waits in the inbox, then among the dead letters, and in the inbox again after
 * `curfew redrive`. What was answered, and what has ended, is remembered at least this long.
 */
export const MESSAGE_LIFETIME = hours(24 * (2 * INBOX_RETENTION_DAYS + DEAD_LETTER_RETENTION_DAYS));
