import { describe, expect, it } from 'vitest';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import { findSubject } from '../../../shared/lifecycle/subject.ts';
import type { RecordCodec } from '../../../shared/lifecycle/record-codec.ts';
import { refusingNewer, openRecords } from '../../../shared/lifecycle/timed-record.ts';
import type { ObjectAnswer } from '../../../shared/ports/read-answer.ts';

const NOW = toEpochMs(1_000_000);
const codec: RecordCodec<null> = { owner: 'repair', schemaVersion: 1, parse: () => null, toState: () => ({}) };

const aNode = (name: string, uid: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid, resourceVersion: '1', creationTimestamp: '2024-11-01T12:00:00Z' },
});

/** @param records UID → name of the node that the record stores */
async function find(
  nodes: readonly KubernetesObject[],
  records: Readonly<Record<string, string>>,
  sought: {
    readonly name: string;
    readonly uid: string | undefined;
    readonly onlyIfKnown?: boolean;
    readonly isUnchanged?: () => boolean;
    /** False: nobody repeats the message in hand. */
    readonly isRepeated?: boolean;
  },
  schemaVersion = 1,
) {
  const store = createMemoryRecordStore();
  for (const [uid, name] of Object.entries(records)) {
    const subject = { apiVersion: 'v1', kind: 'Node', name, uid };
    await store.put({ owner: 'repair', id: `node/${uid}`, subject, state: { schemaVersion }, nextWakeTime: NOW }, 0);
  }
  const deps = {
    records: store,
    wakeUps: { send: async () => undefined },
    clock: { now: () => NOW, sleep: async () => undefined },
  };
  const open = openRecords(deps, codec);
  const timedRecordOf = (uid: string) =>
    sought.isRepeated === false ? refusingNewer(open(`node/${uid}`), sought.name) : open(`node/${uid}`);
  const found = await findSubject(
    {
      kubernetes: {
        get: async ({ name }: { name: string }): Promise<ObjectAnswer> => {
          const object = nodes.find(node => node.metadata.name === name);
          return object === undefined ? { kind: 'notThere' } : { kind: 'there', object };
        },
      } as never,
    },
    { ref: { type: RESOURCES.Node, name: sought.name }, ...sought, timedRecordOf },
  );
  return found.kind === 'here' ? `here ${found.object.metadata.name} ${found.loaded.kind}` : found.kind;
}

describe('the subject of a message', () => {
  it.each([
    ['is the object with name and UID', [aNode('n1', 'u1')], {}, { name: 'n1', uid: 'u1' }, 'here n1 none'],
    [
      'is the object with the name, where no UID is said',
      [aNode('n1', 'u1')],
      { u1: 'n1' },
      { name: 'n1', uid: undefined },
      'here n1 known',
    ],
    ['is not another object of that name (I10)', [aNode('n1', 'u2')], {}, { name: 'n1', uid: 'u1' }, 'nothing'],
    ['is gone when another object has its name', [aNode('n1', 'u2')], { u1: 'n1' }, { name: 'n1', uid: 'u1' }, 'gone'],
    ['is gone when nothing has its name', [], { u1: 'n1' }, { name: 'n1', uid: 'u1' }, 'gone'],
    ['is unknown without object and record', [], {}, { name: 'n1', uid: 'u1' }, 'nothing'],
    [
      'is not read without a record, where only what is remembered of it is concerned',
      [aNode('n1', 'u1')],
      {},
      { name: 'n1', uid: 'u1', onlyIfKnown: true },
      'nothing',
    ],
    [
      'is read with a record, where only what is remembered of it is concerned',
      [aNode('n1', 'u1')],
      { u1: 'n1' },
      { name: 'n1', uid: 'u1', onlyIfKnown: true },
      'here n1 known',
    ],
    [
      'is not read when the message says nothing new to its record',
      [aNode('n1', 'u1')],
      { u1: 'n1' },
      { name: 'n1', uid: 'u1', isUnchanged: () => true },
      'nothing',
    ],
  ])('%s', async (_title, nodes, records, sought, expected) => {
    expect(await find(nodes, records, sought)).toBe(expected);
  });

  // A message that names a node that is not there, with the UID of one that is, once closed the record of a live node.
  it('is found under the name that its record stores, whatever name the message says', async () => {
    expect(await find([aNode('n1', 'u1')], { u1: 'n1' }, { name: 'no-such-node', uid: 'u1' })).toBe('here n1 known');
    expect(await find([aNode('n2', 'u2')], { u1: 'n1' }, { name: 'no-such-node', uid: 'u1' })).toBe('gone');
  });

  // A node that was read before another run cordoned it, with the record of that cordon: it looked as if somebody had taken it back.
  it('is never older than its record, whether or not the message says the UID', async () => {
    for (const uid of ['u1', undefined]) {
      const reads: string[] = [];
      const open = () => ({
        load: async () => {
          reads.push('record');
          return { kind: 'known', value: null, stored: { subject: { apiVersion: 'v1', kind: 'Node', name: 'n1' } } };
        },
      });
      const kubernetes = {
        get: async () => {
          reads.push('object');
          return { kind: 'there', object: aNode('n1', 'u1') };
        },
      };
      await findSubject({ kubernetes } as never, {
        ref: { type: RESOURCES.Node, name: 'n1' },
        uid,
        timedRecordOf: open as never,
      });
      expect(reads.slice(-2)).toEqual(['record', 'object']);
    }
  });

  it('is left to the newer version that wrote its record', async () => {
    expect(await find([aNode('n1', 'u1')], { u1: 'n1' }, { name: 'n1', uid: 'u1' }, 2)).toBe('nothing');
    expect(await find([], { u1: 'n1' }, { name: 'n1', uid: 'u1' }, 2)).toBe('nothing');
  });

  it('is not left to it by a message that nobody repeats (I9)', async () => {
    for (const uid of ['u1', undefined]) {
      const sought = { name: 'n1', uid, isRepeated: false };
      await expect(find([aNode('n1', 'u1')], { u1: 'n1' }, sought, 2)).rejects.toMatchObject({ reason: 'NewerRecord' });
    }
  });
});
