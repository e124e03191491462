/** The Kubernetes client library that Curfew itself uses, against the HTTP front. */
import { ApiException, CoreV1Api, CustomObjectsApi, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCertificateAuthority } from '../../../../test/control-plane/pki.ts';
import { serveTestCore, type Served } from './served-core.ts';

function configOf(served: Served): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(served.api.kubeconfig());
  return config;
}

describe('@kubernetes/client-node', () => {
  let served: Served;
  beforeEach(async () => {
    served = await serveTestCore();
  });
  afterEach(async () => {
    await served.api.close();
  });

  test('reads, patches and evicts as the user of the kubeconfig', async () => {
    const writes: string[] = [];
    served.core.observe(({ verb, user, ref }) => writes.push(`${user} ${verb} ${ref.name}`));
    const core = configOf(served).makeApiClient(CoreV1Api);
    expect((await core.listNode()).items.map(node => node.metadata?.name)).toEqual(['n1']);
    await core.patchNode({ name: 'n1', body: [{ op: 'replace', path: '/metadata/labels/zone', value: 'b' }] });
    const metadata = { name: 'web-0', namespace: 'prod' };
    await core.createNamespacedPodEviction({ ...metadata, body: { metadata } });
    expect(writes).toEqual(['admin patch n1', 'admin evict web-0']);
  });

  test('gets refusals with their code', async () => {
    const custom = configOf(served).makeApiClient(CustomObjectsApi);
    const widgets = { group: 'example.com', version: 'v1', plural: 'widgets' };
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget' };
    const refusal: unknown = await custom
      .createClusterCustomObject({ ...widgets, body: { ...widget, metadata: { name: 'w' }, spec: { size: 0 } } })
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ApiException);
    expect(refusal).toMatchObject({ code: 422 });
  });

  test('keeps an informer up to date', async () => {
    const config = configOf(served);
    const core = config.makeApiClient(CoreV1Api);
    const informer = makeInformer(config, '/api/v1/nodes', () => core.listNode());
    const added = new Promise<string | undefined>(resolve => informer.on('add', node => resolve(node.metadata?.name)));
    const updated = new Promise<string | undefined>(resolve =>
      informer.on('update', node => resolve(node.metadata?.labels?.zone)),
    );
    // Stopping aborts the watch, which the informer reports.
    informer.on('error', () => undefined);
    await informer.start();
    expect(await added).toBe('n1');
    const nodes = { group: '', version: 'v1', resource: 'nodes' };
    served.core.patch({ type: nodes, name: 'n1' }, { type: 'merge', body: { metadata: { labels: { zone: 'c' } } } });
    expect(await updated).toBe('c');
    await informer.stop();
  });

  test('trusts the authority in the kubeconfig of a server with TLS', async () => {
    const authority = createCertificateAuthority();
    const { certPem: cert, keyPem: key } = authority.issueServing();
    const secure = await serveTestCore({ tls: { key, cert, ca: authority.certPem } });
    expect(secure.api.url).toMatch(/^https:/);
    const core = configOf(secure).makeApiClient(CoreV1Api);
    expect((await core.listNode()).items).toHaveLength(1);
    await secure.api.close();
  });
});
