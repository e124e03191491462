import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createExecPlugin } from '../../../../shared/adapters/kubernetes/exec-plugin.ts';
import { checkReachable, loadKubeconfig } from '../../../../shared/adapters/kubernetes/kubeconfig.ts';
import { createTransport } from '../../../../shared/adapters/kubernetes/transport.ts';
import { createCertificateAuthority } from '../../../control-plane/pki.ts';
import { createManualClock } from '../../../fakes/manual-clock.ts';
import { json, serve, status } from './scripted-server.ts';

function fileWith(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'curfew-kubeconfig-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config');
  writeFileSync(file, content);
  return file;
}

function kubeconfig({ server = 'http://127.0.0.1:1', cluster = {}, user = {}, current = 'one' }): string {
  return fileWith(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server, ...cluster } }],
      users: [{ name: 'u', user }],
      contexts: [
        { name: 'one', context: { cluster: 'c', user: 'u' } },
        { name: 'lost', context: { cluster: 'nowhere', user: 'u' } },
      ],
      ...(current === '' ? {} : { 'current-context': current }),
    }),
  );
}

const withPlugin = (exec: object): string =>
  kubeconfig({
    user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never', ...exec } },
  });

const transportFor = (access: Awaited<ReturnType<typeof loadKubeconfig>>) =>
  createTransport({ ...access.options, clock: createManualClock(), userAgent: 'curfew-test' });

