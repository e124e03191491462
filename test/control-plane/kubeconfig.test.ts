/** What a kubeconfig can say of a connection, beyond an address and a certificate, on kube-apiserver. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { checkReachable, loadKubeconfig } from '../../shared/adapters/kubernetes/kubeconfig.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, unknown>> }];
  readonly users: readonly [{ readonly user: Readonly<Record<string, unknown>> }];
}

let plane: ControlPlane;
let folder: string;
let proxyUrl: string;
let proxied = 0;
/** A proxy as companies have them: it answers CONNECT. */
const proxy = createServer(client =>
  client.once('data', head => {
    const [, host = '', port] = /^CONNECT ([^:]+):(\d+)/.exec(head.toString()) ?? [];
    proxied += 1;
    const server = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      server.pipe(client).pipe(server);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const)
      one.on('error', () => other.destroy());
  }),
);

beforeAll(async () => {
  plane = await startControlPlane({ controllers: [] });
  folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(async () => {
  proxy.close();
  await plane?.stop();
  if (folder) rmSync(folder, { recursive: true });
});

/** Who the API server says that we are. */
async function whoAmI(cluster: object, user: object = {}): Promise<unknown> {
  const config = parse(readFileSync(plane.adminKubeconfig, 'utf8')) as Kubeconfig;
  const file = join(folder, 'kubeconfig');
  const [first] = config.clusters;
  const [admin] = config.users;
  const { 'certificate-authority-data': ca, 'certificate-authority': caFile, ...bare } = first.cluster;
  const trusted =
    'insecure-skip-tls-verify' in cluster
      ? bare
      : { ...bare, ...(ca ? { 'certificate-authority-data': ca } : { 'certificate-authority': caFile }) };
  writeFileSync(
    file,
    stringify({
      ...config,
      clusters: [{ ...first, cluster: { ...trusted, ...cluster } }],
      users: [{ ...admin, user: { ...admin.user, ...user } }],
    }),
  );
  const access = await loadKubeconfig(file);
  const transport = createTransport({ ...access.options, clock: systemClock, userAgent: 'curfew-test' });
  try {
    await checkReachable(transport, access);
    const json = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const body = { contentType: 'application/json', json };
    const answer = await transport.request({ method: 'POST', path, doing: 'asking who we are', body });
    return (JSON.parse(answer.body) as { readonly status: { readonly userInfo: unknown } }).status.userInfo;
  } finally {
    transport.close();
  }
}

it.each([
  ['an address that its certificate names otherwise', { 'tls-server-name': 'localhost' }],
  ['no look at its certificate', { 'insecure-skip-tls-verify': true }],
])('%s', async (_, cluster) => {
  expect(await whoAmI(cluster)).toMatchObject({ groups: ['system:masters', 'system:authenticated'] });
});

it('a proxy', async () => {
  expect(await whoAmI({ 'proxy-url': proxyUrl })).toMatchObject({ groups: ['system:masters', 'system:authenticated'] });
  expect(proxied).toBeGreaterThan(0);
});

it('another user to act as, in all that makes it', async () => {
  const user = {
    as: 'jane',
    'as-uid': '42',
    'as-groups': ['dev', 'on call'],
    'as-user-extra': { 'a.example/b%c': ['x', 'z'] },
  };
  expect(await whoAmI({}, user)).toEqual({
    username: 'jane',
    uid: '42',
    groups: ['dev', 'on call', 'system:authenticated'],
    extra: { 'a.example/b%c': ['x', 'z'] },
  });
});
