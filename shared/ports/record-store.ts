/**
 * Our promises: one record per subject and owner, with the next time its owner must look again. State and timer change in one
 * conditional single-item write, so neither is ever without the other.
 */
import type { EpochMs } from '../domain/time.ts';
import type { FunctionName } from '../contract/names.ts';
import type { JsonObject } from '../domain/kubernetes-object.ts';
import type { Subject } from '../contract/subject.ts';

/** `owner` is the one function that writes records of this kind (style: one writer per record type). */
export interface RecordKey {
  readonly owner: FunctionName;
  /** Unique for the owner, e.g. `node/<uid>`. */
  readonly id: string;
}

export interface StoredRecord extends RecordKey {
  /** Raised by one at each write. A new record starts anywhere above 0: deleted and created again, it is another record. */
  readonly version: number;
  /** Time at which the owner wants to look again; absent: no timer. */
  readonly nextWakeTime?: EpochMs;
  /** The owner sends a wake-up of its own for that time: the sweep steps in only when it is overdue. */
  readonly hasOwnMessage?: boolean;
  /** The subject of a wake-up; the timer function copies it into the message. */
  readonly subject: Subject;
  /** Owner's state, with its own `schemaVersion`; parsed by the owner after each read. */
  readonly state: JsonObject;
  /** Garbage collection only, never a timer: the store may delete the record some time after. */
  readonly expireTime?: EpochMs;
}

export type NewRecord = Omit<StoredRecord, 'version'>;

export type PutOutcome =
  | { readonly kind: 'written'; readonly record: StoredRecord }
  /** Somebody else wrote first: look again. `current` is absent when the record is gone. */
  | { readonly kind: 'lostRace'; readonly current?: StoredRecord };

export interface DueRecord extends RecordKey {
  readonly nextWakeTime: EpochMs;
  readonly hasOwnMessage?: boolean;
  readonly subject: Subject;
}

/** An entry of the index that is no record of ours, or a newer version's: skipped, so that it stops no other timer. */
export interface UnreadableDueRecord {
  /** As far as it can be read: the partition key. */
  readonly id: string;
  readonly explanation: string;
}

export interface RecordStore {
  /** Strongly consistent. */
  get(key: RecordKey): Promise<StoredRecord | undefined>;
  /** Creates (`expectedVersion: 0`) or replaces the record that has exactly this version. */
  put(record: NewRecord, expectedVersion: number): Promise<PutOutcome>;
  /** Removes the record that has exactly this version; a record that is already gone is `deleted`. */
  delete(
    key: RecordKey,
    expectedVersion: number,
  ): Promise<{ kind: 'deleted' } | { kind: 'lostRace'; current: StoredRecord }>;
}

/** The timer function's view: records by next wake-up time. Eventually consistent; a hint, never truth. */
export interface DueIndex {
  readonly shardCount: number;
  /** Records of one shard with `nextWakeTime <= before`, oldest first, in pages. */
  queryDue(
    shard: number,
    before: EpochMs,
    options: { limit: number; cursor?: string },
  ): Promise<{ records: readonly DueRecord[]; unreadable: readonly UnreadableDueRecord[]; cursor?: string }>;
}
