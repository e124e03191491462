import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serveTestCore, type Served } from './served-core.ts';

let served: Served;
beforeEach(async () => {
  served = await serveTestCore();
});
afterEach(async () => {
  await served.api.close();
});

async function statusOf(path: string, body: unknown): Promise<number> {
  return (await served.call('PUT', path, { body })).status;
}

const WIDGET = { kind: 'Widget', apiVersion: 'example.com/v1' };

async function createWidget(validation: string, body: unknown): Promise<Response> {
  return await served.call('POST', `/apis/example.com/v1/widgets?fieldValidation=${validation}`, { body });
}

describe('writing', () => {
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 1 } };

  test('a create answers 201, a second one 409', async () => {
    expect((await served.call('POST', '/apis/example.com/v1/widgets', { body: widget })).status).toBe(201);
    const again = await served.call('POST', '/apis/example.com/v1/widgets', { body: widget });
    expect(again.status).toBe(409);
    expect(await again.json()).toMatchObject({ kind: 'Status', reason: 'AlreadyExists' });
  });

  test('a body may be YAML 1.1', async () => {
    const body =
      'kind: Widget\napiVersion: example.com/v1\nmetadata:\n  name: a\n  labels: {b: "yes"}\nspec:\n  size: 0x10\n  color: 2026-01-01T00:00:00Z\n';
    const created = await served.call('POST', '/apis/example.com/v1/widgets', { body, type: 'application/yaml' });
    expect(created.status).toBe(201);
    expect(await created.json()).toMatchObject({
      kind: 'Widget',
      metadata: { labels: { b: 'yes' } },
      spec: { size: 16, color: '2026-01-01T00:00:00Z' },
    });
    const text = await served.call('POST', '/apis/example.com/v1/widgets', {
      body: 'kind: Widget\napiVersion: example.com/v1\nmetadata: {name: b}\nspec: {size: 1, color: 1:30}\n',
      type: 'application/yaml',
    });
    expect(await text.json()).toMatchObject({ spec: { color: '1:30' } });
  });

  test('each patch type goes by its content type', async () => {
    served.core.seed(widget);
    const path = '/apis/example.com/v1/widgets/w';
    const merge = await served.call('PATCH', path, {
      body: { spec: { size: 2 } },
      type: 'application/merge-patch+json',
    });
    expect(await merge.json()).toMatchObject({ spec: { size: 2 } });
    const json = await served.call('PATCH', path, {
      body: [{ op: 'add', path: '/spec/color', value: 'red' }],
      type: 'application/json-patch+json',
    });
    expect(await json.json()).toMatchObject({ spec: { size: 2, color: 'red' } });
    const strategic = await served.call('PATCH', '/api/v1/nodes/n1', {
      body: { metadata: { labels: { zone: 'b' } } },
      type: 'application/strategic-merge-patch+json; charset=utf-8',
    });
    expect(await strategic.json()).toMatchObject({ metadata: { labels: { zone: 'b' } } });
  });

  test('an apply creates with 201 and answers 200 afterwards; it needs a field manager', async () => {
    const path = '/apis/example.com/v1/widgets/w';
    const type = 'application/apply-patch+yaml';
    expect((await served.call('PATCH', path, { body: widget, type })).status).toBe(422);
    expect((await served.call('PATCH', `${path}?fieldManager=me`, { body: widget, type })).status).toBe(201);
    expect((await served.call('PATCH', `${path}?fieldManager=me`, { body: widget, type })).status).toBe(200);
    const other = { ...widget, spec: { size: 5 } };
    expect((await served.call('PATCH', `${path}?fieldManager=you`, { body: other, type })).status).toBe(409);
    expect((await served.call('PATCH', `${path}?fieldManager=you&force=true`, { body: other, type })).status).toBe(200);
  });

  test('the status is written at its own path only', async () => {
    served.core.seed(widget);
    const body = { spec: { size: 9 }, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    const type = 'application/merge-patch+json';
    const written = await served.call('PATCH', '/apis/example.com/v1/widgets/w/status', { body, type });
    expect(await written.json()).toMatchObject({ spec: { size: 1 }, status: { conditions: [{ status: 'True' }] } });
  });

  test('a dry run stores nothing', async () => {
    expect((await served.call('POST', '/apis/example.com/v1/widgets?dryRun=All', { body: widget })).status).toBe(201);
    expect((await served.call('GET', '/apis/example.com/v1/widgets/w')).status).toBe(404);
    expect((await served.call('POST', '/apis/example.com/v1/widgets?dryRun=Some', { body: widget })).status).toBe(422);
  });

  test('what contradicts the path is refused', async () => {
    expect(await statusOf('/api/v1/nodes/n1', { metadata: { name: 'n2' } })).toBe(400);
    expect(await statusOf('/api/v1/nodes/n1', { kind: 'Pod', metadata: { name: 'n1' } })).toBe(400);
    expect(await statusOf('/api/v1/nodes/n1', { apiVersion: 'v2', metadata: { name: 'n1' } })).toBe(400);
    const pod = { metadata: { name: 'web-0', namespace: 'default' } };
    expect(await statusOf('/api/v1/namespaces/prod/pods/web-0', pod)).toBe(400);
  });

  test('repeated fields are warned of, refused with Strict, and nobody is told with Ignore', async () => {
    const warned = await createWidget(
      'Warn',
      `{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a"},"spec":{"size":1,"size":2}}`,
    );
    expect([warned.status, warned.headers.get('warning')]).toEqual([201, '299 - "duplicate field \\"spec.size\\""']);
    expect(
      (
        await createWidget(
          'Strict',
          `{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"b"},"spec":{"size":1,"size":2}}`,
        )
      ).status,
    ).toBe(400);
    const ignored = await createWidget(
      'Ignore',
      `{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"c"},"spec":{"size":1,"size":2}}`,
    );
    expect([ignored.status, ignored.headers.get('warning')]).toEqual([201, null]);
  });

  test('unknown fields are warned of, and refused with Strict', async () => {
    const warned = await createWidget('Warn', { ...WIDGET, metadata: { name: 'a' }, spec: { size: 1, colour: 'red' } });
    expect([warned.status, warned.headers.get('warning')]).toEqual([201, '299 - "unknown field \\"spec.colour\\""']);
    expect(
      (await createWidget('Strict', { ...WIDGET, metadata: { name: 'b' }, spec: { size: 1, colour: 'red' } })).status,
    ).toBe(400);
  });
});

