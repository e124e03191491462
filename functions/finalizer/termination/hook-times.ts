/** How long a hook may take, and when one that failed is called again. Pure. */
import type { TerminationHook } from '../../../shared/domain/termination.ts';
import { addDuration, seconds, type DurationMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { HookProgress } from './record.ts';

/** When the hook has run out of time. Silence counts while a worker is at it. */
export function hookTimeoutTime({ deadline, heartbeat }: TerminationHook, progress: HookProgress): EpochMs {
  const end = addDuration(progress.firstInvokedTime, deadline);
  if (heartbeat === undefined || progress.phase !== 'pending') return end;
  const silent = addDuration(progress.lastSeenTime, heartbeat);
  return silent < end ? silent : end;
}

const LONGEST_RETRY_SECONDS = 60;

/** 5 s, 10 s, 20 s … 60 s. @param attempts that failed, from 1 */
export function hookRetryDelay(attempts: number): DurationMs {
  return seconds(Math.min(5 * 2 ** Math.min(attempts - 1, 10), LONGEST_RETRY_SECONDS));
}

/**
 * Whether nobody knows that the hook was ever called: the first call was noted down, and the run that did so ended. The hook's deadline
 * counts from a call that was made, so the next note sets its time anew. A later call is noted down after the time of the first one.
 */
export const isFirstCallUnknown = ({ phase, firstInvokedTime, lastSeenTime }: HookProgress): boolean =>
  phase === 'intended' && firstInvokedTime === lastSeenTime;
