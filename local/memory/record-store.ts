/** `RecordStore` and `DueIndex` in memory, with the semantics of the DynamoDB adapter and the same checks of what is stored. */
import { TABLE, toPartitionKey } from '../../shared/contract/table.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import { invariant } from '../../shared/errors.ts';
import type { DueIndex, RecordStore, StoredRecord } from '../../shared/ports/record-store.ts';
import { dueShardOf, fromItem, toItem, type Item } from '../../shared/adapters/dynamodb/items.ts';

export interface MemoryRecordStore extends RecordStore, DueIndex {
  /** All records, by key; for assertions and snapshots. */
  all(): readonly StoredRecord[];
}

export function createMemoryRecordStore(): MemoryRecordStore {
  const items = new Map<string, Item>();
  /** The last version of each key, kept after a delete: a record that is created again is another one. */
  const lastVersions = new Map<string, number>();

  // Through JSON, so that neither side holds on to what the other may change.
  const read = (item: Item): StoredRecord => fromItem(structuredClone(item)).record;

  return {
    shardCount: TABLE.dueShards,

    get(key) {
      const item = items.get(toPartitionKey(key));
      return Promise.resolve(item === undefined ? undefined : read(item));
    },

    async put(record, expectedVersion) {
      invariant(Number.isSafeInteger(expectedVersion) && expectedVersion >= 0, 'a version is a whole number from 0');
      const key = toPartitionKey(record);
      const version = (expectedVersion === 0 ? (lastVersions.get(key) ?? 0) : expectedVersion) + 1;
      const item = toItem(record, version, String(version));
      const current = items.get(key);
      if ((current?.version ?? 0) !== expectedVersion) {
        return { kind: 'lostRace', ...(current === undefined ? {} : { current: read(current) }) };
      }
      items.set(key, item);
      lastVersions.set(key, version);
      return { kind: 'written', record: read(item) };
    },

    delete(key, expectedVersion) {
      const partitionKey = toPartitionKey(key);
      const current = items.get(partitionKey);
      if (current !== undefined && current.version !== expectedVersion) {
        return Promise.resolve({ kind: 'lostRace', current: read(current) });
      }
      items.delete(partitionKey);
      return Promise.resolve({ kind: 'deleted' });
    },

    async queryDue(shard, before, { limit, cursor }) {
      invariant(limit > 0, 'a page holds at least one record');
      const due = [...items.values()]
        .filter(({ pk, nextWakeTime = Infinity }) => dueShardOf(pk) === shard && nextWakeTime <= before)
        .toSorted((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1))
        .filter(item => cursor === undefined || positionOf(item) > cursor);
      const page = due.slice(0, limit);
      const last = page.at(-1);
      return {
        records: page.map(({ owner, id, subject, nextWakeTime = 0 }) => ({
          owner,
          id,
          subject: structuredClone(subject),
          nextWakeTime: toEpochMs(nextWakeTime),
        })),
        ...(due.length > limit && last !== undefined ? { cursor: positionOf(last) } : {}),
      };
    },

    all: () => [...items.values()].toSorted((a, b) => (a.pk < b.pk ? -1 : 1)).map(read),
  };
}

/** Sorts as text by time, then key. */
function positionOf({ pk, nextWakeTime = 0 }: Item): string {
  return `${String(nextWakeTime).padStart(16, '0')} ${pk}`;
}
