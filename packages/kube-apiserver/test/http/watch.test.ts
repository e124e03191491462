import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serveTestCore, type Served } from './served-core.ts';
import { watchLines, type WatchLines } from './watch-lines.ts';

let served: Served;
beforeEach(async () => {
  served = await serveTestCore();
});
afterEach(async () => {
  await served.api.close();
});

const nodes = { group: '', version: 'v1', resource: 'nodes' };

async function watch(path: string, headers: Record<string, string> = {}): Promise<WatchLines> {
  return await watchLines(await served.call('GET', path, { headers }));
}

function label(name: string, value: string): void {
  served.core.patch({ type: nodes, name }, { type: 'merge', body: { metadata: { labels: { step: value } } } });
}

describe('a watch', () => {
  test('streams what happens after its version, deletes included', async () => {
    const events = await watch(`/api/v1/nodes?watch=1&resourceVersion=${served.core.resourceVersion}`);
    served.core.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } });
    label('n2', 'one');
    served.core.delete({ type: nodes, name: 'n2' });
    expect(await events.next()).toMatchObject({ type: 'ADDED', object: { kind: 'Node', metadata: { name: 'n2' } } });
    expect(await events.next()).toMatchObject({ type: 'MODIFIED', object: { metadata: { labels: { step: 'one' } } } });
    expect(await events.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'n2' } } });
  });

  test('starts with what exists when it has no version', async () => {
    const events = await watch('/api/v1/nodes?watch=true');
    expect(await events.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'n1' } } });
  });

  test('of a namespace with selectors sees what they select', async () => {
    const version = served.core.resourceVersion;
    const query = `watch=1&resourceVersion=${version}&labelSelector=app%3Ddb`;
    const events = await watch(`/api/v1/namespaces/prod/pods?${query}`);
    const pods = { group: '', version: 'v1', resource: 'pods' };
    const pod = (name: string, namespace: string, app: string) =>
      served.core.create(
        pods,
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name, namespace, labels: { app } },
          spec: { containers: [{ name: 'c', image: 'i' }] },
        },
        { namespace },
      );
    pod('a', 'default', 'db');
    pod('b', 'prod', 'web');
    pod('c', 'prod', 'db');
    expect(await events.next()).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name: 'c', namespace: 'prod' } },
    });
  });

  test('from a version that is too old is one ERROR event with status 410', async () => {
    const old = served.core.resourceVersion;
    label('n1', 'one');
    served.core.compact();
    const events = await watch(`/api/v1/nodes?watch=1&resourceVersion=${old}`);
    expect(events.status).toBe(200);
    expect(await events.rest()).toMatchObject([
      { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } },
    ]);
  });

  test('is refused as YAML, and with options that contradict each other', async () => {
    const yaml = await served.call('GET', '/api/v1/nodes?watch=1', { headers: { accept: 'application/yaml' } });
    expect(yaml.status).toBe(406);
    expect((await served.call('GET', '/api/v1/nodes?watch=1&sendInitialEvents=true')).status).toBe(422);
    expect((await served.call('GET', '/api/v1/nodes?watch=1&resourceVersionMatch=NotOlderThan')).status).toBe(422);
  });

  test('with a bad selector is refused before it starts', async () => {
    expect((await served.call('GET', '/api/v1/nodes?watch=1&labelSelector=%3D%3D')).status).toBe(400);
  });

  test('gets bookmarks when it allows them, one more when its time is over, and ends then', async () => {
    const version = served.core.resourceVersion;
    const query = `watch=1&resourceVersion=${version}&timeoutSeconds=5`;
    const allowing = await watch(`/api/v1/nodes?${query}&allowWatchBookmarks=true`);
    const plain = await watch(`/api/v1/nodes?${query}`);
    served.timers.tick();
    expect(await allowing.next()).toMatchObject({
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: version } },
    });
    served.core.create(
      { group: '', version: 'v1', resource: 'namespaces' },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } },
    );
    served.timers.expire();
    expect(await allowing.rest()).toMatchObject([
      { type: 'BOOKMARK', object: { kind: 'Node', metadata: { resourceVersion: served.core.resourceVersion } } },
    ]);
    expect(await plain.rest()).toEqual([]);
  });

  test('with sendInitialEvents marks the end of what exists', async () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const events = await watch(`/api/v1/nodes?${query}`);
    expect(await events.next()).toMatchObject({ type: 'ADDED' });
    expect(await events.next()).toMatchObject({
      type: 'BOOKMARK',
      object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
  });

  test('comes as tables, the columns in the first event only', async () => {
    const events = await watch('/api/v1/nodes?watch=1', { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    expect(await events.next()).toMatchObject({
      type: 'ADDED',
      object: { kind: 'Table', columnDefinitions: [{ name: 'Name' }, {}, {}, {}, {}, {}, {}, {}, {}, {}], rows: [{}] },
    });
    served.core.patch({ type: nodes, name: 'n1' }, { type: 'merge', body: { spec: { unschedulable: true } } });
    const second = await events.next();
    expect(second).toMatchObject({ type: 'MODIFIED', object: { columnDefinitions: null } });
    expect(second).toHaveProperty('object.rows.0.cells.1', 'Ready,SchedulingDisabled');
  });

  test('is forgotten when its client hangs up', async () => {
    const events = await watch('/api/v1/nodes?watch=1');
    expect(served.timers.pending).toBe(1);
    await events.stop();
    await served.timers.idle();
    expect(served.timers.pending).toBe(0);
  });

  test('breaks when watches are dropped, and a new one resumes', async () => {
    const version = served.core.resourceVersion;
    const events = await watch(`/api/v1/nodes?watch=1&resourceVersion=${version}`);
    served.api.dropWatches();
    await expect(events.next()).rejects.toThrow('terminated');
    label('n1', 'one');
    const resumed = await watch(`/api/v1/nodes?watch=1&resourceVersion=${version}`);
    expect(await resumed.next()).toMatchObject({ type: 'MODIFIED' });
  });
});

describe('a watch whose client does not read', () => {
  test('is cut when too much is unsent', async () => {
    await served.api.close();
    served = await serveTestCore({ maxUnsentBytes: 64 * 1024 });
    const response = await served.call('GET', '/api/v1/nodes?watch=1');
    const large = 'x'.repeat(200_000);
    for (let step = 0; step < 200 && served.timers.pending > 0; step += 1) {
      served.core.patch(
        { type: nodes, name: 'n1' },
        { type: 'merge', body: { metadata: { annotations: { large: large + String(step) } } } },
      );
    }
    expect(served.timers.pending).toBe(0);
    await expect(response.text()).rejects.toThrow('terminated');
  });

  test('may be behind by all that existed at its start', async () => {
    await served.api.close();
    served = await serveTestCore({ maxUnsentBytes: 64 * 1024 });
    for (let index = 0; index < 40; index += 1) {
      served.core.seed({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: `big-${index}`, annotations: { a: 'x'.repeat(200_000) } },
      });
    }
    const events = await watch('/api/v1/nodes?watch=1');
    for (let index = 0; index < 41; index += 1) expect(await events.next()).toMatchObject({ type: 'ADDED' });
  });
});
