import { describe, expect, it } from 'vitest';
import { dueShardOf, fromDueItem, fromItem, toItem } from '../../../../shared/adapters/dynamodb/items.ts';
import { toEpochMs } from '../../../../shared/domain/time.ts';
import type { NewRecord } from '../../../../shared/ports/record-store.ts';

const record: NewRecord = {
  owner: 'repair',
  id: 'node/u1',
  subject: { kind: 'Node', apiVersion: 'v1', name: 'n1', uid: 'u1' },
  state: { schemaVersion: 1, phase: 'Tolerating' },
};

/** An item as the first deployed version wrote it; every later version must still read it. */
const VERSION_1 = {
  pk: 'repair/node/u1',
  owner: 'repair',
  id: 'node/u1',
  schemaVersion: 1,
  version: 3,
  writeId: 'b2f1',
  subject: { kind: 'Node', apiVersion: 'v1', name: 'n1', uid: 'u1' },
  state: { schemaVersion: 1, phase: 'Tolerating' },
  nextWakeTime: 1730473200123,
  dueShard: '0',
  expireTime: 1733065200,
};

describe('items', () => {
  it('reads the version 1 item', () => {
    expect(fromItem(VERSION_1)).toEqual({
      writeId: 'b2f1',
      record: {
        ...record,
        version: 3,
        nextWakeTime: 1730473200123,
        expireTime: 1733065200000,
      },
    });
  });

  it('writes the version 1 item', () => {
    const times = { nextWakeTime: toEpochMs(1730473200123), expireTime: toEpochMs(1733065199001) };
    expect(toItem({ ...record, ...times }, 3, 'b2f1')).toEqual(VERSION_1);
  });

  it('stands in the due index only with a next wake-up time', () => {
    const item = toItem(record, 1, 'w');
    expect(item.dueShard).toBeUndefined();
    expect(item.nextWakeTime).toBeUndefined();
  });

  it('never wakes early: a fraction of a millisecond is rounded up', () => {
    expect(toItem({ ...record, nextWakeTime: toEpochMs(1000.2) }, 1, 'w').nextWakeTime).toBe(1001);
  });

  it('never changes the shard of a key', () => {
    // Literals: a change would hide the records that are in the index already.
    expect(['repair/node/u1', 'repair/node/u2', 'drain/node/u1', ''].map(dueShardOf)).toEqual([0, 7, 6, 2]);
  });

  it.each([
    { what: 'an unknown owner', change: { owner: 'nobody', pk: 'nobody/node/u1' } },
    { what: 'a key of another record', change: { pk: 'repair/node/u2' } },
    { what: 'a timer without its shard', change: { dueShard: undefined } },
    { what: 'a shard without its timer', change: { nextWakeTime: undefined } },
    { what: 'an unknown schema version', change: { schemaVersion: 2 } },
    { what: 'a version that is no number', change: { version: '3' } },
    { what: 'no subject', change: { subject: undefined } },
  ])('refuses an item with $what and says so', ({ change }) => {
    expect(() => fromItem({ ...VERSION_1, ...change })).toThrow(
      expect.objectContaining({ name: 'TerminalError', reason: 'InvalidRecord' }),
    );
  });

  it('passes over an attribute that a newer version wrote', () => {
    expect(fromItem({ ...VERSION_1, surprise: true })).toEqual(fromItem(VERSION_1));
  });

  it('reads from the due index what a wake-up needs', () => {
    const { owner, id, subject, nextWakeTime, pk, dueShard } = VERSION_1;
    expect(fromDueItem({ owner, id, subject, nextWakeTime, pk, dueShard })).toEqual({
      owner,
      id,
      subject,
      nextWakeTime,
    });
    expect(() => fromDueItem({ owner, id, nextWakeTime })).toThrow('subject');
  });
});
