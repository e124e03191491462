/** The process as it runs in the cluster, bundled as in its image, on loopback: API server, EventBridge, probes, signals. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { json, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { serveApiServer, type ServedApi } from '../../packages/kube-apiserver/src/http/server.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { clusterEventSchema } from '../../shared/contract/cluster-event.ts';
import { VERSION } from '../../shared/contract/version.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
const lineSchema = z.looseObject({ msg: z.string() });
const putEventsSchema = z.object({
  Entries: z.array(
    z.object({ EventBusName: z.string(), Source: z.string(), DetailType: z.string(), Detail: z.string() }),
  ),
});

let directory: string;
let core: ApiServerCore;
let api: ServedApi;
let eventBridge: Server;
let published: string[] = [];
let onPublished: (() => void)[] = [];
const children: ChildProcess[] = [];

/** PutEvents of EventBridge's JSON protocol: accepts everything. */
async function serveEventBridge(): Promise<Server> {
  const server = createServer((request, response) => {
    answerPutEvents(request, response).catch((error: unknown) => response.destroy(new Error(String(error))));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function answerPutEvents(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { Entries } = putEventsSchema.parse(await json(request));
  for (const entry of Entries) {
    const detail = clusterEventSchema.safeParse(JSON.parse(entry.Detail));
    const about = detail.success ? `${detail.data.change} ${detail.data.subject.name}` : '';
    published.push(`${entry.EventBusName} ${entry.Source} ${entry.DetailType} ${about}`.trim());
  }
  const answer = { FailedEntryCount: 0, Entries: Entries.map((_, index) => ({ EventId: `e${index}` })) };
  response.setHeader('content-type', 'application/x-amz-json-1.1');
  response.end(JSON.stringify(answer));
  for (const notify of onPublished.splice(0)) notify();
}

async function publishedLine(line: string): Promise<void> {
  while (!published.includes(line)) await new Promise<void>(resolve => onPublished.push(resolve));
}

function start(env: Record<string, string> = {}) {
  const address = eventBridge.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const child = spawn(
    process.execPath,
    [join(directory, 'dist/main.mjs'), '--health-host', '127.0.0.1', '--health-port', '0'],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        CLUSTER_NAME: 'test',
        EVENT_BUS_NAME: 'curfew',
        AWS_REGION: 'us-west-2',
        HEARTBEAT_SECONDS: '1',
        AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
        KUBECONFIG: join(directory, 'kubeconfig'),
        ...env,
      },
    },
  );
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    /** What it writes to stderr, whole, once it has ended. */
    complaint: text(child.stderr),
    /** Reads the log until a line with that message. */
    logged: async (message: string) => {
      for (;;) {
        const next = await lines.next();
        if (next.done === true) throw new Error(`the process ended before it said "${message}"`);
        const line = lineSchema.parse(JSON.parse(next.value));
        if (line.msg === message) return line;
      }
    },
  };
}

/** Exit code and complaint of a process that does not start. */
async function refusal(env: Record<string, string>): Promise<unknown[]> {
  const { child, complaint } = start(env);
  const [[code], message] = await Promise.all([once(child, 'close'), complaint]);
  return [code, message];
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'curfew-forwarder-'));
  const bundle = spawn(process.execPath, [join(ROOT, 'forwarder/bundle.ts'), join(directory, 'dist')], {
    stdio: 'inherit',
  });
  const [code]: unknown[] = await once(bundle, 'exit');
  if (code !== 0) throw new Error('bundling failed');
  core = createApiServer({ clock: systemClock });
  core.create(
    { group: '', version: 'v1', resource: 'namespaces' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'curfew' } },
  );
  core.create(RESOURCES.Node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
  api = await serveApiServer(core, { now: () => systemClock.now() });
  writeFileSync(join(directory, 'kubeconfig'), api.kubeconfig());
  eventBridge = await serveEventBridge();
});

afterEach(async () => {
  await Promise.all(
    children.splice(0).map(async child => {
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
    }),
  );
  published = [];
  onPublished = [];
});

afterAll(async () => {
  eventBridge.close();
  eventBridge.closeAllConnections();
  await api.close();
  rmSync(directory, { recursive: true });
});

describe('forwarder process', () => {
  it('forwards, answers probes, and ends in order on SIGTERM, its lease released', async () => {
    const { child, logged } = start({ LEASE_NAME: 'curfew-forwarder' });
    const { healthPort } = z
      .looseObject({ healthPort: z.number(), version: z.literal(VERSION) })
      .parse(await logged('started'));
    await logged('lease acquired');
    await publishedLine('curfew curfew.forwarder NodeChanged Added n1');
    await publishedLine('curfew curfew.forwarder ForwarderHeartbeat');
    expect((await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text();
    expect(metrics).toContain('curfew_forwarder_events_published_total{kind="Node",change="Added"} 1');
    expect(metrics).toContain('curfew_forwarder_leading 1');
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    const lease = core.get({ type: LEASES, namespace: 'curfew', name: 'curfew-forwarder' });
    expect(lease.spec).toMatchObject({ holderIdentity: '' });
  });

  it('publishes again what exists when it was killed and started anew', async () => {
    const first = start();
    await publishedLine('curfew curfew.forwarder NodeChanged Added n1');
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    published = [];
    start();
    await publishedLine('curfew curfew.forwarder NodeChanged Added n1');
    expect(published).not.toContain('curfew curfew.forwarder NodeChanged Modified n1');
  });

  it('says that the API server is too old for it', async () => {
    const old = createServer(({ url }, response) => {
      response.writeHead(url === '/version' ? 200 : 503).end(JSON.stringify({ gitVersion: 'v1.29.15-eks-1' }));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => {
      old.close();
      old.closeAllConnections();
    });
    await once(old, 'listening');
    const address = old.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const kubeconfig = join(directory, 'old');
    writeFileSync(kubeconfig, api.kubeconfig().replace(/https?:\/\/[^\s"]+/, `http://127.0.0.1:${port}`));
    const warning =
      'The cluster runs Kubernetes v1.29.15-eks-1: Curfew needs 1.30 or newer and is not tested on older releases.';
    expect(await start({ KUBECONFIG: kubeconfig }).logged(warning)).toMatchObject({ level: 40 });
  });

  it('refuses to start without its configuration, or without its cluster', async () => {
    expect(await refusal({ CLUSTER_NAME: '' })).toEqual([
      2,
      '--cluster-name (environment variable CLUSTER_NAME) must be set\n',
    ]);
    expect(await refusal({ KUBECONFIG: join(directory, 'missing') })).toEqual([
      2,
      expect.stringMatching(/^kubeconfig .*missing does not exist/),
    ]);
  });
});
