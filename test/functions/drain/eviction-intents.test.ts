/** How often a drain asks for an eviction when several runs look at once, and what a drain without refusals writes. */
import { expect, it } from 'vitest';
import { createReconciler } from '../../../functions/drain/route.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { createMemoryRecordStore } from '../../../runtime/memory/record-store.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, seconds, toEpochMs, type DurationMs } from '../../../shared/domain/time.ts';
import type { EvictOutcome } from '../../../shared/ports/kubernetes-api.ts';
import { createCluster } from '../../../simulator/world.ts';
import { clusterEvent } from '../../builders/cluster-event.ts';

const SUBJECT = { kind: 'Node', apiVersion: 'v1', name: 'n1', uid: 'u1' } as const;
const BLOCKED: EvictOutcome = { kind: 'blocked', message: 'its budget is used up' };

/** A person asks for the drain of a Node with three pods, whose evictions are answered so. */
function askedDrain(answer: EvictOutcome, given: { readonly toml?: string; readonly status?: JsonObject } = {}) {
  let now = toEpochMs(Date.UTC(2024, 10, 1, 15));
  const core = createCluster({ now: () => now });
  const data = { 'config.toml': `${given.toml ?? ''}[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n` };
  core.seed({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'curfew', name: 'curfew-config' }, data });
  const annotations = { 'curfew.dev/drain-requested': 'm1' };
  core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u1', annotations } });
  for (const name of ['a', 'b', 'c']) {
    const spec = { nodeName: 'n1', containers: [{ name: 'main', image: 'main' }] };
    const metadata = { name, namespace: 'default', uid: name };
    core.seed({ apiVersion: 'v1', kind: 'Pod', metadata, spec, status: { phase: 'Running', ...given.status } });
  }
  const asked: string[] = [];
  const failed: string[] = [];
  let writes = 0;
  const records = createMemoryRecordStore();
  const kubernetes = createInProcessKubernetesApi(core, 'curfew:drain');
  const reconcile = createReconciler({
    cluster: 'test',
    kubernetes: {
      ...kubernetes,
      async evict(ref, options) {
        asked.push(ref.name);
        return answer.kind === 'ok' ? kubernetes.evict(ref, options) : answer;
      },
    },
    records: {
      ...records,
      async put(...given) {
        writes += 1;
        return records.put(...given);
      },
    },
    wakeUps: { send: async () => undefined },
    bus: { publish: async entries => entries.map(() => ({ kind: 'published' })) },
    events: {
      record: async ({ reason, message }) => void (reason === 'FailedDraining' && failed.push(message)),
    },
    audit: { write: () => undefined },
    metrics: { count: () => undefined, milliseconds: () => undefined },
    clock: { now: () => now, sleep: () => Promise.reject(new Error('nothing sleeps here')) },
  });
  return {
    asked,
    failed,
    writes: () => writes,
    unschedulable: () => core.get({ type: RESOURCES.Node, name: 'n1' }).spec?.['unschedulable'],
    /** So many runs at once, some time later. */
    async runs(count: number, later: DurationMs) {
      now = addDuration(now, later);
      const event = clusterEvent({ subject: SUBJECT, changed: ['drain'] });
      await Promise.all(Array.from({ length: count }, () => reconcile(event)));
    },
  };
}

it('is asked for once in 10 s, its first try included, however many runs look at once', async () => {
  const drain = askedDrain(BLOCKED);
  for (let look = 1; look < 5; look += 1) {
    await drain.runs(5, seconds(10));
    expect(drain.asked.toSorted()).toEqual(['a', 'b', 'c'].flatMap(name => Array.from({ length: look }, () => name)));
  }
});

it('says once what holds the pods', async () => {
  const drain = askedDrain(BLOCKED);
  for (let look = 1; look < 5; look += 1) await drain.runs(5, seconds(10));
  expect(drain.failed).toHaveLength(1);
});

it('costs a drain whose evictions are granted no write', async () => {
  const drain = askedDrain({ kind: 'ok' });
  await drain.runs(1, seconds(0));
  expect(drain.asked).toEqual(['a', 'b', 'c']);
  expect(drain.unschedulable()).toBe(true);
  // Begun, prepared with the pods that are about to go, and the timer.
  expect(drain.writes()).toBe(3);
});

it('is noted first for pods that a drain does not wait for, too', async () => {
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2024-11-01T12:00:00Z' }];
  const drain = askedDrain(BLOCKED, { toml: 'notReadyTimeoutMinutes = 5\n\n', status: { conditions } });
  await drain.runs(5, seconds(0));
  expect(drain.asked.toSorted()).toEqual(['a', 'b', 'c']);
});
