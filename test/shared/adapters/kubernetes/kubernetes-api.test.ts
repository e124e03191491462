/** What the adapter sends, and what needs a server that misbehaves; the rest stands in the contract. */
import { describe, expect, it } from 'vitest';
import { createKubernetesApi } from '../../../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../../../shared/adapters/kubernetes/transport.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import { createManualClock } from '../../../fakes/manual-clock.ts';
import { json, serve, status, type Answering } from './scripted-server.ts';
import { objectsIn } from '../../../fakes/objects.ts';

async function apiWith(answer: Answering) {
  const server = await serve(answer);
  const transport = createTransport({ server: server.url, clock: createManualClock(), userAgent: 'curfew-test' });
  return { api: createKubernetesApi(transport), requests: server.requests };
}

const pod = { type: RESOURCES.Pod, namespace: 'prod', name: 'web-0' };
const node = (name: string) => ({ metadata: { name, resourceVersion: '7' } });
const listOf = (items: object[], metadata: object = {}) => ({
  kind: 'NodeList',
  apiVersion: 'v1',
  metadata: { resourceVersion: '9', ...metadata },
  items,
});

describe('KubernetesApi over HTTP', () => {
  it('evicts through policy/v1 with its preconditions', async () => {
    const { api, requests } = await apiWith((_, response) => json(response, 201, {}));
    await api.evict(pod, { preconditions: { uid: 'u1' } });
    expect(requests[0]).toMatchObject({ method: 'POST', url: '/api/v1/namespaces/prod/pods/web-0/eviction' });
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'web-0', namespace: 'prod' },
      deleteOptions: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'u1' } },
    });
  });

  it('deletes with preconditions and grace period', async () => {
    const { api, requests } = await apiWith((_, response) => json(response, 200, {}));
    await api.delete(pod, { preconditions: { uid: 'u1', resourceVersion: '5' }, gracePeriodSeconds: 0 });
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: 'u1', resourceVersion: '5' },
      gracePeriodSeconds: 0,
    });
  });

  it('deletes with what the object owns', async () => {
    const { api, requests } = await apiWith((_, response) => json(response, 200, {}));
    await api.delete(pod, { preconditions: { uid: 'u1' }, propagationPolicy: 'Background' });
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ propagationPolicy: 'Background' });
  });

  it('encodes what users may call things', async () => {
    const { api, requests } = await apiWith((_, response) => json(response, 404, status(404, 'NotFound', 'no')));
    await api.get({ type: RESOURCES.ConfigMap, namespace: 'a/b', name: '../x?y#z' });
    await api.list(RESOURCES.Node, { labelSelector: 'a in (b,c),d!=e' });
    expect(requests[0]?.url).toBe('/api/v1/namespaces/a%2Fb/configmaps/..%2Fx%3Fy%23z');
    expect(new URL(requests[1]?.url ?? '', 'http://x').searchParams.get('labelSelector')).toBe('a in (b,c),d!=e');
  });

  it.each([
    ['the page of a load balancer', 'text/html', '<html><body>404 Not Found</body></html>'],
    ['nothing', 'text/plain', ''],
    ['another proxy', 'application/json', '{"error":"no route"}'],
  ])('takes the 404 of %s for no answer: the object may be there', async (_, type, body) => {
    const { api } = await apiWith((_request, response) => {
      response.writeHead(404, { 'content-type': type }).end(body);
    });
    const unknown = { name: 'RetryableError', reason: 'Status404' };
    await expect(api.get(pod)).rejects.toMatchObject(unknown);
    await expect(api.list(RESOURCES.Node)).rejects.toMatchObject(unknown);
    await expect(api.resolve({ group: 'a.b', version: 'v1', kind: 'C' })).rejects.toMatchObject(unknown);
    const options = { preconditions: { uid: 'u1' } };
    const lost = { ...unknown, outcomeUnknown: true };
    await expect(api.evict(pod, options)).rejects.toMatchObject(lost);
    await expect(api.delete(pod, options)).rejects.toMatchObject(lost);
    await expect(api.patch(pod, { type: 'merge', body: {} })).rejects.toMatchObject(lost);
    await expect(api.create(RESOURCES.Pod, { apiVersion: 'v1', kind: 'Pod', metadata: {} })).rejects.toMatchObject(
      lost,
    );
  });

  it("believes the API server's own 404 for a path that it does not serve", async () => {
    const { api } = await apiWith((_, response) => {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
    });
    expect(await api.get(pod)).toEqual({ kind: 'notServed', type: RESOURCES.Pod });
    expect(await api.list(RESOURCES.Node)).toEqual({ kind: 'notServed', type: RESOURCES.Node });
  });

  it('tells a 404 for the name, which the API server names, from one for the kind', async () => {
    const said = [
      { ...status(404, 'NotFound', 'pods "web-0" not found'), details: { name: 'web-0', kind: 'pods' } },
      { ...status(404, 'NotFound', 'the server could not find the requested resource'), details: {} },
    ];
    const { api } = await apiWith((_, response, index) => json(response, 404, said[index]));
    expect(await api.get(pod)).toEqual({ kind: 'notThere' });
    expect(await api.get(pod)).toEqual({ kind: 'notServed', type: RESOURCES.Pod });
  });

  it('names the media type of each patch', async () => {
    const { api, requests } = await apiWith((_, response) =>
      json(response, 200, { kind: 'Pod', apiVersion: 'v1', ...node('web-0') }),
    );
    await api.patch(pod, { type: 'merge', body: {} });
    await api.patch(pod, { type: 'json', body: [] }, { subresource: 'status' });
    expect(requests.map(({ headers }) => headers['content-type'])).toEqual([
      'application/merge-patch+json',
      'application/json-patch+json',
    ]);
    expect(requests.map(({ url }) => url)).toEqual([
      '/api/v1/namespaces/prod/pods/web-0',
      '/api/v1/namespaces/prod/pods/web-0/status',
    ]);
  });

  it('reads all pages, 500 objects each, and fills in what list items lack', async () => {
    const { api, requests } = await apiWith((_, response, index) =>
      json(response, 200, index === 0 ? listOf([node('a')], { continue: 'next' }) : listOf([node('b')])),
    );
    expect(await objectsIn(api, RESOURCES.Node)).toEqual([
      { apiVersion: 'v1', kind: 'Node', ...node('a') },
      { apiVersion: 'v1', kind: 'Node', ...node('b') },
    ]);
    expect(requests.map(({ url }) => url)).toEqual([
      '/api/v1/nodes?limit=500',
      '/api/v1/nodes?limit=500&continue=next',
    ]);
  });

  it('starts again when the continue token has expired, and mixes no snapshots', async () => {
    const { api, requests } = await apiWith((_, response, index) => {
      if (index === 0) json(response, 200, listOf([node('old')], { continue: 'next' }));
      else if (index === 1) json(response, 410, status(410, 'Expired', 'too old'));
      else json(response, 200, listOf([node('new')]));
    });
    expect(await objectsIn(api, RESOURCES.Node)).toMatchObject([{ metadata: { name: 'new' } }]);
    expect(requests).toHaveLength(3);
  });

  it('gives up a list that keeps expiring', async () => {
    const { api, requests } = await apiWith((_, response, index) => {
      if (index % 2 === 0) json(response, 200, listOf([node('old')], { continue: 'next' }));
      else json(response, 410, status(410, 'Expired', 'too old'));
    });
    await expect(api.list(RESOURCES.Node)).rejects.toMatchObject({ name: 'RetryableError', reason: 'Expired' });
    expect(requests).toHaveLength(8);
  });

  it('reads pages of large objects without what the caller leaves unread, and keeps what it projects', async () => {
    const images = Array.from({ length: 200 }, (_, index) => ({ names: [`image-${index}`, 'é'.repeat(50)] }));
    const large = (name: string) => ({ ...node(name), status: { conditions: [{ type: 'Ready' }], images } });
    const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
    const { api } = await apiWith((_, response, index) =>
      json(response, 200, listOf(names.map(large), index === 0 ? { continue: 'next' } : {})),
    );
    const seen: unknown[] = [];
    const answer = await api.list(
      RESOURCES.Node,
      {},
      {
        unread: ['images'],
        project: object => {
          seen.push(object.status?.['images']);
          return { ...object, status: { conditions: object.status?.['conditions'] } };
        },
      },
    );
    expect(seen).toEqual(Array.from({ length: 20 }, () => []));
    expect(answer).toEqual({
      kind: 'there',
      objects: [...names, ...names].map(name => ({
        apiVersion: 'v1',
        kind: 'Node',
        ...node(name),
        status: { conditions: [{ type: 'Ready' }] },
      })),
    });
  });

  it('takes an empty list that Go writes as null', async () => {
    const { api } = await apiWith((_, response) => json(response, 200, { ...listOf([]), items: null }));
    expect(await objectsIn(api, RESOURCES.Node)).toEqual([]);
  });

  it.each(['<html>Welcome</html>', '{"kind":"Node"}', '[]'])('does not take %s for an object', async body => {
    const { api } = await apiWith((_, response) => response.writeHead(200).end(body));
    await expect(api.get(pod)).rejects.toMatchObject({ name: 'RetryableError', outcomeUnknown: false });
    await expect(api.list(RESOURCES.Node)).rejects.toMatchObject({ name: 'RetryableError' });
    await expect(api.patch(pod, { type: 'merge', body: {} })).rejects.toMatchObject({
      name: 'RetryableError',
      outcomeUnknown: true,
    });
  });
});
