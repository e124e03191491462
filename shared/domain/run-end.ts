/** When a run of a function is over for certain, whatever became of it. */
import { seconds } from './time.ts';

/** Seconds that one run of a function may take. */
export const FUNCTION_TIMEOUT_SECONDS = 30;

/**
 * What a run recorded that it would do has happened after this long, or never will. Twice its time: what it sent last may take effect some
 * seconds later, and clocks differ.
 */
export const RUN_ENDS_WITHIN = seconds(2 * FUNCTION_TIMEOUT_SECONDS);
