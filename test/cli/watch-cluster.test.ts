import { afterAll, describe, expect, it } from 'vitest';
import { systemPartsOf } from '../../cli/start/watch-cluster.ts';
import { MAX_CONCURRENCY } from '../../shared/contract/inbox.ts';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import type { ClusterWatch } from '../../shared/ports/cluster-watch.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';

describe('start --kubeconfig', () => {
  const scheduler = createRealScheduler();
  afterAll(() => scheduler.close());
  const partsOf = (enforce: boolean, line: (voice: string) => void = () => undefined) =>
    systemPartsOf(
      { api: {} as KubernetesApi, watch: {} as ClusterWatch, context: undefined, enforce },
      { line },
      { store: createMemoryRecordStore(), scheduler },
    );

  it('says of each decision which function made it', () => {
    const voices: string[] = [];
    const { audit } = partsOf(false, voice => voices.push(voice));
    for (const name of FUNCTION_NAMES) {
      audit.write({ function: name, decision: 'hold', reason: 'Tested', message: 'm', kind: 'Node', name: 'n1' });
    }
    expect(voices).toEqual(['finalizer', 'drain', 'repair', 'grace-period', 'timer']);
  });

  it('takes as many messages at once as a deployment, so that the API server bears it', () => {
    expect(partsOf(true).inboxes?.concurrency).toBe(MAX_CONCURRENCY);
    expect(partsOf(false).inboxes?.concurrency).toBe(MAX_CONCURRENCY);
  });
});
