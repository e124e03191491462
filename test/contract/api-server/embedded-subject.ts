/** The embedded API server as a subject of the contract: its own clock, served on a loopback port. */
import { afterAll, beforeAll } from 'vitest';
import { createApiServer } from '../../../packages/kube-apiserver/src/api-server.ts';
import { createRbacAuthorizer } from '../../../packages/kube-apiserver/src/authorization/rbac.ts';
import { serveApiServer, type ServedApi } from '../../../packages/kube-apiserver/src/http/server.ts';
import type { Timers } from '../../../packages/kube-apiserver/src/http/timers.ts';
import { toDurationMs } from '../../../shared/domain/time.ts';
import { createManualClock, type ManualClock } from '../../fakes/manual-clock.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import type { MakeSubject } from './subject.ts';

function timersOn(clock: ManualClock): Timers {
  return {
    after: (delayMs, run) => {
      const stop = new AbortController();
      void clock.sleep(toDurationMs(delayMs), stop.signal).then(run, () => undefined);
      return { cancel: () => stop.abort() };
    },
    every: () => ({ cancel: () => undefined }),
  };
}

/** Serves one for the suite. The namespaces of two suites do not meet: each has a server of its own. */
export function embeddedSubjects(): MakeSubject {
  const clock = createManualClock();
  const core = createApiServer({ clock });
  let served: ServedApi | undefined;
  let http: HttpClient | undefined;
  let namespaces = 0;
  beforeAll(async () => {
    const authorization = { authorizer: createRbacAuthorizer(core) };
    served = await serveApiServer(core, { now: () => clock.now(), timers: timersOn(clock), authorization });
    http = createHttpClient({ url: served.url, token: 'user:admin' });
  });
  afterAll(async () => {
    http?.close();
    await served?.close();
  });
  return async () => {
    if (http === undefined) throw new Error('not served');
    const namespace = `test-${(namespaces += 1)}`;
    await http.call('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
    return {
      http,
      namespace,
      minor: 36,
      compact: () => core.compact(),
      sendBookmarks: () => core.sendBookmarks(),
      passSeconds: count => clock.advance(toDurationMs(count * 1000)),
      differing: (_, { embedded }) => embedded,
    };
  };
}
