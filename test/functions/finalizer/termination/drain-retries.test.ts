/** When a termination asks again for evictions that were refused. */
import { expect, it } from 'vitest';
import { createReconciler } from '../../../../functions/finalizer/route.ts';
import { createInProcessKubernetesApi } from '../../../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../../../runtime/memory/record-store.ts';
import { toEpochMs, type EpochMs } from '../../../../shared/domain/time.ts';
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

/** The termination of a Node on which each pod's eviction is answered so. */
function termination(answers: Readonly<Record<string, EvictOutcome>>) {
  let now = START;
  let evictions = 0;
  const delays: number[] = [];
  const core = createCluster({ now: () => now });
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
      evict: async ({ name }) => {
        evictions += 1;
        return answers[name] ?? { kind: 'notFound' };
      },
    },
    records,
    wakeUps: { send: async messages => void delays.push(...messages.map(({ delay }) => delay / 1000)) },
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
    clock: { now: () => now, sleep: () => Promise.reject(new Error('nothing sleeps here')) },
  });
  const subject = { kind: 'NodeClaim', apiVersion: 'karpenter.sh/v1', name: 'c1', uid: 'c1' } as const;
  const nextTime = (): EpochMs => records.all().find(({ id }) => id.includes('nodeclaim/c1'))?.nextWakeTime ?? now;
  const wakeUp = (): Promise<void> =>
    reconcile({ kind: 'wakeUp', owner: 'finalizer', subject, wakeTime: nextTime(), repeated: false });
  return {
    begin: () => reconcile(clusterEvent({ subject, changed: ['deletionTimestamp'] })),
    /** So many runs at once, when its timer comes. */
    async timerComes(runs: number) {
      now = nextTime();
      await Promise.all(Array.from({ length: runs }, wakeUp));
    },
    nextLook: () => (nextTime() - now) / 1000,
    evictions: () => evictions,
    delays,
  };
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
  const node = termination(answers);
  await node.begin();
  expect(node.nextLook()).toBe(after);
});

it.each([
  ['forbids it', blocked()],
  ['cannot be used', { kind: 'misconfigured', message: 'two budgets select it' } as const],
])('once in 10 s where a budget %s, whatever number of runs its timer brings', async (_, answer) => {
  const node = termination({ a: answer });
  await node.begin();
  for (let look = 2; look < 6; look += 1) {
    await node.timerComes(3);
    expect(node.evictions()).toBe(look);
    expect(node.nextLook()).toBe(10);
  }
});

it('sets one wake-up for each look', async () => {
  const node = termination({ a: blocked() });
  await node.begin();
  await node.timerComes(1);
  expect(node.delays).toEqual([10, 10]);
});
