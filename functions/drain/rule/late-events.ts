/**
 * Events that come late: too old, or said before the end of the quarantine or fault that they are about. Pure; part of `decide`.
 */
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import {
  addDuration,
  earliest,
  isDue,
  toTimestamp,
  durationBetween,
  hours,
  minutes,
  REPORT_EVERY,
  seconds,
  toDurationMs,
  type EpochMs,
  type DurationMs,
} from '../../../shared/domain/time.ts';
import {
  endedFaults,
  endsSince,
  faultOf,
  isAbout,
  isBeforeQuarantine,
  isOver,
  isBefore,
  isUnderEndedQuarantine,
  isSameCheck,
} from './faults.ts';
import { keepsCordon, REMEMBERED_FOR } from './history.ts';
import type { DueRecovery, Observation, DrainObservation, DrainedNode, RequestMessage } from './observation.ts';
import { newestEntries } from './record-size.ts';
import type { DrainRecord } from '../record.ts';
import type {
  DrainOutcome,
  DrainRequest,
  DeferredRecovery,
  NodeFault,
  Recovery,
  Timestamps,
} from '../request-record.ts';

/**
 * Number of recoveries that are kept, since each entity of each check may have its own, and the most bytes of their JSON. The newest always
 * fits, because a message cannot be larger.
 */
const MAX_RECOVERIES = { count: 300, maxBytes: 65_536 };

/** Remembers that a quarantine or a fault is over, whether or not anything was drained for it. */
export function withEnds<Seen extends Observation>(seen: Seen): Seen {
  const { incoming, record, now } = seen;
  if (incoming?.kind === 'recovered' || incoming?.kind === 'dueRecovery')
    return { ...seen, record: withRecovery(record, incoming, now) };
  if (incoming?.kind !== 'unQuarantined') return seen;
  const { timestamps } = incoming;
  if (timestamps === undefined || Object.keys(timestamps).length === 0) return seen;
  const earlierEnd = record.quarantineEnd;
  if (earlierEnd !== undefined && !isBeforeQuarantine(earlierEnd.said, timestamps)) return seen;
  return { ...seen, record: { ...record, quarantineEnd: { said: timestamps, time: now } } };
}

function withRecovery(
  record: DrainRecord,
  { event, timestamps }: Pick<DueRecovery, 'event' | 'timestamps'>,
  now: EpochMs,
): DrainRecord {
  if (timestamps === undefined) return record;
  const fault = faultOf(event);
  const { recoveries = [] } = record;
  const isKnown = recoveries.some(recovery => isOver(fault, [recovery.fault]) && !isBefore(recovery.said, timestamps));
  if (isKnown) return record;
  const others = recoveries.filter(
    recovery => !(isOver(recovery.fault, [fault]) && !isBefore(timestamps, recovery.said)),
  );
  // Those that a fault still needs come last: the others make room first.
  const { needed, free } = splitByNeed(others, record);
  return {
    ...record,
    recoveries: newestEntries([...free, ...needed, { fault, said: timestamps, time: now }], MAX_RECOVERIES),
  };
}

/**
 * Separates recoveries that are still needed. A recovery of some entities of a fault that stands counts until the others have come, however long
 * that takes.
 */
function splitByNeed(
  recoveries: readonly Recovery[],
  { active, requests, finished }: DrainRecord,
): { readonly needed: readonly Recovery[]; readonly free: readonly Recovery[] } {
  const open: readonly { readonly fault: NodeFault; readonly said?: Timestamps }[] = [
    ...[...requests, ...(active?.requests ?? [])].map(({ event, said }) => ({
      fault: faultOf(event),
      ...(said !== undefined && { said }),
    })),
    ...finished.filter(keepsCordon),
  ];
  const isNeeded = ({ fault, said }: Recovery): boolean =>
    open.some(cause => isAbout(fault, cause.fault) && !isBefore(said, cause.said));
  return { needed: recoveries.filter(isNeeded), free: recoveries.filter(recovery => !isNeeded(recovery)) };
}

/** Number of drains for one check that recoveries end within an hour. After them a recovery must last before it counts (I11). */
const FLAPS = 3;
const FLAPS_WITHIN = hours(1);
const RECOVERY_LASTS = minutes(10);
/** Most recoveries of a node that are deferred; what comes later counts at once. */
const MAX_DEFERRED = 50;

