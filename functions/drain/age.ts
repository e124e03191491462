/** How old the news in hand is, and whether the Node shows that it still stands. Judged once, at admission. Pure; part of `decide`. */
import { formatDuration } from '../../shared/domain/go-duration.ts';
import {
  durationBetween,
  hours,
  seconds,
  toDurationMs,
  toTimestamp,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import { REMEMBERED_FOR } from './ends.ts';
import { faultOf, isSameCheck } from './faults.ts';
import type { DrainOutcome, DrainRequest, Fault, Incoming, Said } from './model.ts';
import type { DrainedNode, DrainObservation } from './observation.ts';

/** Of old events a Node is told once so long, however many come (I11). */
export const STALE_AGAIN = hours(1);

/** When it was said, by the first clock that says so. */
const saidTimeOf = ({ generatedTime, createdTime, exportedTime, sentTime }: Said = {}): EpochMs | undefined =>
  generatedTime ?? createdTime ?? exportedTime ?? sentTime;

/** Longer than what has ended is remembered no event is news, whatever the configuration says. */
const oldest = (maxEventAge: DurationMs): DurationMs => toDurationMs(Math.min(maxEventAge, REMEMBERED_FOR));

/**
 * How a request ends that is too old: from when it was said to when this function received it first. Trying again does not age it; a redrive, a
 * replay and a late export do.
 */
export function tooOld(
  { node, maxEventAge }: Pick<DrainObservation, 'node' | 'maxEventAge'>,
  { request, receivedTime, isRequest }: Extract<Incoming, { kind: 'drain' }>,
): DrainOutcome | undefined {
  const saidTime = saidTimeOf(request.said);
  if (saidTime === undefined || receivedTime === undefined) return undefined;
  const age = durationBetween(saidTime, receivedTime);
  const most = oldest(maxEventAge);
  if (age <= most || stillStands(node, request)) return undefined;
  const message = `it is from ${toTimestamp(saidTime)} and came ${wholeSeconds(age)} later; after ${wholeSeconds(most)} nothing begins (maxEventAge)`;
  // Who has asked for the drain waits for it; an event is only old.
  return { status: isRequest === true ? 'Failed' : 'Cancelled', reason: 'StaleEvent', message, left: [] };
}

const wholeSeconds = (duration: DurationMs): string => formatDuration(seconds(Math.floor(duration / 1000)));

/** NVSentinel's annotation lists the event, or one about the same fault; or the node carries our cordon for it. */
function stillStands(node: DrainedNode, { id, event }: DrainRequest): boolean {
  if (node.cordonMark === id && node.unschedulable) return true;
  if (node.quarantine === undefined || node.quarantine === 'unreadable') return false;
  return (
    node.quarantine.includes(id) || node.quarantineFaults?.().some(each => isListed(faultOf(event), each)) === true
  );
}

/** As the annotation is compared: by check and entities. */
const isListed = (fault: Fault, listed: Fault): boolean =>
  isSameCheck(fault, listed) &&
  (listed.entities.length === 0 ||
    (fault.entities.length > 0 && fault.entities.every(entity => listed.entities.includes(entity))));
