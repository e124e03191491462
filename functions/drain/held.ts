/** What becomes of the time that drains are held. Pure; part of `decide`. */
import { addDuration, durationBetween, latest, toDurationMs, type EpochMs } from '../../shared/domain/time.ts';
import type { DrainRecord, DrainRequest } from './model.ts';

/**
 * The record once nothing is held any more: nobody waited for the time-outs meanwhile, and owners are warned of the new instant. When it is
 * held again, that is said again.
 */
export function withoutHold(record: DrainRecord, now: EpochMs): DrainRecord {
  const { reported, heldSince, active, ...rest } = record;
  if (reported === undefined && heldSince === undefined) return record;
  const later = (request: DrainRequest): DrainRequest => ({ ...request, time: movedOn(request.time, heldSince, now) });
  const requests = rest.requests.map(later);
  if (active === undefined) return { ...rest, requests };
  if (heldSince === undefined) return { ...rest, requests, active };
  const since = latest(heldSince, active.queue?.since ?? active.startTime);
  const pausedFor = toDurationMs((active.pausedFor ?? 0) + Math.max(0, now - since));
  return { ...rest, requests, active: { ...active, requests: active.requests.map(later), warned: [], pausedFor } };
}

/** By as long as it was held. Records of before do not say since when. */
function movedOn(time: EpochMs | undefined, heldSince: EpochMs | undefined, now: EpochMs): EpochMs {
  if (time === undefined || heldSince === undefined) return now;
  return addDuration(time, durationBetween(latest(time, heldSince), now));
}
