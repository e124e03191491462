/** Limits that keep the record of a node's drains below the 400 KB of a DynamoDB item, whatever its monitors send and its pods are. Pure. */
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { AnsweredRequest, DrainOutcome, DrainStatus } from '../request-record.ts';

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The newest entries of a list that ends with the newest: as many as allowed, while their JSON stays within the bytes. */
export function newestEntries<Entry>(
  all: readonly Entry[],
  { count, maxBytes }: { readonly count: number; readonly maxBytes: number },
): readonly Entry[] {
  const newest = all.slice(-count);
  let bytes = 0;
  return newest.slice(newest.findLastIndex(each => (bytes += bytesOf(each)) > maxBytes) + 1);
}

/** Most bytes of JSON; the item has names and timer besides. */
const MAX_RECORD_BYTES = 393_216;
/** Most UIDs of pods that are kept: more than a kubelet runs. */
const MAX_PODS = 1000;
/** Most ends that are kept as the last resort. */
const FEW_ENDS = { count: 100, maxBytes: 65_536 };
const FEW_IDS = { count: 1000, maxBytes: 16_384 };

type StoredAnswer = readonly [string, DrainStatus, EpochMs];

/** The answer as it is stored: short, for there are thousands. */
export const toStoredAnswer = ({ id, status, endTime }: AnsweredRequest): StoredAnswer => [id, status, endTime];

interface Reporting {
  readonly reported?: string;
}

interface CutDrain extends Reporting {
  readonly warned: readonly string[];
  readonly tried?: readonly string[];
  readonly end?: DrainOutcome;
}

/** A record as it is stored, with what can be cut of it. */
interface CutRecord extends Reporting {
  readonly active?: CutDrain;
  readonly finished: readonly DrainOutcome[];
  readonly answered?: readonly StoredAnswer[];
  readonly recoveries?: readonly unknown[];
}

/** Cuts that make a record smaller, least missed first; none of a request. */
const SPARED: readonly ((record: CutRecord) => CutRecord)[] = [
  // Said again.
  record => withoutReported(withActive(record, withoutReported)),
  record => ({ ...record, finished: record.finished.map(each => ({ ...each, left: [] })) }),
  record => withActive(record, active => ({ ...active, ...(active.end && { end: { ...active.end, left: [] } }) })),
  // The drain counts too few.
  record =>
    withActive(record, ({ tried, ...active }) => ({ ...active, ...(tried && { tried: tried.slice(-MAX_PODS) }) })),
  // Warned again; those that are left are deleted, and make room.
  record => withActive(record, active => ({ ...active, warned: active.warned.slice(-MAX_PODS) })),
  // What a request that is repeated is answered with.
  record => ({ ...record, finished: record.finished.map(each => ({ ...each, message: '' })) }),
  ({ answered = [], ...record }) => ({ ...record, answered: newestEntries(answered, FEW_IDS) }),
  ({ recoveries = [], ...record }) => ({ ...record, recoveries: recoveries.slice(-1) }),
  record => ({ ...record, finished: newestEntries(record.finished, FEW_ENDS) }),
];

function withoutReported<Part extends Reporting>(part: Part): Omit<Part, 'reported'> {
  const { reported: _, ...fields } = part;
  return fields;
}

function withActive(record: CutRecord, change: (active: CutDrain) => CutDrain): CutRecord {
  return record.active === undefined ? record : { ...record, active: change(record.active) };
}

/**
 * The record as JSON, cut so that it fits into an item: what is written is what was measured. Undefined values are null, so that what is read
 * equals it.
 */
export function fittingJson(record: CutRecord): string {
  let fitting = record;
  let json = toJson(fitting);
  for (const spare of SPARED) {
    if (Buffer.byteLength(json) <= MAX_RECORD_BYTES) break;
    fitting = spare(fitting);
    json = toJson(fitting);
  }
  return json;
}

const toJson = (record: CutRecord): string => JSON.stringify(record, (_, part: unknown) => part ?? null);
