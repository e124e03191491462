/** A webhook on kube-apiserver that denies with the status of something that it looked up: no object is gone for it. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { loadKubeconfig } from '../../shared/adapters/kubernetes/kubeconfig.ts';
import { createTransport, type Transport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { TerminalError } from '../../shared/errors.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { createCertificateAuthority } from './pki.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

const CODES = [401, 404, 409, 429] as const;
const WEBHOOKS = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingwebhookconfigurations' };
const SERVICE_ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' };
const KINDS = { nodes: 'Node', pods: 'Pod' } as const;
const nameOf = (code: number): string => `denied-${code}`;

let plane: ControlPlane;
let webhook: Server;
let transport: Transport;
let kubernetes: KubernetesApi;

interface Review {
  readonly request: { readonly uid: string; readonly name: string };
}

/** Denies whatever happens to an object, with the status that its name ends in. */
async function startWebhook(credential: { certPem: string; keyPem: string }): Promise<Server> {
  const server = createServer({ cert: credential.certPem, key: credential.keyPem }, (request, response) => {
    void text(request).then(body => {
      const { uid, name } = (JSON.parse(body) as Review).request;
      const status = { code: Number(name.split('-').at(-1)), message: 'widgets "a" not found' };
      const answer = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...answer, response: { uid, allowed: false, status } }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

beforeAll(async () => {
  plane = await startControlPlane({ controllers: [] });
  const { options } = await loadKubeconfig(plane.adminKubeconfig);
  transport = createTransport({ ...options, clock: systemClock, userAgent: 'curfew-test' });
  kubernetes = createKubernetesApi(transport);
  const metadata = { name: 'default', namespace: 'default' };
  await kubernetes.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  for (const name of CODES.map(nameOf)) {
    await kubernetes.create(RESOURCES.Node, { apiVersion: 'v1', kind: KINDS.nodes, metadata: { name } });
    const spec = { nodeName: name, containers: [{ name: 'main', image: 'main' }] };
    const pod = { apiVersion: 'v1', kind: KINDS.pods, metadata: { name, namespace: 'default' }, spec };
    const created = await kubernetes.create(RESOURCES.Pod, pod);
    if (created.kind !== 'ok') throw new Error(`pod ${name}: ${created.kind}`);
  }
  const ca = createCertificateAuthority();
  webhook = await startWebhook(ca.issueServing());
  const url = `https://127.0.0.1:${(webhook.address() as AddressInfo).port}/`;
  const rule = (resource: string, operations: readonly string[]) => ({
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: [resource],
    operations: [...operations],
  });
  await kubernetes.create(WEBHOOKS, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'deny' },
    webhooks: [
      {
        name: 'deny.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url, caBundle: Buffer.from(ca.certPem).toString('base64') },
        rules: [rule('nodes', ['UPDATE', 'DELETE']), rule('pods/eviction', ['CREATE'])],
      },
    ],
  });
  // It is in force after a moment.
  const probe = { type: RESOURCES.Node, name: nameOf(404) };
  await vi.waitFor(
    async () => {
      const body = { metadata: { annotations: { at: `${Math.random()}` } } };
      const outcome = await kubernetes.patch(probe, { type: 'merge', body }).catch(String);
      if (typeof outcome !== 'string') throw new Error('the webhook is not in force');
    },
    { timeout: 20_000, interval: 200 },
  );
});
afterAll(async () => {
  transport?.close();
  webhook?.close();
  await plane?.stop();
});

describe.each(CODES.filter(code => code !== 429))('a denial with status %d', code => {
  const name = nameOf(code);
  it.each([
    ['delete', () => kubernetes.delete({ type: RESOURCES.Node, name }, { preconditions: {} })],
    [
      'patch',
      () =>
        kubernetes.patch({ type: RESOURCES.Node, name }, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } }),
    ],
    ['eviction', () => kubernetes.evict({ type: RESOURCES.Pod, namespace: 'default', name }, { preconditions: {} })],
  ])('of a %s is a refusal', async (_, write) => {
    await expect(write()).rejects.toBeInstanceOf(TerminalError);
  });
});

it('an eviction that is denied with 429 is tried again', async () => {
  const ref = { type: RESOURCES.Pod, namespace: 'default', name: nameOf(429) };
  expect(await kubernetes.evict(ref, { preconditions: {} })).toMatchObject({ kind: 'blocked' });
});