describe('loadKubeconfig', () => {
  it('uses the token of the current context', async () => {
    const server = await serve((_, response) => json(response, 200, { gitVersion: 'v1.36.3' }));
    const access = await loadKubeconfig(kubeconfig({ server: server.url, user: { token: 'secret' } }));
    expect(access.context).toBe('one');
    await checkReachable(transportFor(access), access);
    expect(server.requests).toMatchObject([{ url: '/version', headers: { authorization: 'Bearer secret' } }]);
  });

  it('reads the token in a file anew each time, with or without a line feed; the file wins', async () => {
    const server = await serve((_, response) => json(response, 200, { gitVersion: 'v1.36.3' }));
    const file = kubeconfig({ server: server.url, user: { token: 'stale', tokenFile: 'token' } });
    const tokenFile = join(dirname(file), 'token');
    writeFileSync(tokenFile, 'first\n');
    const access = await loadKubeconfig(file);
    await checkReachable(transportFor(access), access);
    writeFileSync(tokenFile, 'second');
    await checkReachable(transportFor(access), access);
    const sent = server.requests.map(({ headers }) => headers.authorization);
    expect(sent).toEqual(['Bearer first', 'Bearer second']);
  });

  it('runs a credential plugin, and runs it again after a refusal', async () => {
    const server = await serve((_, response, index) =>
      json(response, index === 0 ? 401 : 200, { gitVersion: 'v1.36.3' }),
    );
    const folder = mkdtempSync(join(tmpdir(), 'curfew-plugin-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const counter = join(folder, 'runs');
    const script = `
      const fs = require('node:fs');
      fs.appendFileSync(${JSON.stringify(counter)}, 'x');
      const token = 'token-' + fs.readFileSync(${JSON.stringify(counter)}, 'utf8').length;
      console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } }));`;
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', script],
      interactiveMode: 'Never',
    };
    const access = await loadKubeconfig(kubeconfig({ server: server.url, user: { exec } }));
    await checkReachable(transportFor(access), access);
    const sent = server.requests.map(({ headers }) => headers.authorization);
    expect(sent).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  describe('tells a credential plugin, as client-go does,', () => {
    const V1 = 'client.authentication.k8s.io/v1';
    const AUTHORITY = '-----BEGIN CERTIFICATE-----';
    /** What the plugin was told; its command is a script in a folder beside the kubeconfig, named by a relative path. */
    async function told(exec: object, cluster: object = {}): Promise<unknown> {
      const server = await serve((_, response) => json(response, 200, { gitVersion: 'v1.36.3' }));
      const full = { command: './bin/plugin', interactiveMode: 'IfAvailable', ...exec };
      const file = kubeconfig({ server: server.url, cluster, user: { exec: full } });
      const folder = dirname(file);
      mkdirSync(join(folder, 'bin'));
      const script = `#!${process.execPath}
        require('node:fs').writeFileSync(require('node:path').join(__dirname, 'told'), process.env.KUBERNETES_EXEC_INFO ?? '');
        console.log(JSON.stringify({ kind: 'ExecCredential', status: { token: 'found' } }));`;
      writeFileSync(join(folder, 'bin', 'plugin'), script, { mode: 0o700 });
      writeFileSync(join(folder, 'ca.pem'), AUTHORITY);
      const access = await loadKubeconfig(file);
      await checkReachable(transportFor(access), access);
      expect(server.requests[0]?.headers.authorization).toBe('Bearer found');
      const text = readFileSync(join(folder, 'bin', 'told'), 'utf8').replaceAll(server.url, 'SERVER');
      return JSON.parse(text) as unknown;
    }

    it('which version it is to answer in, and that nobody can be asked', async () => {
      expect(await told({ apiVersion: V1 })).toEqual({
        kind: 'ExecCredential',
        apiVersion: V1,
        spec: { interactive: false },
      });
      expect(await told({ apiVersion: 'client.authentication.k8s.io/v1beta1' })).toMatchObject({
        apiVersion: 'client.authentication.k8s.io/v1beta1',
      });
    });

    it('the cluster where `provideClusterInfo` says so, with what the kubeconfig keeps for it', async () => {
      const extensions = [
        { name: 'other', extension: { a: 1 } },
        { name: 'client.authentication.k8s.io/exec', extension: { audience: 'prod' } },
      ];
      const cluster = { 'certificate-authority': 'ca.pem', 'tls-server-name': 'api.example.com', extensions };
      expect(await told({ apiVersion: V1, provideClusterInfo: true }, cluster)).toEqual({
        kind: 'ExecCredential',
        apiVersion: V1,
        spec: {
          interactive: false,
          cluster: {
            server: 'SERVER',
            'tls-server-name': 'api.example.com',
            'certificate-authority-data': Buffer.from(AUTHORITY).toString('base64'),
            config: { audience: 'prod' },
          },
        },
      });
    });
  });

  it.each([
    ['Always', true],
    ['IfAvailable', true],
    ['Never', false],
  ])('lets a credential plugin with interactiveMode %s ask at a terminal: %s', async (interactiveMode, expected) => {
    const script = `
      const { interactive } = JSON.parse(process.env.KUBERNETES_EXEC_INFO).spec;
      console.log(JSON.stringify({ status: { token: String(interactive) } }));`;
    const exec = { command: process.execPath, args: ['-e', script], interactiveMode };
    const plugins = createExecPlugin(new Map([['u', exec]]), { hasTerminal: true });
    const request: RequestOptions = {};
    await plugins.applyAuthentication({ name: 'u' }, request);
    expect(request.headers).toEqual({ Authorization: `Bearer ${expected}` });
  });

  it('shows its client certificate and trusts the CA of the file', async () => {
    const ca = createCertificateAuthority();
    const serving = ca.issueServing();
    const client = ca.issueClient({ commonName: 'somebody' });
    const server = await serve((_, response) => json(response, 200, { gitVersion: 'v1.36.3' }), {
      cert: serving.certPem,
      key: serving.keyPem,
      ca: ca.certPem,
      requestCert: true,
      rejectUnauthorized: true,
    });
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const access = await loadKubeconfig(
      kubeconfig({
        server: server.url,
        cluster: { 'certificate-authority-data': base64(ca.certPem) },
        user: { 'client-certificate-data': base64(client.certPem), 'client-key-data': base64(client.keyPem) },
      }),
    );
    await checkReachable(transportFor(access), access);
    expect(server.requests).toHaveLength(1);
  });

  it('acts as whom the kubeconfig names, with groups, uid and extra', async () => {
    const server = await serve((_, response) => json(response, 200, { gitVersion: 'v1.36.3' }));
    const user = {
      as: 'jane',
      'as-uid': '42',
      'as-groups': ['dev', 'system:authenticated'],
      'as-user-extra': { 'example.com/scope': ['read', 'write'] },
    };
    const access = await loadKubeconfig(kubeconfig({ server: server.url, user }));
    await checkReachable(transportFor(access), access);
    expect(server.requests[0]?.headers).toMatchObject({
      'impersonate-user': 'jane',
      'impersonate-uid': '42',
      'impersonate-group': 'dev, system:authenticated',
      'impersonate-extra-example.com%2fscope': 'read, write',
    });
  });

  it.each([
    {
      what: 'groups of nobody',
      load: () => loadKubeconfig(kubeconfig({ user: { 'as-groups': ['dev'] } })),
      message: /^kubeconfig \S+: user u has as-uid, as-groups or as-user-extra without as, which names the user$/,
    },
    {
      what: 'groups that are no list',
      load: () => loadKubeconfig(kubeconfig({ user: { as: 'jane', 'as-groups': 'dev' } })),
      message: /^kubeconfig \S+: users\.0\.user\.as-groups is not as kubectl takes it$/,
    },
    {
      what: 'a file that is not there',
      load: () => loadKubeconfig('/nowhere/config'),
      message: /^kubeconfig \/nowhere\/config does not exist: give the path of one with --kubeconfig$/,
    },
    {
      what: 'a file that is no kubeconfig',
      load: () => loadKubeconfig(fileWith('{ [')),
      message: /^kubeconfig \S+ cannot be read: [^|]*\(\d+:\d+\)$/,
    },
    {
      what: 'a context that the file does not have',
      load: () => loadKubeconfig(kubeconfig({}), 'two'),
      message: /^kubeconfig \S+ has no context two: it has one, lost$/,
    },
    {
      what: 'no current context',
      load: () => loadKubeconfig(kubeconfig({ current: '' })),
      message: /^kubeconfig \S+ has no current context: choose one with --context, it has one, lost$/,
    },
    {
      what: 'a context without its cluster',
      load: () => loadKubeconfig(kubeconfig({}), 'lost'),
      message: /context lost names a cluster that the file does not have$/,
    },
    {
      what: 'a proxy that is no URL',
      load: () => loadKubeconfig(kubeconfig({ cluster: { 'proxy-url': 'nonsense' } })),
      message: /: the proxy-url of context one is "nonsense", not a URL of http, https or socks5$/,
    },
    {
      what: 'an auth-provider without its config',
      load: () => loadKubeconfig(kubeconfig({ user: { 'auth-provider': { name: 'gcp' } } })),
      message: /: the auth-provider gcp of context one has no config: use a credential plugin \(exec\)$/,
    },
    {
      what: 'a credential plugin that does not exist',
      load: () =>
        loadKubeconfig(
          kubeconfig({ user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'no-such-plugin' } } }),
        ),
      message: /^cannot get credentials for context one: .*no-such-plugin/,
    },
    {
      what: 'a credential plugin that says how it is installed',
      load: () => loadKubeconfig(withPlugin({ command: 'no-such-plugin', installHint: 'Run:\n  brew install it' })),
      message:
        /^cannot get credentials for context one: its credential plugin no-such-plugin is not installed: Run: brew install it$/,
    },
    {
      what: 'a credential plugin beside the kubeconfig that is not there',
      load: () => loadKubeconfig(withPlugin({ command: './plugin' })),
      message: /: its credential plugin \/\S+\/plugin is not installed: install it, or correct the kubeconfig$/,
    },
    {
      what: 'a credential plugin that nobody may run',
      load: () => loadKubeconfig(withPlugin({ command: './config' })),
      message: /: its credential plugin \/\S+\/config cannot be started: spawn \S+ EACCES$/,
    },
    {
      what: 'a credential plugin that wants a terminal',
      load: () => loadKubeconfig(withPlugin({ command: 'true', interactiveMode: 'Always' })),
      message: /: its credential plugin true asks questions \(interactiveMode: Always\): run this in a terminal$/,
    },
    {
      what: 'a credential plugin that gives no credential',
      load: () => loadKubeconfig(withPlugin({ command: 'echo', args: ['{"status":{"clientKeyData":"k"}}'] })),
      message:
        /: its credential plugin echo printed neither a token nor a client certificate with its key: run it by hand$/,
    },
    {
      what: 'a certificate authority that is not there',
      load: () => loadKubeconfig(kubeconfig({ cluster: { 'certificate-authority': 'gone.pem' } })),
      message:
        /^kubeconfig \S+: the certificate-authority of context one is \/\S+\/gone\.pem, which cannot be read: ENOENT/,
    },
    {
      what: 'a certificate authority that is none',
      load: () => loadKubeconfig(kubeconfig({ cluster: { 'certificate-authority': 'config' } })),
      message: /^kubeconfig \S+: the certificate-authority of context one has no certificate in PEM$/,
    },
    {
      what: 'certificate authority data that are none',
      load: () => loadKubeconfig(kubeconfig({ cluster: { 'certificate-authority-data': '###' } })),
      message: /^kubeconfig \S+: the certificate-authority-data of context one has no certificate in PEM$/,
    },
  ])('says in one line what is wrong with $what', async ({ load, message }) => {
    await expect(load()).rejects.toMatchObject({
      name: 'ClusterAccessError',
      message: expect.stringMatching(message),
    });
  });
});

describe('checkReachable', () => {
  it('says in one line that the client certificate is none', async () => {
    const user = { 'client-certificate-data': 'aGVsbG8=', 'client-key-data': 'aGVsbG8=' };
    const access = await loadKubeconfig(kubeconfig({ server: 'https://127.0.0.1:1', user }));
    await expect(checkReachable(transportFor(access), access)).rejects.toMatchObject({
      message: expect.stringMatching(/: client-certificate and client-key of the user must be PEM$/),
    });
  });

  it('says in one line that nobody answers', async () => {
    const access = await loadKubeconfig(kubeconfig({}));
    await expect(checkReachable(transportFor(access), access)).rejects.toMatchObject({
      name: 'ClusterAccessError',
      message:
        'http://127.0.0.1:1 (context one) cannot be reached: connect ECONNREFUSED 127.0.0.1:1: nothing listens there; does the cluster run? If so, correct the address in the kubeconfig',
    });
  });

  it.each([
    ['http://127.0.0.1:1', /ECONNREFUSED 127\.0\.0\.1:1: does the proxy run\? If so, correct proxy-url/],
    ['socks5://127.0.0.1:1', /ECONNREFUSED 127\.0\.0\.1:1: does the proxy run\? If so, correct proxy-url/],
  ])('says in one line that the proxy %s does not answer', async (proxy, message) => {
    const access = await loadKubeconfig(kubeconfig({ server: 'https://127.0.0.1:1', cluster: { 'proxy-url': proxy } }));
    await expect(checkReachable(transportFor(access), access)).rejects.toMatchObject({
      message: expect.stringMatching(message),
    });
  });

  it('takes an empty certificate-authority for none, as client-go does: the system says whom it trusts', async () => {
    const file = kubeconfig({ cluster: { 'certificate-authority': 'empty.pem' } });
    writeFileSync(join(dirname(file), 'empty.pem'), '');
    expect((await loadKubeconfig(file)).options.tls).not.toHaveProperty('ca');
    const empty = kubeconfig({ cluster: { 'certificate-authority': '' } });
    expect((await loadKubeconfig(empty)).options.tls).not.toHaveProperty('ca');
  });

  it('takes an empty proxy-url for none, as client-go does', async () => {
    const server = await serve((_, response) => json(response, 200, { gitVersion: 'v1.36.3' }));
    const access = await loadKubeconfig(kubeconfig({ server: server.url, cluster: { 'proxy-url': '' } }));
    await checkReachable(transportFor(access), access);
    expect(access.proxy).toBeUndefined();
  });

  it('says in one line that the server speaks no TLS', async () => {
    const server = await serve((_, response) => json(response, 200, {}));
    const access = await loadKubeconfig(kubeconfig({ server: server.url.replace('http:', 'https:') }));
    await expect(checkReachable(transportFor(access), access)).rejects.toMatchObject({
      message: expect.stringMatching(
        /\d: does the server speak TLS there\? If not, write http:\/\/ in the kubeconfig$/,
      ),
    });
  });

  it('says in one line that the server does not know us', async () => {
    const server = await serve((_, response) => json(response, 401, status(401, 'Unauthorized', 'Unauthorized')));
    const access = await loadKubeconfig(kubeconfig({ server: server.url }));
    await expect(checkReachable(transportFor(access), access)).rejects.toMatchObject({
      message: `${server.url} (context one) answered 401 Unauthorized: check the credentials in the kubeconfig`,
    });
  });

  it('says that the client certificate has expired, of which the server says nothing', async () => {
    const expiry = Math.floor(Date.now() / 1000) * 1000 - 60_000;
    const { certPem, keyPem } = createCertificateAuthority().issueClient({ commonName: 'jane' }, expiry);
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const user = { 'client-certificate-data': base64(certPem), 'client-key-data': base64(keyPem) };
    const server = await serve((_, response) => json(response, 401, status(401, 'Unauthorized', 'Unauthorized')));
    const access = await loadKubeconfig(kubeconfig({ server: server.url, user }));
    await expect(checkReachable(transportFor(access), access)).rejects.toMatchObject({
      message: `${server.url} (context one) answered 401 Unauthorized: the client certificate in the kubeconfig expired at ${new Date(expiry).toISOString()}, renew it`,
    });
  });
});
