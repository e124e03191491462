/** Events overtake each other: which of those that come after the end of a quarantine were said before it. Pure; part of `decide`. */
import { addDuration, earliest, isDue, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { REMEMBERED_FOR, type DrainOutcome, type DrainRecord, type DrainRequest } from './model.ts';
import type { DrainObservation } from './observation.ts';

/** That a quarantine is over is remembered, whether or not anything was drained for it. */
export function withQuarantineEnd(seen: DrainObservation): DrainObservation {
  const { incoming, record, now } = seen;
  if (incoming?.kind !== 'unQuarantined' || incoming.saidTime === undefined) return seen;
  const { saidTime } = incoming;
  if (record.quarantineEnd !== undefined && record.quarantineEnd.saidTime >= saidTime) return seen;
  return { ...seen, record: { ...record, quarantineEnd: { saidTime, time: now } } };
}

/** How a request ends that was said before. A Node that is quarantined again says so itself. */
export function staleOutcome(
  { node, record: { quarantineEnd }, incoming }: DrainObservation,
  { quarantine }: DrainRequest,
): DrainOutcome | undefined {
  if (quarantine === undefined || node.quarantine !== undefined || quarantineEnd === undefined) return undefined;
  const saidTime = incoming?.kind === 'drain' ? incoming.saidTime : undefined;
  if (saidTime === undefined || saidTime > quarantineEnd.saidTime) return undefined;
  const message = `this event is from before ${toTimestamp(quarantineEnd.saidTime)}, when the quarantine ended`;
  return { status: 'Cancelled', reason: 'StaleEvent', message, left: [] };
}

/** The record of an idle node, and until when it is kept. @param until for what else it remembers */
export function rememberEnd(
  record: DrainRecord,
  until: EpochMs | undefined,
  now: EpochMs,
): { readonly record: DrainRecord; readonly until: EpochMs | undefined } {
  const { quarantineEnd, ...rest } = record;
  if (quarantineEnd === undefined) return { record, until };
  const end = addDuration(quarantineEnd.time, REMEMBERED_FOR);
  return isDue(now, end) ? { record: rest, until } : { record, until: earliest(until, end) };
}
