/**
 * The forwarder as it is installed: the file of its image, with the environment of the Deployment that `kubectl apply -k` made, the rights of
 * its service account, credentials as Pod Identity gives them, and no file that it may write.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { listen } from '../../packages/local-aws/src/loopback.ts';
import { startEventBus, type LocalEventBus } from '../../packages/local-aws/src/event-bus.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { readAuditLog } from './end-to-end/audit-log.ts';
import { freePort, type Running } from './processes.ts';
import { startControlPlane, type ControlPlane } from './start.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const ACCOUNT = { name: 'system:serviceaccount:curfew:curfew-forwarder', groups: ['system:serviceaccounts'] };
const WAIT = { timeout: 30_000, interval: 100 };
const SETTINGS = { CLUSTER_NAME: 'prod', EVENT_BUS_NAME: 'bus', AWS_REGION: 'eu-west-1' };
const OVERLAY = (base: string): string =>
  JSON.stringify({
    resources: [base],
    configMapGenerator: [
      {
        name: 'curfew-forwarder-settings',
        namespace: 'curfew',
        behavior: 'merge',
        literals: Object.entries(SETTINGS).map(([name, value]) => `${name}=${value}`),
      },
    ],
  });

const deploymentSchema = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        containers: z.tuple([
          z.object({
            envFrom: z.tuple([z.object({ configMapRef: z.object({ name: z.string() }) })]),
            env: z.array(z.object({ name: z.string(), value: z.string().optional() })),
            securityContext: z.object({ readOnlyRootFilesystem: z.literal(true) }),
          }),
        ]),
      }),
    }),
  }),
});

let folder: string;
let plane: ControlPlane;
let bus: LocalEventBus;
let podIdentity: Server;
let podIdentityPort: number;
/** Detail-types. */
const published: string[] = [];
/** With which the forwarder asked for credentials. */
const tokens = new Set<string | undefined>();

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'curfew-installed-')));
  plane = await startControlPlane({ users: [ACCOUNT], audit: true });
  bus = await startEventBus({
    model: {
      region: SETTINGS.AWS_REGION,
      account: '123456789012',
      buses: [SETTINGS.EVENT_BUS_NAME],
      rules: [
        {
          name: 'all',
          arn: 'all',
          busName: SETTINGS.EVENT_BUS_NAME,
          pattern: { source: ['curfew.forwarder'] },
          targets: [{ queueName: 'all', deadLetterQueueName: 'dead' }],
        },
      ],
    },
    clock: systemClock,
    send: async (_queue, body) => {
      published.push(z.object({ 'detail-type': z.string() }).parse(JSON.parse(body))['detail-type']);
    },
  });
  podIdentity = createServer((request, response) => {
    tokens.add(request.headers.authorization);
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        AccessKeyId: 'a',
        SecretAccessKey: 'b',
        Token: 'c',
        Expiration: '2999-01-01T00:00:00Z',
        AccountId: '123456789012',
      }),
    );
  });
  podIdentityPort = await listen(podIdentity);
});
afterAll(async () => {
  await plane?.stop();
  await bus?.stop();
  podIdentity?.close();
  rmSync(folder, { recursive: true, force: true });
});

function kubectl(...parameters: string[]): string {
  const { kubectl: command = 'kubectl', adminKubeconfig } = plane;
  const { status, stdout, stderr } = spawnSync(command, ['--kubeconfig', adminKubeconfig, ...parameters], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
}

/** What a kubelet would make of the Deployment. */
function environmentOfPod(): Record<string, string> {
  const text = kubectl('get', '-n', 'curfew', 'deployment', 'curfew-forwarder', '-o', 'json');
  const [{ envFrom, env }] = deploymentSchema.parse(JSON.parse(text)).spec.template.spec.containers;
  const settings = kubectl('get', '-n', 'curfew', 'configmap', envFrom[0].configMapRef.name, '-o', 'json');
  const { data } = z.object({ data: z.record(z.string(), z.string()) }).parse(JSON.parse(settings));
  // Without a value it is the namespace's name.
  return { ...data, ...Object.fromEntries(env.map(({ name, value = 'curfew' }) => [name, value])) };
}

async function startPod(name: string): Promise<{ running: Running; get: (path: string) => Promise<string> }> {
  const port = await freePort();
  const get = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  const program = {
    name,
    file: process.execPath,
    args: ['--permission', '--allow-fs-read=*', join(folder, 'dist', 'main.mjs')],
    env: {
      ...environmentOfPod(),
      KUBECONFIG: plane.kubeconfigFor(ACCOUNT.name, ACCOUNT.groups),
      HEALTH_HOST: '127.0.0.1',
      HEALTH_PORT: String(port),
      AWS_ENDPOINT_URL_EVENTBRIDGE: bus.endpoint,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${podIdentityPort}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(folder, 'token'),
    },
  };
  return { running: await plane.run(program, async () => (await get('/livez')) === 'ok\n'), get };
}

const holder = (): string =>
  kubectl(
    'get',
    '-n',
    'curfew',
    'lease',
    'curfew-forwarder',
    '--ignore-not-found',
    '-o',
    'jsonpath={.spec.holderIdentity}',
  );

it('takes its Lease, sees all it needs, publishes, and hands over when it is ended', async () => {
  const bundled = spawnSync(process.execPath, [join(ROOT, 'forwarder', 'bundle.ts'), join(folder, 'dist')]);
  expect(bundled.status).toBe(0);
  writeFileSync(join(folder, 'token'), 'token-of-the-pod');
  writeFileSync(join(folder, 'kustomization.yaml'), OVERLAY(relative(folder, join(ROOT, 'deploy'))));
  kubectl('apply', '-k', folder);

  const first = await startPod('first');
  await vi.waitFor(() => expect(holder()).not.toBe(''), WAIT);
  await vi.waitFor(async () => expect(await first.get('/readyz')).toBe('ok\n'), WAIT);
  await vi.waitFor(() => expect(published).toContain('ConfigMapChanged'), WAIT);
  expect([...tokens]).toEqual(['token-of-the-pod']);

  // What a drain needs to see besides.
  kubectl(
    'create',
    '-f',
    manifest({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1', annotations: { 'curfew.dev/watch-pods': 'drain' } },
    }),
  );
  const isWatched = /resource_synced\{resource="(poddisruptionbudgets|volumeattachments)"\} 1/g;
  await vi.waitFor(async () => expect((await first.get('/metrics')).match(isWatched)).toHaveLength(2), WAIT);

  const second = await startPod('second');
  expect(await second.get('/readyz')).toBe('ok\n');
  const before = holder();
  await first.running.stop();
  expect(first.running.ended()).toBe('ended with code 0');
  await vi.waitFor(async () => expect(await second.get('/metrics')).toMatch(/^curfew_forwarder_leading 1$/m), WAIT);
  expect(holder()).not.toBe(before);

  const requests = readAuditLog(plane.auditLog ?? '').filter(({ user }) => user === ACCOUNT.name);
  expect(requests.length).toBeGreaterThan(10);
  expect(requests.filter(({ allowed }) => !allowed)).toEqual([]);
});

function manifest(object: object): string {
  const file = join(folder, 'object.json');
  writeFileSync(file, JSON.stringify(object));
  return file;
}
