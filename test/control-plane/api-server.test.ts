/** kube-apiserver itself, against the HTTP contract that the embedded API server is held to. */
import { afterAll, beforeAll } from 'vitest';
import { createHttpClient, type HttpClient } from '../contract/api-server/http-client.ts';
import { defineApiServerContract } from '../contract/api-server.contract.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

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

defineApiServerContract('kube-apiserver', async () => {
  if (http === undefined) throw new Error('not started');
  const namespace = `test-${(namespaces += 1)}`;
  const { status } = await http.call('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
  if (status !== 201) throw new Error(`namespace not created: ${status}`);
  return { http, namespace, differing: (_, { real }) => real };
});
