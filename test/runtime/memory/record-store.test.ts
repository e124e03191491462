import { expect, it } from 'vitest';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { defineRecordStoreContract } from '../../contract/record-store.contract.ts';

defineRecordStoreContract('in memory', () => {
  const store = createMemoryRecordStore();
  return Promise.resolve({ records: store, dueIndex: store });
});

it('shares no object with its callers', async () => {
  const store = createMemoryRecordStore();
  const state = { list: [1] };
  const record = { owner: 'repair', id: 'a', subject: { kind: 'Node', apiVersion: 'v1', name: 'n' }, state } as const;
  await store.put(record, 0);
  state.list.push(2);
  expect((await store.get(record))?.state).toEqual({ list: [1] });
});
