import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { withDueIndex } from '../../simulator/due-index.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import type { DueIndex } from '../../shared/ports/record-store.ts';
import { defineRecordStoreContract } from '../contract/record-store.contract.ts';

const subject = { kind: 'Node', apiVersion: 'v1', name: 'n' };
const ids = ['a', 'b', 'c', 'd'];

async function dueIds(index: DueIndex, before: number, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (let shard = 0; shard < index.shardCount; shard++) {
    let cursor: string | undefined;
    do {
      const page = await index.queryDue(shard, toEpochMs(before), { limit, ...(cursor !== undefined && { cursor }) });
      found.push(...page.records.map(({ id }) => id));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return found.toSorted();
}

defineRecordStoreContract('with the due index of the simulation', async () => withDueIndex(createMemoryRecordStore()));

describe('withDueIndex', () => {
  it('finds what the index of the store itself finds, after any writes and in pages of any size', async () => {
    const write = fc.record({
      id: fc.constantFrom(...ids),
      time: fc.option(fc.nat(20), { nil: undefined }),
      remove: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(write, { maxLength: 20 }),
        fc.nat(20),
        fc.integer({ min: 1, max: 3 }),
        async (writes, before, limit) => {
          const store = createMemoryRecordStore();
          const { records, dueIndex } = withDueIndex(store);
          for (const { id, time, remove } of writes) {
            const key = { owner: 'repair', id } as const;
            const version = (await records.get(key))?.version ?? 0;
            const nextWakeTime = time === undefined ? {} : { nextWakeTime: toEpochMs(time) };
            if (remove) await records.delete(key, version);
            else await records.put({ ...key, subject, state: {}, ...nextWakeTime }, version);
          }
          expect(await dueIds(dueIndex, before, limit)).toEqual(await dueIds(store, before, limit));
        },
      ),
    );
  });

  it('pays no heed to writes that lost their race', async () => {
    const { records, dueIndex } = withDueIndex(createMemoryRecordStore());
    const record = { owner: 'repair', id: 'a', subject, state: {}, nextWakeTime: toEpochMs(5) } as const;
    await records.put(record, 0);
    await records.put({ ...record, nextWakeTime: toEpochMs(9) }, 7);
    await records.delete(record, 7);
    expect(await dueIds(dueIndex, 5, 10)).toEqual(['a']);
  });
});
