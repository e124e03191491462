/** When a termination asks again for evictions that were refused. */
import { expect, it } from 'vitest';
import { createReconciler } from '../../../../functions/finalizer/reconcile.ts';
import { createInProcessKubernetesApi } from '../../../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../../../runtime/memory/record-store.ts';
import { toEpochMs } from '../../../../shared/domain/time.ts';
import type { EvictOutcome } from '../../../../shared/ports/kubernetes-api.ts';
import { createCluster } from '../../../../simulator/world.ts';
import { clusterEvent } from '../../../builders/cluster-event.ts';

const START = toEpochMs(Date.UTC(2024, 10, 1, 15));
const PROVIDER_ID = 'aws:///us-west-2a/i-1';
const HELD = {
  uid: 'c1',
  finalizers: ['example.com/custom'],
  annotations: { 'curfew.dev/termination-finalizer': 'example.com/custom' },
  deletionTimestamp: '2024-11-01T15:00:00Z',
};

/** The termination of a Node on which each pod's eviction is answered so. Answers after how many seconds it looks again. */
async function nextLookAfter(answers: Readonly<Record<string, EvictOutcome>>): Promise<number> {
  const core = createCluster({ now: () => START });
  core.seed({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { ...HELD, name: 'c1' },
    status: { providerID: PROVIDER_ID, nodeName: 'n1' },
  });
  core.seed({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...HELD, name: 'n1', uid: 'n1' },
    spec: { providerID: PROVIDER_ID },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  for (const name of Object.keys(answers)) {
    const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i' }] };
    const metadata = { name, namespace: 'default' };
    core.seed({ apiVersion: 'v1', kind: 'Pod', metadata, spec, status: { phase: 'Running' } });
  }
  const records = createMemoryRecordStore();
  const reconcile = createReconciler({
    kubernetes: {
      ...createInProcessKubernetesApi(core, 'curfew:finalizer'),
      evict: async ({ name }) => answers[name] ?? { kind: 'notFound' },
    },
    records,
    wakeUps: { send: async () => undefined },
    instances: {
      describe: async () => ({ state: 'running' }),
      terminate: () => Promise.reject(new Error('its pods are still there')),
      reboot: () => Promise.reject(new Error('nothing reboots here')),
      terminateInAutoScalingGroup: () => Promise.reject(new Error('it is in no group')),
      checkOf: async () => undefined,
      list: async () => [],
    },
    hooks: { invoke: async () => ({ kind: 'succeeded' }) },
    events: { record: async () => undefined },
    audit: { write: () => undefined },
    metrics: { count: () => undefined, milliseconds: () => undefined },
    clock: { now: () => START, sleep: () => Promise.reject(new Error('nothing sleeps here')) },
  });
  const subject = { kind: 'NodeClaim', apiVersion: 'karpenter.sh/v1', name: 'c1', uid: 'c1' } as const;
  await reconcile(clusterEvent({ subject, changed: ['deletionTimestamp'] }));
  const record = records.all().find(({ id }) => id.includes('nodeclaim/c1'));
  return ((record?.nextWakeTime ?? NaN) - START) / 1000;
}

const blocked = (retryAfterMs?: number): EvictOutcome => ({
  kind: 'blocked',
  message: 'its budget is used up',
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

it.each<[string, Readonly<Record<string, EvictOutcome>>, number]>([
  ['after 10 s where the API server asks for nothing', { a: blocked() }, 10],
  ['after 10 s where a budget cannot be used', { a: { kind: 'misconfigured', message: 'two budgets select it' } }, 10],
  ['as late as it asks for', { a: blocked(30_000) }, 30],
  [
    'as late as the latest that it asks for, of several pods',
    { a: blocked(30_000), b: blocked(5000), c: blocked() },
    30,
  ],
  ['at once where one changed meanwhile', { a: blocked(30_000), b: { kind: 'conflict', message: 'changed' } }, 0],
  ['after a minute where its pods go, should their events be lost', { a: { kind: 'ok' } }, 60],
])('%s', async (_, answers, after) => {
  expect(await nextLookAfter(answers)).toBe(after);
});
