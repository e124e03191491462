/** What was reported of a call that fails again and again: an Event an hour, and at once where the cause is another one (I11). Pure. */
import { isSameCause } from './refusal.ts';
import { isReportDue, type EpochMs } from './time.ts';

/** The last report of a failure. */
export interface FailureReport {
  readonly message: string;
  readonly time: EpochMs;
}

/** The report that counts after one more failure: the one before while it covers this failure, else a new one that is due now. */
export function reportOfFailure(before: FailureReport | undefined, message: string, now: EpochMs): FailureReport {
  const isCovered = before !== undefined && isSameCause(before.message, message) && !isReportDue(now, before.time);
  return isCovered ? before : { message, time: now };
}
