/** kube-apiserver as a subject of the contract. */
import { afterAll, beforeAll } from 'vitest';
import { createHttpClient, type HttpClient } from '../contract/api-server/http-client.ts';
import type { MakeSubject } from '../contract/api-server/subject.ts';
import { minorOf } from './flags.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

/** Starts one control plane for the suite; each case has a namespace of its own. */
export function realSubjects(): MakeSubject {
  let plane: ControlPlane | undefined;
  let http: HttpClient | undefined;
  let namespaces = 0;
  beforeAll(async () => {
    plane = await startControlPlane({ users: [{ name: 'contract', groups: ['system:masters'] }] });
    http = createHttpClient({ url: plane.url, ca: plane.caPem, token: plane.tokenFor('contract') });
  });
  afterAll(async () => {
    http?.close();
    await plane?.stop();
  });
  return async () => {
    if (plane === undefined || http === undefined) throw new Error('not started');
    const namespace = `test-${(namespaces += 1)}`;
    const { status } = await http.call('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
    if (status !== 201) throw new Error(`namespace not created: ${status}`);
    const minor = minorOf(plane.versions.kubernetes);
    return { http, namespace, minor, differing: (_, { real }) => real };
  };
}
