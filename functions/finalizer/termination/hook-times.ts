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
 * Its time begins with a call that was made: not with one that a run which ended had in mind, however often that happened. A call that
 * follows an answered one is noted down later than the time of the first.
 */
export const isFirstCallUnknown = ({ phase, firstInvokedTime, lastSeenTime }: HookProgress): boolean =>
  phase === 'intended' && firstInvokedTime === lastSeenTime;
