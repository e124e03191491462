/** The embedded API server, in process and over HTTP, against the contracts that a real control plane is held to. */
import { afterAll, beforeAll, describe } from 'vitest';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { serveApiServer, type ServedApi } from '../../packages/kube-apiserver/src/http/server.ts';
import { createInProcessClusterWatch } from '../../runtime/in-process/cluster-watch.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport, type Transport } from '../../shared/adapters/kubernetes/transport.ts';
import { durationBetween, toDurationMs } from '../../shared/domain/time.ts';
import type { Scheduler } from '../../runtime/scheduler.ts';
import { createManualClock, type ManualClock } from '../fakes/manual-clock.ts';
import { defineClusterWatchContract } from './cluster-watch.contract.ts';
import { defineKubernetesApiContract } from './kubernetes-api.contract.ts';
import type { KubernetesSubject } from './kubernetes-subject.ts';

let namespaces = 0;

function newNamespace(core: ApiServerCore): string {
  namespaces += 1;
  const name = `test-${namespaces}`;
  core.create(
    { group: '', version: 'v1', resource: 'namespaces' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  );
  return name;
}

function hooks(core: ApiServerCore, clock: ManualClock) {
  return {
    namespace: newNamespace(core),
    compact: () => Promise.resolve(core.compact()),
    sendBookmarks: () => core.sendBookmarks(),
    passSeconds: (count: number) => clock.advance(toDurationMs(count * 1000)),
  };
}

/** Actions on the manual clock. */
function schedulerOn(clock: ManualClock): Scheduler {
  return {
    now: () => clock.now(),
    sleep: (duration, signal) => clock.sleep(duration, signal),
    at(time, action) {
      const calledOff = new AbortController();
      void clock.sleep(durationBetween(clock.now(), time), calledOff.signal).then(action, () => undefined);
      return () => calledOff.abort();
    },
  };
}

describe('in process', () => {
  const makeSubject = (): Promise<KubernetesSubject> => {
    const clock = createManualClock();
    const core = createApiServer({ clock });
    const api = createInProcessKubernetesApi(core, 'contract');
    return Promise.resolve({
      api,
      watch: createInProcessClusterWatch(core, schedulerOn(clock)),
      ...hooks(core, clock),
    });
  };
  defineKubernetesApiContract('embedded, in process', makeSubject);
  defineClusterWatchContract('embedded, in process', makeSubject);
});

describe('over HTTP', () => {
  const clock = createManualClock();
  const core = createApiServer({ clock });
  let served: ServedApi | undefined;
  let transport: Transport | undefined;
  beforeAll(async () => {
    const timers = {
      after: (delayMs: number, run: () => void) => {
        const stop = new AbortController();
        void clock.sleep(toDurationMs(delayMs), stop.signal).then(run, () => undefined);
        return { cancel: () => stop.abort() };
      },
      every: () => ({ cancel: () => undefined }),
    };
    served = await serveApiServer(core, { now: () => clock.now(), timers });
    transport = createTransport({ server: served.url, clock, userAgent: 'contract' });
  });
  afterAll(async () => {
    transport?.close();
    await served?.close();
  });
  const makeSubject = (): Promise<KubernetesSubject> => {
    if (transport === undefined) throw new Error('not served');
    const watch = createClusterWatch(transport);
    return Promise.resolve({ api: createKubernetesApi(transport), watch, ...hooks(core, clock) });
  };
  defineKubernetesApiContract('embedded, over HTTP', makeSubject);
  defineClusterWatchContract('embedded, over HTTP', makeSubject);
});
