import { afterEach, describe, expect, it } from 'vitest';
import { startHealthServer, type HealthServer } from '../../forwarder/health.ts';
import { METRICS } from '../../forwarder/metric-names.ts';
import { createPrometheusMetrics } from '../../forwarder/prometheus.ts';
import { toDurationMs } from '../../shared/domain/time.ts';
import type { ForwarderStats } from '../../forwarder/stats.ts';

const STATS: ForwarderStats = {
  resources: [
    {
      resource: 'nodes',
      optional: false,
      state: 'synced',
      objects: 3,
      staleness: toDurationMs(12_000),
      problem: undefined,
    },
    {
      resource: 'nodeclaims',
      optional: false,
      state: 'notServed',
      objects: 0,
      staleness: toDurationMs(0),
      problem: undefined,
    },
  ],
  queueDepth: 7,
  bus: undefined,
};

let server: HealthServer | undefined;
let reasons: string[] = [];
let stats: ForwarderStats | undefined = STATS;

const readiness = () => ({ ready: reasons.length === 0, reasons });

async function serve() {
  const { registry, sink } = createPrometheusMetrics(() => stats);
  server = await startHealthServer({ port: 0, host: '127.0.0.1', ready: readiness, metrics: registry });
  const { port } = server;
  return { sink, get: (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init) };
}

describe('health endpoint', () => {
  afterEach(async () => {
    await server?.close();
    reasons = [];
    stats = STATS;
  });

  it('is alive as long as it answers, and ready only without a reason against it', async () => {
    const { get } = await serve();
    expect((await get('/livez')).status).toBe(200);
    expect((await get('/readyz')).status).toBe(200);
    reasons = ['nodes: not listed yet', 'pods: not listed yet'];
    const answer = await get('/readyz');
    expect(answer.status).toBe(503);
    expect(await answer.text()).toBe('nodes: not listed yet\npods: not listed yet\n');
    expect((await get('/livez')).status).toBe(200);
  });

  it('knows nothing else', async () => {
    const { get } = await serve();
    expect((await get('/')).status).toBe(404);
    expect((await get('/livez', { method: 'POST' })).status).toBe(405);
    expect((await get('//')).status).toBe(404);
  });

  it('adds up what is counted between two scrapes, each set of labels by itself', async () => {
    const { get, sink } = await serve();
    const scrape = async (): Promise<string[]> =>
      (await (await get('/metrics')).text()).split('\n').filter(line => line.startsWith('curfew_forwarder_events_'));
    sink.count('EventsSeen', 1, { resource: 'nodes' });
    sink.count('EventsSeen', 1, { resource: 'nodes' });
    sink.count('EventsPublished', 1, { change: 'Added', kind: 'Node' });
    sink.count('EventsPublished', 1, { kind: 'Node', change: 'Added' });
    expect(await scrape()).toContain('curfew_forwarder_events_seen_total{resource="nodes"} 2');
    sink.count('EventsSeen', 3, { resource: 'nodes' });
    sink.count('EventsSeen', 1, { resource: 'pods' });
    const lines = await scrape();
    expect(lines).toContain('curfew_forwarder_events_seen_total{resource="nodes"} 5');
    expect(lines).toContain('curfew_forwarder_events_seen_total{resource="pods"} 1');
    expect(lines.filter(line => line.startsWith('curfew_forwarder_events_published_total'))).toEqual([
      expect.stringMatching(/ 2$/),
    ]);
    expect(await scrape()).toEqual(lines);
  });

  it('shows counts, durations and the state of each resource to Prometheus', async () => {
    const { get, sink } = await serve();
    sink.count('EventsSeen', 2, { resource: 'nodes' });
    sink.count('EventsPublished', 1, { kind: 'Node', change: 'Added' });
    sink.milliseconds('PublishDelay', 40);
    const lines = (await (await get('/metrics')).text()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'curfew_forwarder_events_seen_total{resource="nodes"} 2',
        'curfew_forwarder_events_published_total{kind="Node",change="Added"} 1',
        'curfew_forwarder_publish_delay_seconds_bucket{le="0.05"} 1',
        'curfew_forwarder_publish_delay_seconds_bucket{le="0.025"} 0',
        'curfew_forwarder_leading 1',
        'curfew_forwarder_queue_depth 7',
        'curfew_forwarder_staleness_seconds{resource="nodes"} 12',
        'curfew_forwarder_objects{resource="nodes"} 3',
        'curfew_forwarder_resource_synced{resource="nodeclaims"} 0',
      ]),
    );
  });

  it('shows no resources while it stands by', async () => {
    stats = undefined;
    const { get } = await serve();
    const text = await (await get('/metrics')).text();
    expect(text).toContain('curfew_forwarder_leading 0');
    expect(text).not.toContain('curfew_forwarder_objects{');
  });

  it('has a metric for every name that is counted', async () => {
    const { get } = await serve();
    const text = await (await get('/metrics')).text();
    for (const { help } of Object.values(METRICS)) expect(text).toContain(help);
  });
});
