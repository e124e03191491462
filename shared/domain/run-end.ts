/** The time after which a run of a function is certainly over, whatever became of it. */
import { addDuration, isDue, minutes, seconds, type EpochMs } from './time.ts';

/** Seconds that one run of a function may take. */
export const FUNCTION_TIMEOUT_SECONDS = 30;

/**
 * The time after which an act that a run recorded beforehand has happened, or never will. It is twice the time of a
 * run: its last call may take effect some seconds later, and clocks differ.
 */
export const RUN_ENDS_WITHIN = seconds(2 * FUNCTION_TIMEOUT_SECONDS);

/** Seconds that a received message stays hidden: six times the time-out, AWS's advice for queues that feed a function. */
export const VISIBILITY_TIMEOUT_SECONDS = 6 * FUNCTION_TIMEOUT_SECONDS;

/** Longest time until a message that failed, or whose run died, is read again. */
export const LONGEST_REDELIVERY = seconds(VISIBILITY_TIMEOUT_SECONDS);

/** A wake-up that comes later than this was delayed: messages may wait, too. */
const LATE_AFTER = minutes(1);

/** Whether a look that was due at that time is late: what came meanwhile may still wait in the inbox. */
export const isLateLook = (now: EpochMs, dueTime: EpochMs): boolean => isDue(now, addDuration(dueTime, LATE_AFTER));

/** The time by which each message that waited in the inbox has been read, and its run is over. @param since the first look that was made again */
export const inboxReadTime = (since: EpochMs): EpochMs =>
  addDuration(since, seconds(LONGEST_REDELIVERY / 1000 + FUNCTION_TIMEOUT_SECONDS));
