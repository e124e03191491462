/** The live page: on this machine, read only, for nobody else's pages. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLiveHistory } from '../../cli/start/live-history.ts';
import { followCluster } from '../../cli/start/live.ts';
import { recordObjects } from '../../simulator/object-history.ts';
import { recordRules } from '../../simulator/rules-in-force.ts';
import { createTrace } from '../../simulator/trace.ts';
import { createCluster } from '../../simulator/world.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { toEpochMs } from '../../shared/domain/time.ts';

const NOW = toEpochMs(Date.parse('2024-11-01T15:00:00Z'));
const core = createCluster({ now: () => NOW });
const live = followCluster(core, { now: () => NOW });
let page: Awaited<ReturnType<typeof live.listen>>;
beforeAll(async () => {
  core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
  page = await live.listen();
});
afterAll(() => page.close());

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Reads until `enough`, else to the end. */
function ask(
  path: string,
  {
    method = 'GET',
    headers = {},
    enough = () => false,
  }: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly enough?: (text: string) => boolean;
  } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, page.url), { method, headers }, response => {
      let text = '';
      const done = (): void => resolve({ status: response.statusCode, text, headers: response.headers });
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (!enough(text)) return;
        done();
        asked.destroy();
      });
      response.on('end', done);
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('the live page', () => {
  it('listens on this machine alone, and its address has no token', () => {
    expect(page.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  });

  it('is a page that connects to nothing but its own server', async () => {
    const { status, text, headers } = await ask('/');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
    });
    expect(text).toContain("default-src 'none'");
    expect(text).toContain("connect-src 'self'");
  });

  it('sends what is there, then what happens', async () => {
    const answer = ask('/events', { enough: text => text.includes('ZoneOutage') });
    live.hear({
      audit: true,
      function: 'repair',
      decision: 'blocked',
      reason: 'ZoneOutage',
      message: '7 of 7',
      kind: 'Node',
      name: 'n1',
    });
    const { text, headers } = await answer;
    expect(headers).toMatchObject({ 'content-type': 'text/event-stream' });
    const lines = text
      .split('\n\n')
      .filter(Boolean)
      .map(each => JSON.parse(each.slice('data: '.length)) as { kind: string; name?: string });
    expect(lines[0]).toMatchObject({ kind: 'trace', version: 1, source: 'live' });
    expect(lines.some(({ kind, name }) => kind === 'object' && name === 'n1')).toBe(true);
    expect(lines.at(-1)).toMatchObject({ kind: 'audit', reason: 'ZoneOutage', about: { kind: 'Node', name: 'n1' } });
  });

  it.each([
    ['another host', { host: 'evil.example' }, 403],
    ['another origin', { origin: 'https://evil.example' }, 403],
    ['an origin of another port', { origin: 'http://127.0.0.1:1' }, 403],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 403],
  ])('refuses %s', async (_, headers, status) => {
    expect((await ask('/', { headers })).status).toBe(status);
    expect((await ask('/events', { headers })).status).toBe(status);
  });

  it('can only be read', async () => {
    expect((await ask('/', { method: 'POST' })).status).toBe(405);
    expect((await ask('/etc/passwd')).status).toBe(404);
  });
});

describe('the history of the live page', () => {
  const heard = (name: string) => ({
    audit: true as const,
    function: 'repair' as const,
    decision: 'blocked',
    reason: 'ZoneOutage',
    message: '7 of 7',
    kind: 'Node',
    name,
  });

  it('forgets what happened long ago, and begins with how everything stands', () => {
    const own = createCluster({ now: () => NOW });
    const trace = createTrace(() => NOW);
    const history = createLiveHistory(trace, NOW, 10);
    recordObjects(own, trace, { objects: [] });
    const node = { type: RESOURCES.Node, name: 'n1' };
    own.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: { providerID: 'aws:///a/i-1' } });
    own.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } });
    own.patch(node, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } }, { user: 'admin' });
    own.delete({ type: RESOURCES.Node, name: 'n2' }, { user: 'admin' });
    for (let line = 0; line < 100; line += 1) {
      trace.addAudit(heard(`n${line}`));
      history.shorten();
    }
    expect(trace.entries).toHaveLength(10);
    expect(history.forgotten).toBeGreaterThan(90);
    const nodes = history.begin().filter(({ resource }) => resource === 'nodes');
    expect(nodes).toEqual([
      expect.objectContaining({
        name: 'n1',
        object: expect.objectContaining({
          spec: { providerID: 'aws:///a/i-1' },
          metadata: expect.objectContaining({ labels: { a: 'b' } }),
        }),
      }),
    ]);
    expect(nodes[0]).not.toHaveProperty('change');
  });

  it('forgets the rules of a pool that is gone, and hears them when it comes again', () => {
    const own = createCluster({ now: () => NOW });
    const trace = createTrace(() => NOW);
    const history = createLiveHistory(trace, NOW, 1);
    recordObjects(own, trace, { objects: [] });
    recordRules(own, trace);
    const rules = (): number => {
      for (let line = 0; line < 3; line += 1) trace.addAudit(heard('n1'));
      history.shorten();
      return history.begin().filter(({ kind }) => kind === 'rules').length;
    };
    const pool = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'p1' } };
    own.seed(pool);
    expect(rules()).toBe(1);
    own.delete({ type: RESOURCES.NodePool, name: 'p1' }, { user: 'admin' });
    expect(rules()).toBe(0);
    own.seed(pool);
    expect(rules()).toBe(1);
  });

  it('is sent to who comes late, with all that happened since', async () => {
    const late = followCluster(core, { now: () => NOW }, 5);
    const other = await late.listen();
    const lines = async (enough: string): Promise<readonly string[]> => {
      const { body } = await fetch(new URL('/events', other.url));
      let text = '';
      for await (const chunk of body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.includes(enough)) break;
      }
      return text.split('\n\n').filter(Boolean);
    };
    const reader = lines('"last"');
    for (let line = 0; line < 50; line += 1) late.hear(heard(`h${line}`));
    await vi.waitFor(async () => expect((await lines('"h49"')).some(line => line.includes('"h1"'))).toBe(false), 5000);
    late.hear(heard('last'));
    expect((await lines('"last"')).filter(line => line.includes('"n1"') && line.includes('"object"'))).not.toEqual([]);
    const all = await reader;
    for (let line = 0; line < 50; line += 1)
      expect(all.filter(each => each.includes(`"name":"h${line}"`))).toHaveLength(1);
    await other.close();
  });
});
