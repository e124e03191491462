/**
 * The due index of the simulated store, kept by the writes of the store itself: a sweep with nothing due costs next to nothing. Two
 * shards instead of the deployed number: enough for the sweep to have more than one, and four times fewer calls in a simulated day.
 */
import type { DueIndex, DueRecord, RecordKey, RecordStore } from '../shared/ports/record-store.ts';

const SHARDS = 2;

export interface IndexedStore {
  readonly records: RecordStore;
  readonly dueIndex: DueIndex;
}

interface Entry {
  readonly shard: number;
  readonly position: string;
  readonly record: DueRecord;
}

/** @param records the store; all its writes must come through the one that is returned */
export function withDueIndex(records: RecordStore): IndexedStore {
  const entries = new Map<string, Entry>();
  return {
    records: {
      get: key => records.get(key),
      async put(record, expectedVersion) {
        const outcome = await records.put(record, expectedVersion);
        if (outcome.kind === 'written') {
          const { owner, id, subject, nextWakeTime, hasOwnMessage } = outcome.record;
          const key = keyOf(record);
          const position = `${String(nextWakeTime).padStart(16, '0')} ${key}`;
          if (nextWakeTime === undefined) entries.delete(key);
          else
            entries.set(key, {
              shard: shardOf(key),
              position,
              record: { owner, id, subject, nextWakeTime, ...(hasOwnMessage !== undefined && { hasOwnMessage }) },
            });
        }
        return outcome;
      },
      async delete(key, expectedVersion) {
        const outcome = await records.delete(key, expectedVersion);
        if (outcome.kind === 'deleted') entries.delete(keyOf(key));
        return outcome;
      },
    },
    dueIndex: {
      shardCount: SHARDS,
      async queryDue(shard, before, { limit, cursor = '' }) {
        const due: Entry[] = [];
        for (const entry of entries.values()) {
          if (entry.shard === shard && entry.record.nextWakeTime <= before && entry.position > cursor) due.push(entry);
        }
        due.sort((a, b) => (a.position < b.position ? -1 : 1));
        const page = due.slice(0, limit);
        const last = page.at(-1);
        return {
          records: page.map(({ record }) => record),
          unreadable: [],
          ...(due.length > limit && last !== undefined && { cursor: last.position }),
        };
      },
    },
  };
}

const keyOf = ({ owner, id }: RecordKey): string => `${owner}/${id}`;

/** Spreads keys evenly: the sum of their characters. */
function shardOf(key: string): number {
  let sum = 0;
  for (let index = 0; index < key.length; index++) sum += key.charCodeAt(index);
  return sum % SHARDS;
}
