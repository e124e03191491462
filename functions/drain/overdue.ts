/** A deletion that is overdue when its drain begins: owners are warned first, and it waits. Pure; part of `decide`. */
import { addDuration, minutes, toDurationMs, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import type { DrainRequest } from './model.ts';

/** It waits so long, or as long as the time-out, if that is less. */
const OVERDUE_WAITS = minutes(10);

/** The request as it counts when its drain begins: where its deletion is overdue, so that `min(timeout, 10 min)` are left. */
export function notOverdue(request: DrainRequest, timeout: DurationMs, now: EpochMs): DrainRequest {
  if (request.time === undefined || addDuration(request.time, timeout) > now) return request;
  const left = Math.min(timeout, OVERDUE_WAITS);
  return { ...request, time: addDuration(now, toDurationMs(left - timeout)) };
}
