/** The time after which a run of a function is certainly over, whatever became of it. */
import { seconds } from './time.ts';

/** Seconds that one run of a function may take. */
export const FUNCTION_TIMEOUT_SECONDS = 30;

/**
 * The time after which an act that a run recorded beforehand has happened, or never will. It is twice the time of a
 * run: its last call may take effect some seconds later, and clocks differ.
 */
export const RUN_ENDS_WITHIN = seconds(2 * FUNCTION_TIMEOUT_SECONDS);
