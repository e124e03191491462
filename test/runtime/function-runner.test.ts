import { describe, expect, it } from 'vitest';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { createFunctionRunner, type RunnerDeps } from '../../runtime/function-runner.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import type { Lifetime } from '../../runtime/lifetime.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createCloud } from '../../simulator/cloud.ts';
import { createVirtualTime } from '../../simulator/virtual-time.ts';
import { seconds, toEpochMs } from '../../shared/domain/time.ts';
import type { Reconcile } from '../../shared/ports/function-deps.ts';

const TICK = {
  body: JSON.stringify({ source: 'curfew.timer', 'detail-type': 'Tick', detail: {} }),
  receiveCount: 1,
};

function start(reconcile: Reconcile) {
  const time = createVirtualTime({ start: toEpochMs(0) });
  const store = createMemoryRecordStore();
  const metrics = { count: () => undefined, milliseconds: () => undefined };
  const deps: RunnerDeps = {
    cluster: 'test',
    kubernetes: createInProcessKubernetesApi(createApiServer({ clock: time }), 'test'),
    records: store,
    dueIndex: store,
    wakeUps: { send: async () => undefined },
    bus: { publish: async () => [] },
    instances: createCloud(time).instances(() => undefined),
    events: { record: async () => undefined },
    audit: { write: () => undefined },
    metrics,
    clock: time,
    hooks: { invoke: () => Promise.reject(new Error('not used')) },
    deadLetters: { park: async () => undefined },
  };
  const environments: Lifetime[] = [];
  const runner = createFunctionRunner({
    name: 'repair',
    cluster: 'test',
    reconciler: () => reconcile,
    scheduler: time,
    metrics,
    timeout: seconds(30),
    environment(lifetime) {
      environments.push(lifetime);
      return deps;
    },
  });
  return { runner, environments };
}

describe('createFunctionRunner', () => {
  it('uses a free environment again, and makes another one beside a busy one', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>(resolve => (release = resolve));
    let runs = 0;
    const { runner, environments } = start(async () => {
      runs += 1;
      if (runs > 1) await released;
    });
    await runner.run(TICK);
    const busy = [runner.run(TICK), runner.run(TICK)];
    expect(environments).toHaveLength(2);
    release();
    await Promise.all(busy);
  });

  it('does not use an environment again that ended while it was free', async () => {
    const { runner, environments } = start(async () => undefined);
    await runner.run(TICK);
    environments[0]?.end();
    await expect(runner.run(TICK)).resolves.toBeUndefined();
    expect(environments).toHaveLength(2);
  });
});
