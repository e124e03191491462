/**
 * History of drains that have ended (I12). An end that the Node still refers to is kept, however old it is. The Node refers to a request that
 * stands on it, to a drain of its quarantine, or to a fault by our cordon. Of other ends the id is kept for as long as a message about them can
 * come once more. Pure; part of `decide`.
 */
import { MESSAGE_LIFETIME } from '../../../shared/domain/retention.ts';
import { addDuration, earliest, isDue, toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { isBefore, isOfMonitor, isSameCheck } from './faults.ts';
import type { DrainedNode } from './observation.ts';
import { FULL } from './pods.ts';
import { bytesOf, newestEntries, toStoredAnswer } from './record-size.ts';
import type { DrainRecord } from '../record.ts';
import type { AnsweredRequest, FinishedDrain } from '../request-record.ts';

/** Time for which an ended request is remembered: at least as long as a message can wait before it comes. */
export const REMEMBERED_FOR = MESSAGE_LIFETIME;

/** Number of the newest ends that are kept whole, and the most bytes of their JSON. */
const WHOLE_ENDS = { count: 100, maxBytes: 65_536 };
/** The most bytes of older ends that are kept whole because the Node refers to them. */
const MAX_STANDING_BYTES = 49_152;
/** Number of ids that are kept of other ends, the newest first, and the most bytes of their JSON. */
const ANSWERED_IDS = { count: 5_000, maxBytes: 65_536 };

type NodeMarks = Pick<DrainedNode, 'quarantine' | 'requestedId' | 'cordonMark' | 'unschedulable'>;

/** Reasons of `AlreadyDrained` by which an event asks for no drain. */
const ASKS_NOTHING: readonly string[] = ['Recovered', 'Skipped'];

const needsNoDrain = ({ status, reason }: FinishedDrain): boolean =>
  status === 'AlreadyDrained' && ASKS_NOTHING.includes(reason);

/** Whether this end still keeps the node cordoned: nothing says that its cause is over. Covered requests count, too. */
export const keepsCordon = (ended: FinishedDrain): boolean =>
  !ended.recovered && (ended.status !== 'Cancelled' || ended.reason === 'Covered') && !needsNoDrain(ended);

/** Whether the drain was for all pods of the node, and ended with success. */
export const hasEmptiedNode = ({ status, scope }: Pick<FinishedDrain, 'status' | 'scope'>): boolean =>
  status === 'Succeeded' && scope.kind === 'full';

/** Whether no end in the record still keeps the node cordoned. An event that asked for no drain asked for no cordon either. */
export const hasNoEndKeepingCordon = ({ finished }: Pick<DrainRecord, 'finished'>): boolean =>
  !finished.some(keepsCordon);

/** The record once a person has opened the node: no ended drain keeps it cordoned any longer. */
export const withoutEndsKeepingCordon = (record: DrainRecord): DrainRecord => ({
  ...record,
  finished: record.finished.map(end => (keepsCordon(end) ? { ...end, recovered: true } : end)),
});

/** The record with the mark that is left of our cordon on a node that somebody has uncordoned; undefined: none is. */
export function withUncordonedMark(record: DrainRecord, mark: string | undefined): DrainRecord {
  const { uncordonedMark: storedMark, ...fields } = record;
  return mark === storedMark ? record : { ...fields, ...(mark !== undefined && { uncordonedMark: mark }) };
}

const isListedOnNode = (id: string, { quarantine }: Pick<NodeMarks, 'quarantine'>): boolean =>
  quarantine === 'unreadable' || quarantine?.includes(id) === true;

/** Whether something on the Node refers to this end. */
function isReferred(ended: FinishedDrain, node: NodeMarks): boolean {
  if (ended.id === node.requestedId || ended.id === node.cordonMark) return true;
  if (ended.status === 'Succeeded' && isListedOnNode(ended.id, node)) return true;
  return node.cordonMark !== undefined && node.unschedulable && keepsCordon(ended);
}

const isFresh = (endTime: EpochMs, now: EpochMs): boolean => !isDue(now, addDuration(endTime, REMEMBERED_FOR));

/** The end of a request, if it is remembered; of some requests only that they ended. */
export function endOf({ finished, answered = [] }: DrainRecord, id: string): FinishedDrain | undefined {
  const whole = finished.find(end => end.id === id);
  if (whole !== undefined) return whole;
  const answer = answered.find(request => request.id === id);
  return answer && answeredBefore(answer);
}

/** An end of which only the answer is remembered. */
const answeredBefore = ({ id, status, endTime }: AnsweredRequest): FinishedDrain => ({
  ...endOfUnknown({ id, status, endTime }),
  reason: 'AnsweredBefore',
  message: `the request was answered at ${toTimestamp(endTime)}`,
  recovered: true,
});

/** The end of a request whose fault and scope nobody knows. */
export const endOfUnknown = (
  answered: AnsweredRequest,
): Omit<FinishedDrain, 'reason' | 'message' | 'recovered' | 'said'> => ({
  ...answered,
  left: [],
  scope: FULL,
  drained: 0,
  startTime: answered.endTime,
  fault: { agent: '', componentClass: '', checkName: '', entities: [] },
});

/** Adds ends to the record; ends that nothing refers to make room first. */
export function remember(record: DrainRecord, ended: readonly FinishedDrain[], node: NodeMarks): DrainRecord {
  if (ended.length === 0) return record;
  const isQuarantined = node.quarantine !== undefined;
  const noted = ended.map(end => (isQuarantined && isOfMonitor(end.fault) ? { ...end, quarantined: true } : end));
  return withFitting({ ...record, finished: [...record.finished, ...noted] }, node);
}

function withFitting(record: DrainRecord, node: NodeMarks): DrainRecord {
  const { finished, answered = [], ...fields } = record;
  const newest = newestEntries(finished, WHOLE_ENDS);
  const older = finished.slice(0, finished.length - newest.length);
  const stillNeeded = older.length === 0 ? older : inBounds(withoutRepeats(older, newest, node));
  const kept = new Set(stillNeeded.map(({ id }) => id));
  const gone = older.filter(end => !kept.has(end.id));
  if (gone.length === 0) return record;
  // One that asked for nothing is answered alike when it comes again.
  const ids = gone.filter(end => !needsNoDrain(end)).map(({ id, status, endTime }) => ({ id, status, endTime }));
  return { ...fields, finished: [...stillNeeded, ...newest], answered: fittingIds([...answered, ...ids], node) };
}

/** Keeps one end for each fault: the one that was said last. */
function withoutRepeats(
  older: readonly FinishedDrain[],
  newest: readonly FinishedDrain[],
  node: NodeMarks,
): readonly FinishedDrain[] {
  const last = new Map<string, FinishedDrain>();
  for (const end of [...older, ...newest].filter(keepsCordon)) {
    const key = JSON.stringify(end.fault);
    const latestEnd = last.get(key);
    if (latestEnd === undefined || !isBefore(end.said, latestEnd.said)) last.set(key, end);
  }
  const needed = new Set(last.values());
  const isNeeded = (end: FinishedDrain): boolean =>
    end.id === node.requestedId ||
    end.id === node.cordonMark ||
    (end.status === 'Succeeded' && isListedOnNode(end.id, node)) ||
    needed.has(end);
  return older.filter(end => isReferred(end, node) && isNeeded(end));
}

/** Merges ends of one check into one for the whole check, which a recovery of all of it ends. No end is forgotten while another can be widened. */
function inBounds(stillNeeded: readonly FinishedDrain[]): readonly FinishedDrain[] {
  let fitting = stillNeeded.map(end => ({ ...end, left: [] }));
  while (bytesOf(fitting) > MAX_STANDING_BYTES) {
    const index = fitting.findIndex((one, at) =>
      fitting.slice(at + 1).some(other => isSameCheck(one.fault, other.fault)),
    );
    const one = fitting[index];
    if (one === undefined) return newestEntries(fitting, { count: fitting.length, maxBytes: MAX_STANDING_BYTES });
    const partner = fitting.findIndex((other, at) => at > index && isSameCheck(one.fault, other.fault));
    fitting = fitting.flatMap((end, at) => {
      if (at === index) return [];
      return at === partner ? [{ ...end, fault: { ...end.fault, entities: [], codes: [] } }] : [end];
    });
  }
  return fitting;
}

/** Ids that have room: those that the Node names stay before any others. */
function fittingIds(ids: readonly AnsweredRequest[], node: NodeMarks): readonly AnsweredRequest[] {
  const [listed, others] = [
    ids.filter(({ id }) => isNamedOnNode(id, node)),
    ids.filter(({ id }) => !isNamedOnNode(id, node)),
  ];
  const fitting = new Set(newestEntries([...others, ...listed].map(toStoredAnswer), ANSWERED_IDS).map(([id]) => id));
  return ids.filter(({ id }) => fitting.has(id));
}

const isNamedOnNode = (id: string, { quarantine, requestedId }: NodeMarks): boolean =>
  id === requestedId || (quarantine !== undefined && quarantine !== 'unreadable' && quarantine.includes(id));

/** The record without the ends that nothing needs any more, and when the next of them may go. */
export function forget(
  record: DrainRecord,
  node: NodeMarks,
  now: EpochMs,
): { readonly record: DrainRecord; readonly until: EpochMs | undefined } {
  const { finished, answered = [], ...fields } = record;
  const kept = finished.filter(end => isReferred(end, node) || isFresh(end.endTime, now));
  const ids = answered.filter(answer => isNamedOnNode(answer.id, node) || isFresh(answer.endTime, now));
  // What is kept because the Node refers to it is looked at again when that has changed: an event says so.
  const until = [...kept, ...ids]
    .map(({ endTime }) => addDuration(endTime, REMEMBERED_FOR))
    .map(time => (time > now ? time : addDuration(now, REMEMBERED_FOR)))
    .reduce<EpochMs | undefined>(earliest, undefined);
  const isSame = kept.length === finished.length && ids.length === answered.length;
  return {
    record: isSame ? record : { ...fields, finished: kept, ...(ids.length > 0 && { answered: ids }) },
    until,
  };
}
