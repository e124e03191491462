/** Events overtake each other: which of those that come after the end of a quarantine or fault were said before it. Pure; part of `decide`. */
import { addDuration, earliest, isDue, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import {
  faultOf,
  isEndedBy,
  isSaidBefore,
  REMEMBERED_FOR,
  type DrainOutcome,
  type DrainRecord,
  type DrainRequest,
  type Incoming,
} from './model.ts';
import type { DrainObservation } from './observation.ts';
import { newestOf } from './record-size.ts';

/** The newest ones, one for each fault: a node has no more checks. Of JSON: the newest always fits, since no longer message is read. */
const MAX_RECOVERIES = { count: 50, maxBytes: 65_536 };

/** That a quarantine or a fault is over is remembered, whether or not anything was drained for it. */
export function withEnds(seen: DrainObservation): DrainObservation {
  const { incoming, record, now } = seen;
  if (incoming?.kind === 'recovered') return { ...seen, record: withRecovery(record, incoming, now) };
  if (incoming?.kind !== 'unQuarantined') return seen;
  const saidTime = incoming.said?.createdTime ?? incoming.said?.sentTime;
  if (saidTime === undefined) return seen;
  if (record.quarantineEnd !== undefined && record.quarantineEnd.saidTime >= saidTime) return seen;
  return { ...seen, record: { ...record, quarantineEnd: { saidTime, time: now } } };
}

function withRecovery(
  record: DrainRecord,
  { event, said }: Extract<Incoming, { kind: 'recovered' }>,
  now: EpochMs,
): DrainRecord {
  if (said === undefined) return record;
  const fault = faultOf(event);
  const { recoveries = [] } = record;
  const before = recoveries.find(each => isEndedBy(each.fault, fault) && isEndedBy(fault, each.fault));
  if (before !== undefined && !isSaidBefore(before.said, said)) return record;
  const others = recoveries.filter(each => each !== before);
  return { ...record, recoveries: newestOf([...others, { fault, said, time: now }], MAX_RECOVERIES) };
}

/** How a request ends that was said before what it is for was over. */
export function staleOutcome(observation: DrainObservation, request: DrainRequest): DrainOutcome | undefined {
  const message = fromBeforeQuarantineEnd(observation, request) ?? fromBeforeRecovery(observation.record, request);
  return message === undefined ? undefined : { status: 'Cancelled', reason: 'StaleEvent', message, left: [] };
}

/** A Node that is quarantined again says so itself. */
function fromBeforeQuarantineEnd(
  { node, record: { quarantineEnd } }: DrainObservation,
  { quarantine, said }: DrainRequest,
): string | undefined {
  if (quarantine === undefined || node.quarantine !== undefined || quarantineEnd === undefined) return undefined;
  const saidTime = said?.createdTime ?? said?.sentTime;
  if (saidTime === undefined || saidTime > quarantineEnd.saidTime) return undefined;
  return `this event is from before ${toTimestamp(quarantineEnd.saidTime)}, when the quarantine ended`;
}

function fromBeforeRecovery({ recoveries = [] }: DrainRecord, { event, said }: DrainRequest): string | undefined {
  const fault = faultOf(event);
  const over = recoveries.find(each => isEndedBy(fault, each.fault) && isSaidBefore(said, each.said));
  if (over === undefined) return undefined;
  return `this event is from before the one that says that the fault is over, which came at ${toTimestamp(over.time)}`;
}

/** The record of an idle node, and until when it is kept. @param until for what else it remembers */
export function rememberEnds(
  record: DrainRecord,
  until: EpochMs | undefined,
  now: EpochMs,
): { readonly record: DrainRecord; readonly until: EpochMs | undefined } {
  const { quarantineEnd, recoveries = [], ...rest } = record;
  const endOf = ({ time }: { readonly time: EpochMs }): EpochMs => addDuration(time, REMEMBERED_FOR);
  const isFresh = (each: { readonly time: EpochMs }): boolean => !isDue(now, endOf(each));
  const recent = recoveries.filter(isFresh);
  const kept: DrainRecord = {
    ...rest,
    ...(quarantineEnd !== undefined && isFresh(quarantineEnd) && { quarantineEnd }),
    ...(recent.length > 0 && { recoveries: recent }),
  };
  const ends = [...(kept.quarantineEnd === undefined ? [] : [kept.quarantineEnd]), ...recent].map(endOf);
  return { record: kept, until: ends.reduce<EpochMs | undefined>(earliest, until) };
}