describe('deleting', () => {
  test('answers the object while finalizers keep it, else a Status', async () => {
    const kept = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'kept', finalizers: ['a.b/c'] } };
    served.core.seed(kept);
    expect(await (await served.call('DELETE', '/api/v1/nodes/kept')).json()).toMatchObject({ kind: 'Node' });
    expect(await (await served.call('DELETE', '/api/v1/nodes/n1')).json()).toMatchObject({
      kind: 'Status',
      status: 'Success',
    });
  });

  test('honours preconditions in the body and the grace period in the query', async () => {
    const wrong = await served.call('DELETE', '/api/v1/nodes/n1', { body: { preconditions: { uid: 'other' } } });
    expect(wrong.status).toBe(409);
    const path = '/api/v1/namespaces/prod/pods/web-0?gracePeriodSeconds=60';
    expect(await (await served.call('DELETE', path)).json()).toMatchObject({
      metadata: { deletionGracePeriodSeconds: 60 },
    });
  });

  test('a collection goes by selector', async () => {
    const path = '/api/v1/namespaces/prod/pods?fieldSelector=metadata.name%3Dweb-1&gracePeriodSeconds=0';
    const removed = await served.call('DELETE', path);
    expect(removed.status).toBe(200);
    expect(await served.json('/api/v1/pods')).toMatchObject({ items: [{ metadata: { name: 'web-0' } }] });
  });

  test('an eviction answers 201, or 429 while a budget forbids it, with Retry-After where the server knows one', async () => {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web-0', namespace: 'prod' } };
    const path = '/api/v1/namespaces/prod/pods/web-0/eviction';
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'prod', generation: 2 },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
    };
    const status = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2 };
    served.core.seed({ ...budget, status: { ...status, observedGeneration: 1 } });
    const unprocessed = await served.call('POST', path, { body: eviction });
    expect([unprocessed.status, unprocessed.headers.get('retry-after')]).toEqual([429, '10']);
    const budgets = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' };
    served.core.patch(
      { type: budgets, namespace: 'prod', name: 'web' },
      { type: 'merge', body: { status: { observedGeneration: 2 } } },
      { subresource: 'status' },
    );
    const refused = await served.call('POST', path, { body: eviction });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null]);
    expect(await refused.json()).toMatchObject({ details: { causes: [{ reason: 'DisruptionBudget' }] } });
    served.core.delete({ type: budgets, namespace: 'prod', name: 'web' });
    expect((await served.call('POST', path, { body: { ...eviction, metadata: { name: 'other' } } })).status).toBe(400);
    const evicted = await served.call('POST', path, { body: eviction });
    expect(evicted.status).toBe(201);
    expect(await evicted.json()).toMatchObject({ kind: 'Status', status: 'Success' });
  });
});
