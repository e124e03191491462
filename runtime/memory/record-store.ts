/** `RecordStore` and `DueIndex` in memory, with the semantics of the DynamoDB adapter and the same checks of what is stored. */
import { TABLE, toPartitionKey } from '../../shared/contract/table.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import { invariant } from '../../shared/domain/invariant.ts';
import { TerminalError } from '../../shared/errors.ts';
import type { DueIndex, RecordKey, RecordStore, StoredRecord } from '../../shared/ports/record-store.ts';
import { toItem, toRecord, type Item } from '../../shared/adapters/dynamodb/items.ts';
import { createDueOrder, type DueEntry } from './due-order.ts';
import { itemSize, MAX_ITEM_BYTES } from './item-size.ts';

export interface MemoryRecordStore extends RecordStore, DueIndex {
  /** All records, by key; for assertions and snapshots. */
  all(): readonly StoredRecord[];
  /** The version of a record; of one that is gone, its last: the next one goes on from it. 0: there never was one. */
  lastVersion(key: RecordKey): number;
}

/** The due index is never behind. Versions go on after a delete, in place of the random start in DynamoDB. */
export function createMemoryRecordStore(): MemoryRecordStore {
  const items = new Map<string, Item>();
  /** The last version of each key, kept after a delete: a record that is created again is another one. */
  const lastVersions = new Map<string, number>();

  /** The due index, by shard. */
  const due = new Map<string, ReturnType<typeof createDueOrder<DueItem>>>();
  const shardOf = (shard: string): ReturnType<typeof createDueOrder<DueItem>> => {
    const order = due.get(shard) ?? createDueOrder<DueItem>();
    due.set(shard, order);
    return order;
  };
  const replace = (current: Item | undefined, next: Item | undefined): void => {
    const [before, after] = [toDueItem(current), toDueItem(next)];
    if (before !== undefined) shardOf(before.shard).remove(before);
    if (after !== undefined) shardOf(after.shard).add(after);
  };

  // What is kept was checked and copied when it was written, and nobody can change it.
  const read = (item: Item): StoredRecord => toRecord(item);

  return {
    shardCount: TABLE.dueShards,

    lastVersion: key => lastVersions.get(toPartitionKey(key)) ?? 0,

    get(key) {
      const item = items.get(toPartitionKey(key));
      return Promise.resolve(item === undefined ? undefined : read(item));
    },

    async put(record, expectedVersion) {
      invariant(Number.isSafeInteger(expectedVersion) && expectedVersion >= 0, 'a version is a whole number from 0');
      const key = toPartitionKey(record);
      const version = (expectedVersion === 0 ? (lastVersions.get(key) ?? 0) : expectedVersion) + 1;
      const item = frozen(toItem(record, version, String(version)));
      checkSize(item);
      const current = items.get(key);
      if ((current?.version ?? 0) !== expectedVersion) {
        return { kind: 'lostRace', ...(current === undefined ? {} : { current: read(current) }) };
      }
      items.set(key, item);
      replace(current, item);
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
      replace(current, undefined);
      return Promise.resolve({ kind: 'deleted' });
    },

    async queryDue(shard, before, { limit, cursor }) {
      invariant(limit > 0, 'a page holds at least one record');
      const page: DueItem[] = [];
      let more = false;
      for (const entry of shardOf(String(shard)).after(cursor === undefined ? undefined : readCursor(cursor))) {
        if (entry.time > before) break;
        more = page.length === limit;
        if (more) break;
        page.push(entry);
      }
      const last = page.at(-1);
      return {
        unreadable: [],
        records: page.map(({ item: { owner, id, subject, direct: hasOwnMessage }, time }) => ({
          owner,
          id,
          subject,
          nextWakeTime: toEpochMs(time),
          ...(hasOwnMessage !== undefined && { hasOwnMessage }),
        })),
        ...(more && last !== undefined ? { cursor: writeCursor(last) } : {}),
      };
    },

    all: () => [...items.values()].toSorted((a, b) => (a.pk < b.pk ? -1 : 1)).map(read),
  };
}

/** Throws what the adapter makes of DynamoDB's refusal, which comes before it looks at the condition. */
function checkSize(item: Item): void {
  if (itemSize({ ...item, subject: { ...item.subject } }) <= MAX_ITEM_BYTES) return;
  const message = `writing record ${item.pk}: ValidationException: Item size has exceeded the maximum allowed size`;
  throw new TerminalError('ValidationException', message);
}

/** The value with all that is in it, closed to changes. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const field of Object.values(value)) frozen(field);
  return Object.freeze(value);
}

interface DueItem extends DueEntry {
  readonly shard: string;
  readonly item: Item;
}

/** undefined for a record without a timer. */
function toDueItem(item: Item | undefined): DueItem | undefined {
  if (item?.dueShard === undefined || item.nextWakeTime === undefined) return undefined;
  return { time: item.nextWakeTime, key: item.pk, shard: item.dueShard, item };
}

const writeCursor = ({ time, key }: DueEntry): string => `${time} ${key}`;

function readCursor(cursor: string): DueEntry {
  const space = cursor.indexOf(' ');
  return { time: Number(cursor.slice(0, space)), key: cursor.slice(space + 1) };
}
