import { describe, expect, it } from 'vitest';
import { settingsRounds } from '../../../functions/grace-period/wake-ups.ts';
import { RetryableError } from '../../../shared/errors.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import type { RecordStore } from '../../../shared/ports/record-store.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';

const cluster = (...names: string[]): KubernetesApi => {
  const nodes = names.map(name => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' },
  }));
  const unused = (): never => {
    throw new Error('not used here');
  };
  return {
    list: async () => ({ kind: 'there', objects: nodes }),
    get: unused,
    create: unused,
    patch: unused,
    delete: unused,
    evict: unused,
    resolve: unused,
    versionsOf: unused,
  };
};

async function wokenBy(kubernetes: KubernetesApi, records: RecordStore): Promise<readonly string[]> {
  const woken: string[] = [];
  const wakeUps = {
    async send(sent: readonly { readonly wakeUp: { readonly subject: Pick<Subject, 'kind' | 'name'> } }[]) {
      // The round sends itself a message, too, to come to its end.
      woken.push(...sent.flatMap(({ wakeUp: { subject } }) => (subject.kind === 'Node' ? [subject.name] : [])));
    },
  };
  const clock = { now: () => toEpochMs(0), sleep: async () => undefined };
  const subject = { apiVersion: 'curfew.dev/v1alpha1', kind: 'NodeLifecyclePolicy', name: 'p', uid: 'u' };
  await settingsRounds({ kubernetes, records, wakeUps, clock }).settingsChanged({
    subject,
    change: 'Modified',
    changed: ['spec'],
  });
  return woken;
}

async function recordsOf(...names: string[]): Promise<RecordStore> {
  const records = createMemoryRecordStore();
  for (const name of names) {
    const subject = { apiVersion: 'v1', kind: 'Node', name };
    await records.put({ owner: 'grace-period', id: `node/uid-${name}`, subject, state: {} }, 0);
  }
  return records;
}

describe('a round after a change of settings', () => {
  it('wakes the nodes of which there is a record', async () => {
    expect(await wokenBy(cluster('a', 'b', 'c'), await recordsOf('b'))).toEqual(['b']);
  });

  // With one read for each node, a message about a policy of a large cluster would hardly ever get through a flaky store.
  it('wakes a node whose record cannot be read, and all others', async () => {
    const records = await recordsOf('c');
    const flaky: RecordStore = {
      ...records,
      get: async key => {
        if (key.id === 'node/uid-a') throw new RetryableError('throttled');
        return await records.get(key);
      },
    };
    expect(await wokenBy(cluster('a', 'b', 'c'), flaky)).toEqual(['a', 'c']);
  });

  it('comes again when no record can be read', async () => {
    const records = await recordsOf();
    const out: RecordStore = {
      ...records,
      get: async key => {
        if (key.id.startsWith('node/')) throw new RetryableError('connection refused');
        return await records.get(key);
      },
    };
    await expect(wokenBy(cluster('a', 'b'), out)).rejects.toThrow('connection refused');
  });
});
