/** What every `RecordStore` and `DueIndex` does: the fake, the index of the simulation, and the adapter on each DynamoDB. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Subject } from '../../shared/contract/subject.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import type { DueIndex, DueRecord, NewRecord, RecordStore, StoredRecord } from '../../shared/ports/record-store.ts';

export interface RecordStoreSubject {
  readonly records: RecordStore;
  readonly dueIndex: DueIndex;
}

const subject: Subject = { kind: 'Node', apiVersion: 'v1', name: 'node-1', uid: 'uid-1' };
const NOON = toEpochMs(Date.UTC(2024, 10, 1, 12));

let nextId = 0;

/** A record that no other test touches: a subject may be one table for the whole suite. */
function aRecord(overrides: Partial<NewRecord> = {}): NewRecord {
  nextId += 1;
  return {
    owner: 'repair',
    id: `node/${nextId}`,
    subject,
    state: { schemaVersion: 1, phase: 'Tolerating' },
    ...overrides,
  };
}

async function allDue(index: DueIndex, before: number, limit = 100): Promise<DueRecord[]> {
  const found: DueRecord[] = [];
  for (let shard = 0; shard < index.shardCount; shard += 1) {
    let cursor: string | undefined;
    do {
      const page = await index.queryDue(shard, toEpochMs(before), {
        limit,
        ...(cursor === undefined ? {} : { cursor }),
      });
      expect(page.records.length).toBeLessThanOrEqual(limit);
      found.push(...page.records);
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return found;
}

async function written(store: RecordStore, record: NewRecord, expectedVersion = 0): Promise<StoredRecord> {
  const outcome = await store.put(record, expectedVersion);
  if (outcome.kind !== 'written') throw new Error(`not written: ${JSON.stringify(outcome)}`);
  return outcome.record;
}

/**
 * Defines the suite. `makeSubject` may return the same store each time.
 *
 * @param sizesInCharacters of a store that takes characters for bytes where it measures an item
 * @param room that it takes for what an item has beside the text of its state
 */
export function defineRecordStoreContract(
  name: string,
  makeSubject: () => Promise<RecordStoreSubject>,
  { sizesInCharacters = false, room = 512 }: { readonly sizesInCharacters?: boolean; readonly room?: number } = {},
): void {
  const texts = sizesInCharacters ? ['x'] : ['x', '€'];

  describe(`RecordStore: ${name}`, () => {
    it('knows nothing of a record that was never written', async () => {
      const { records } = await makeSubject();
      expect(await records.get({ owner: 'repair', id: 'node/never' })).toBeUndefined();
    });

    it('answers each of several reads at once with its own record', async () => {
      const { records } = await makeSubject();
      const [one, other] = [await written(records, aRecord()), await written(records, aRecord())];
      const keys = [one, { owner: one.owner, id: 'node/never' }, other, one];
      expect(await Promise.all(keys.map(key => records.get(key)))).toEqual([one, undefined, other, one]);
    });

    it('returns what was written, as it was written', async () => {
      const { records } = await makeSubject();
      const record = aRecord({
        subject: { ...subject, namespace: 'prod', kind: 'Pod' },
        state: {
          schemaVersion: 1,
          text: '',
          list: [1, 'a', null, { deep: [[]] }],
          none: null,
          yes: true,
          n: -0.5,
          big: 1e21,
        },
        nextWakeTime: toEpochMs(NOON + 123),
        expireTime: toEpochMs(NOON + 60_000),
      });
      const { version, ...rest } = await written(records, record);
      expect(rest).toEqual(record);
      expect(version).toBeGreaterThan(0);
      expect(await records.get(record)).toEqual({ ...record, version });
    });

    it('leaves out what is undefined in the state', async () => {
      const { records } = await makeSubject();
      const record = aRecord({ state: { schemaVersion: 1, gone: undefined, kept: { gone: undefined } } });
      await written(records, record);
      expect((await records.get(record))?.state).toStrictEqual({ schemaVersion: 1, kept: {} });
    });

    it('keeps any JSON state unchanged', async () => {
      const { records } = await makeSubject();
      // Keys as our own schemas have them; numbers within the range that DynamoDB and JSON share.
      const key = fc.stringMatching(/^[a-z][a-zA-Z0-9./-]{0,12}$/);
      const number = fc.oneof(
        fc.integer(),
        fc.double({ noNaN: true, min: -1e100, max: 1e100 }).map(value => (Math.abs(value) < 1e-100 ? 0 : value)),
      );
      const { value } = fc.letrec(tie => ({
        value: fc.oneof({ maxDepth: 3 }, fc.string(), number, fc.boolean(), fc.constant(null), tie('list'), tie('map')),
        list: fc.array(tie('value'), { maxLength: 4 }),
        map: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      }));
      await fc.assert(
        fc.asyncProperty(fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true }), async raw => {
          const state = JSON.parse(JSON.stringify(raw));
          const record = aRecord({ state });
          await written(records, record);
          expect((await records.get(record))?.state).toEqual(state);
        }),
        { numRuns: 30 },
      );
    });

    it('rounds an expiry up to the whole second that DynamoDB knows', async () => {
      const { records } = await makeSubject();
      const record = aRecord({ expireTime: toEpochMs(NOON + 1) });
      expect((await written(records, record)).expireTime).toBe(NOON + 1000);
      expect((await records.get(record))?.expireTime).toBe(NOON + 1000);
    });

    it('raises the version by one at each write', async () => {
      const { records } = await makeSubject();
      const record = aRecord();
      const first = await written(records, record);
      const second = await written(records, { ...record, state: { schemaVersion: 1, phase: 'Due' } }, first.version);
      expect(second.version).toBe(first.version + 1);
      expect(await records.get(record)).toEqual(second);
    });

    it('keeps records of different owners with the same id apart', async () => {
      const { records } = await makeSubject();
      const repair = aRecord({ state: { of: 'repair' } });
      const drain = { ...repair, owner: 'drain', state: { of: 'drain' } } as const;
      await written(records, repair);
      await written(records, drain);
      expect((await records.get(repair))?.state).toEqual({ of: 'repair' });
      expect((await records.get(drain))?.state).toEqual({ of: 'drain' });
    });

    it('refuses to create a record that exists and shows it', async () => {
      const { records } = await makeSubject();
      const record = aRecord();
      const current = await written(records, record);
      expect(await records.put({ ...record, state: { phase: 'Other' } }, 0)).toEqual({ kind: 'lostRace', current });
      expect(await records.get(record)).toEqual(current);
    });

    it('refuses to replace another version than the expected one and shows it', async () => {
      const { records } = await makeSubject();
      const record = aRecord();
      const first = await written(records, record);
      const current = await written(records, { ...record, state: { phase: 'Due' } }, first.version);
      expect(await records.put({ ...record, state: { phase: 'Late' } }, first.version)).toEqual({
        kind: 'lostRace',
        current,
      });
    });

    it('refuses to replace a record that is gone, with nothing to show', async () => {
      const { records } = await makeSubject();
      const record = aRecord();
      const { version } = await written(records, record);
      await records.delete(record, version);
      expect(await records.put(record, version)).toEqual({ kind: 'lostRace' });
      expect(await records.get(record)).toBeUndefined();
    });

    it('takes a record that was deleted and created again for another one', async () => {
      const { records } = await makeSubject();
      const record = aRecord();
      const before = await written(records, record);
      await records.delete(record, before.version);
      const current = await written(records, record);
      expect(await records.put({ ...record, state: { phase: 'Stale' } }, before.version)).toEqual({
        kind: 'lostRace',
        current,
      });
      expect(await records.delete(record, before.version)).toEqual({ kind: 'lostRace', current });
    });

    it('lets exactly one of many concurrent writers win', async () => {
      const { records } = await makeSubject();
      const record = aRecord();
      const { version } = await written(records, record);
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, writer) => records.put({ ...record, state: { writer } }, version)),
      );
      const winners = outcomes.filter(({ kind }) => kind === 'written');
      expect(winners).toHaveLength(1);
      expect(winners[0]).toEqual({ kind: 'written', record: await records.get(record) });
    });

    it('deletes the expected version, and what is gone again', async () => {
      const { records } = await makeSubject();
      const record = aRecord();
      const { version } = await written(records, record);
      expect(await records.delete(record, version)).toEqual({ kind: 'deleted' });
      expect(await records.get(record)).toBeUndefined();
      expect(await records.delete(record, version)).toEqual({ kind: 'deleted' });
    });

    it('refuses to delete another version and shows it', async () => {
      const { records } = await makeSubject();
      const record = aRecord();
      const current = await written(records, record);
      expect(await records.delete(record, current.version + 1)).toEqual({ kind: 'lostRace', current });
      expect(await records.get(record)).toEqual(current);
    });

    it('refuses a record that it could not read again', async () => {
      const { records } = await makeSubject();
      const wrong = [
        aRecord({ id: '' }),
        aRecord({ id: 'x'.repeat(2048) }),
        aRecord({ nextWakeTime: toEpochMs(2 ** 53) }),
      ];
      for (const record of wrong) {
        await expect(records.put(record, 0)).rejects.toMatchObject({ name: 'TerminalError', reason: 'InvalidRecord' });
      }
    });
  });

  describe(`RecordStore: ${name}, items`, () => {
    it('of 400 KiB are the largest, names and texts in bytes', async () => {
      const { records } = await makeSubject();
      const ofSize = (bytes: number, text: string): NewRecord =>
        aRecord({ state: { schemaVersion: 1, text: text.repeat(bytes / Buffer.byteLength(text)) } });
      for (const text of texts) {
        expect(await records.put(ofSize(409_599 - room + (room % 3), text), 0)).toMatchObject({ kind: 'written' });
        const refusal = { name: 'TerminalError', reason: 'ValidationException' };
        await expect(records.put(ofSize(409_599, text), 0)).rejects.toMatchObject(refusal);
        await expect(records.put(ofSize(409_599, text), 0)).rejects.toThrow('exceeded the maximum allowed size');
      }
    });

    it('are refused for their size before the version is looked at, and change nothing', async () => {
      const { records } = await makeSubject();
      const record = aRecord();
      const before = await written(records, record);
      const larger = {
        ...record,
        state: { schemaVersion: 1, list: Array.from({ length: 120_000 }, (_, index) => index) },
      };
      for (const version of [0, before.version, before.version + 5]) {
        await expect(records.put(larger, version)).rejects.toMatchObject({ reason: 'ValidationException' });
      }
      expect(await records.get(record)).toEqual(before);
    });
  });

  describe(`DueIndex: ${name}`, () => {
    it('finds the records that are due at an instant or before, with what a wake-up needs', async () => {
      const { records, dueIndex } = await makeSubject();
      const due = aRecord({ nextWakeTime: NOON });
      const late = aRecord({ nextWakeTime: toEpochMs(NOON - 1), owner: 'drain' });
      const notYet = aRecord({ nextWakeTime: toEpochMs(NOON + 1) });
      const noTimer = aRecord();
      for (const record of [due, late, notYet, noTimer]) await written(records, record);
      const found = await allDue(dueIndex, NOON);
      const ids = new Set([due, late, notYet, noTimer].map(({ id }) => id));
      expect(found.filter(({ id }) => ids.has(id)).toSorted((a, b) => b.nextWakeTime - a.nextWakeTime)).toEqual([
        { owner: 'repair', id: due.id, nextWakeTime: NOON, subject },
        { owner: 'drain', id: late.id, nextWakeTime: NOON - 1, subject },
      ]);
    });

    it('follows the record: a new time moves it, no time and deletion remove it', async () => {
      const { records, dueIndex } = await makeSubject();
      const moved = aRecord({ nextWakeTime: NOON });
      const disarmed = aRecord({ nextWakeTime: NOON });
      const deleted = aRecord({ nextWakeTime: NOON });
      const versions = new Map<string, number>();
      for (const record of [moved, disarmed, deleted])
        versions.set(record.id, (await written(records, record)).version);
      await written(records, { ...moved, nextWakeTime: toEpochMs(NOON + 5_000) }, versions.get(moved.id));
      const { nextWakeTime: _, ...withoutTimer } = disarmed;
      await written(records, withoutTimer, versions.get(disarmed.id));
      await records.delete(deleted, versions.get(deleted.id) ?? 0);
      const ids = new Set([moved, disarmed, deleted].map(({ id }) => id));
      const found = (await allDue(dueIndex, NOON + 5_000)).filter(({ id }) => ids.has(id));
      expect(found).toEqual([{ owner: 'repair', id: moved.id, nextWakeTime: NOON + 5_000, subject }]);
    });

    it('returns each record once, oldest first, over as many pages as it takes', async () => {
      const { records, dueIndex } = await makeSubject();
      // Several share an instant: a page may end between them.
      const armed = Array.from({ length: 40 }, (_, index) =>
        aRecord({ nextWakeTime: toEpochMs(NOON - 1_000_000 + (index % 5)) }),
      );
      await Promise.all(armed.map(record => written(records, record)));
      const ids = armed.map(({ id }) => id);
      const found = (await allDue(dueIndex, NOON - 900_000, 3)).filter(({ id }) => ids.includes(id));
      expect(found.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      for (let shard = 0; shard < dueIndex.shardCount; shard += 1) {
        const times: number[] = [];
        let cursor: string | undefined;
        do {
          const options = { limit: 3, ...(cursor === undefined ? {} : { cursor }) };
          const page = await dueIndex.queryDue(shard, toEpochMs(NOON - 900_000), options);
          times.push(...page.records.map(({ nextWakeTime }) => nextWakeTime));
          cursor = page.cursor;
        } while (cursor !== undefined);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
      }
    });

    it('spreads records over its shards', async () => {
      const { records, dueIndex } = await makeSubject();
      const armed = Array.from({ length: 64 }, () => aRecord({ nextWakeTime: toEpochMs(NOON - 2_000_000) }));
      await Promise.all(armed.map(record => written(records, record)));
      const ids = new Set(armed.map(({ id }) => id));
      const counts = await Promise.all(
        Array.from({ length: dueIndex.shardCount }, async (_, shard) => {
          const { records: found } = await dueIndex.queryDue(shard, toEpochMs(NOON - 1_500_000), { limit: 100 });
          return found.filter(({ id }) => ids.has(id)).length;
        }),
      );
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(64);
      // Ids are fixed, so this is not left to chance: no shard has four times its share, nor all.
      expect(Math.max(...counts)).toBeLessThan(Math.min(64, (4 * 64) / dueIndex.shardCount));
    });
  });
}