/** The record with the recovery, where that has to last before it ends anything; undefined: it counts at once. */
export function withDeferredRecovery(
  record: DrainRecord,
  { event, timestamps }: Pick<DueRecovery, 'event' | 'timestamps'>,
  now: EpochMs,
): DrainRecord | undefined {
  const fault = faultOf(event);
  const { deferredRecoveries = [] } = record;
  if (deferredRecoveries.length >= MAX_DEFERRED || !isFlapping(record, fault, now)) return undefined;
  // It counts from its first report; later ones change nothing.
  if (deferredRecoveries.some(({ event: earlier }) => isOver(fault, [faultOf(earlier)]))) return record;
  return {
    ...record,
    deferredRecoveries: [...deferredRecoveries, { event, ...(timestamps && { said: timestamps }), since: now }],
  };
}

/** Whether the deferred recoveries end what the request is for, once they have lasted. */
export function isOverIfLasting(
  { deferredRecoveries = [], recoveries = [] }: DrainRecord,
  { event, said }: DrainRequest,
): boolean {
  const later = deferredRecoveries.filter(deferred => !isBefore(deferred.said, said));
  const ends = [...endsSince(recoveries, said), ...later.map(deferred => faultOf(deferred.event))];
  return later.length > 0 && isOver(faultOf(event), ends);
}

/** Whether recoveries have ended drains for this check again and again. */
function isFlapping({ finished }: DrainRecord, fault: NodeFault, now: EpochMs): boolean {
  const ended = finished.filter(
    ({ status, reason, recovered, endTime, ...end }) =>
      isSameCheck(end.fault, fault) &&
      (status === 'Cancelled' ? reason === 'Recovered' : recovered && status !== 'AlreadyDrained') &&
      !isDue(now, addDuration(endTime, FLAPS_WITHIN)),
  );
  return new Set(ended.map(({ startTime }) => startTime)).size >= FLAPS;
}

/** The record without deferred recoveries of this fault: it is back. */
export const withoutDeferredRecovery = (record: DrainRecord, fault: NodeFault): DrainRecord =>
  withDeferred(record, ({ event }) => !isAbout(faultOf(event), fault));

function withDeferred(record: DrainRecord, isKept: (recovery: DeferredRecovery) => boolean): DrainRecord {
  const { deferredRecoveries = [], ...fields } = record;
  const kept = deferredRecoveries.filter(isKept);
  if (kept.length === deferredRecoveries.length) return record;
  return { ...fields, ...(kept.length > 0 && { deferredRecoveries: kept }) };
}

/** Takes up a deferred recovery that is due: its fault has stayed away for long enough. */
export function withDueRecovery<Seen extends Observation>(seen: Seen): Seen {
  const { incoming, record, now } = seen;
  const due = record.deferredRecoveries?.find(({ since }) => isDue(now, addDuration(since, RECOVERY_LASTS)));
  if (incoming !== undefined || due === undefined) return seen;
  const { event, said: timestamps } = due;
  const recovery: DueRecovery = { kind: 'dueRecovery', event, timestamps };
  return { ...seen, record: withDeferred(record, each => each !== due), incoming: recovery };
}

/** Time when the first deferred recovery is due; undefined: none is deferred. */
export const recoveryDueTime = ({
  deferredRecoveries = [],
}: Pick<DrainRecord, 'deferredRecoveries'>): EpochMs | undefined =>
  deferredRecoveries
    .map(({ since }) => addDuration(since, RECOVERY_LASTS))
    .reduce<EpochMs | undefined>(earliest, undefined);

/** The outcome of a request that was said before its quarantine or fault was over; undefined: it is not stale. */
export function staleOutcome(observation: DrainObservation, request: DrainRequest): DrainOutcome | undefined {
  const message = fromBeforeQuarantineEnd(observation, request) ?? fromBeforeRecovery(observation.record, request);
  return message === undefined ? undefined : { status: 'Cancelled', reason: 'StaleEvent', message, left: [] };
}

/** The message for an event from before the end of its quarantine; undefined: it is not. A Node that is quarantined again says so itself. */
function fromBeforeQuarantineEnd(
  { node, record: { quarantineEnd } }: DrainObservation,
  { quarantine, said }: DrainRequest,
): string | undefined {
  if (quarantine === undefined || node.quarantine !== undefined || quarantineEnd === undefined) return undefined;
  if (!isUnderEndedQuarantine(said, quarantineEnd.said)) return undefined;
  const { said: end, time } = quarantineEnd;
  const reportedTime = end.createdTime ?? end.generatedTime ?? end.exportedTime ?? end.sentTime ?? time;
  return `this event is from before ${toTimestamp(reportedTime)}, when the quarantine ended`;
}

function fromBeforeRecovery({ recoveries = [] }: DrainRecord, { event, said }: DrainRequest): string | undefined {
  const fault = faultOf(event);
  if (!isOver(fault, endedFaults(recoveries, said))) return undefined;
  const last = recoveries.findLast(recovery => isAbout(recovery.fault, fault) && isBefore(said, recovery.said));
  if (last === undefined) return undefined;
  return `this event is from before the one that says that the fault is over, which came at ${toTimestamp(last.time)}`;
}

/** The record of an idle node, and until when it is kept. @param until the time until which its other parts are kept */
export function rememberEnds(
  record: DrainRecord,
  until: EpochMs | undefined,
  now: EpochMs,
): { readonly record: DrainRecord; readonly until: EpochMs | undefined } {
  const { quarantineEnd, recoveries = [], staleReportedTime, flappingReportedTime, ...fields } = record;
  const endOf = ({ time }: { readonly time: EpochMs }): EpochMs => addDuration(time, REMEMBERED_FOR);
  const isFresh = (memory: { readonly time: EpochMs }): boolean => !isDue(now, endOf(memory));
  const { needed } = splitByNeed(recoveries, record);
  const staleEnd = staleReportedTime && addDuration(staleReportedTime, REPORT_EVERY);
  const flappingEnd = flappingReportedTime && addDuration(flappingReportedTime, REPORT_EVERY);
  const kept = recoveries.filter(recovery => isFresh(recovery) || needed.includes(recovery));
  const next: DrainRecord = {
    ...fields,
    ...(quarantineEnd !== undefined && isFresh(quarantineEnd) && { quarantineEnd }),
    ...(kept.length > 0 && { recoveries: kept }),
    ...(staleEnd !== undefined && !isDue(now, staleEnd) && { staleReportedTime }),
    ...(flappingEnd !== undefined && !isDue(now, flappingEnd) && { flappingReportedTime }),
  };
  const ends = [...(next.quarantineEnd === undefined ? [] : [next.quarantineEnd]), ...kept.filter(isFresh)].map(endOf);
  return {
    record: next,
    until: [
      ...ends,
      next.staleReportedTime && staleEnd,
      next.flappingReportedTime && flappingEnd,
      recoveryDueTime(next),
    ].reduce<EpochMs | undefined>(earliest, until),
  };
}

/** Time when an event was reported, by the first clock that states it. */
const reportedTimeOf = ({ generatedTime, createdTime, exportedTime, sentTime }: Timestamps = {}): EpochMs | undefined =>
  generatedTime ?? createdTime ?? exportedTime ?? sentTime;

/** The greatest age of an event: never more than ended requests are remembered, whatever the configuration says. */
const oldest = (maxEventAge: DurationMs): DurationMs => toDurationMs(Math.min(maxEventAge, REMEMBERED_FOR));

/**
 * The outcome of a request that is too old, measured from when it was said to when this function first received it; undefined: it is not. A
 * retry does not age it; a redrive, a replay and a late export do.
 */
export function tooOldOutcome(
  { node, maxEventAge }: Pick<DrainObservation, 'node' | 'maxEventAge'>,
  incoming: RequestMessage,
): DrainOutcome | undefined {
  if (incoming.kind === 'askedOnNode') return undefined;
  const { request, receivedTime } = incoming;
  const reportedTime = reportedTimeOf(request.said);
  if (reportedTime === undefined || receivedTime === undefined) return undefined;
  const age = durationBetween(reportedTime, receivedTime);
  const most = oldest(maxEventAge);
  if (age <= most || stillStands(node, request)) return undefined;
  const message = `it is from ${toTimestamp(reportedTime)} and came ${formatWholeSeconds(age)} later; after ${formatWholeSeconds(most)} nothing begins (maxEventAge)`;
  // Somebody waits for the answer to a request; a HealthEvent is only old.
  return {
    status: incoming.kind === 'drainRequested' ? 'Failed' : 'Cancelled',
    reason: 'StaleEvent',
    message,
    left: [],
  };
}

const formatWholeSeconds = (duration: DurationMs): string => formatDuration(seconds(Math.floor(duration / 1000)));

/** Whether the request still stands: NVSentinel's annotation lists its event, or one about the same fault, or the node carries our cordon for it. */
function stillStands(node: DrainedNode, { id, event }: DrainRequest): boolean {
  if (node.cordonMark === id && node.unschedulable) return true;
  if (node.quarantine === undefined || node.quarantine === 'unreadable') return false;
  return (
    node.quarantine.includes(id) ||
    node.quarantineFaults?.().some(listed => isFaultListed(faultOf(event), listed)) === true
  );
}

/** Compares a fault with one of the annotation, by check and entities. */
const isFaultListed = (fault: NodeFault, listed: NodeFault): boolean =>
  isSameCheck(fault, listed) &&
  (listed.entities.length === 0 ||
    (fault.entities.length > 0 && fault.entities.every(entity => listed.entities.includes(entity))));
