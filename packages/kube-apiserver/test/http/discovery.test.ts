import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFields } from '../../src/http/protobuf/wire.ts';
import { compareVersions } from '../../src/http/served-resources.ts';
import { serveTestCore, type Served } from './served-core.ts';

let served: Served;
beforeAll(async () => {
  served = await serveTestCore();
});
afterAll(async () => {
  await served.api.close();
});

describe('discovery', () => {
  test('tells the version and that the server is well', async () => {
    expect(await served.json('/version')).toMatchObject({
      gitVersion: expect.stringMatching(/^v1\.\d+\.\d+\+curfew$/),
    });
    for (const path of ['/healthz', '/livez', '/readyz?verbose', '/livez/ping']) {
      const response = await served.call('GET', path);
      expect([response.status, await response.text()]).toEqual([200, 'ok']);
    }
  });

  test('lists groups and the resources of each, custom ones too', async () => {
    expect(await served.json('/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    expect(await served.json('/apis')).toMatchObject({
      kind: 'APIGroupList',
      groups: expect.arrayContaining([
        {
          name: 'example.com',
          versions: [{ groupVersion: 'example.com/v1', version: 'v1' }],
          preferredVersion: { groupVersion: 'example.com/v1', version: 'v1' },
        },
      ]),
    });
    expect(await served.json('/apis/example.com')).toMatchObject({ kind: 'APIGroup', name: 'example.com' });
    expect(await served.json('/apis/example.com/v1')).toMatchObject({
      kind: 'APIResourceList',
      groupVersion: 'example.com/v1',
      resources: [
        {
          name: 'widgets',
          singularName: 'widget',
          namespaced: false,
          kind: 'Widget',
          shortNames: ['wd'],
          categories: ['toys'],
        },
        { name: 'widgets/status', kind: 'Widget', verbs: ['get', 'patch', 'update'] },
      ],
    });
  });

  test('says that evictions are of policy/v1, so that drains use them', async () => {
    expect(await served.json('/api/v1')).toMatchObject({
      resources: expect.arrayContaining([
        {
          name: 'pods/eviction',
          singularName: '',
          namespaced: true,
          group: 'policy',
          version: 'v1',
          kind: 'Eviction',
          verbs: ['create'],
        },
      ]),
    });
  });

  test('comes aggregated to clients that prefer it', async () => {
    const accept =
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';
    const response = await served.call('GET', '/apis', { headers: { accept } });
    expect(response.headers.get('content-type')).toBe(
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    );
    expect(await response.json()).toMatchObject({
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      items: expect.arrayContaining([
        {
          metadata: { name: 'example.com' },
          versions: [
            {
              version: 'v1',
              freshness: 'Current',
              resources: [
                expect.objectContaining({
                  resource: 'widgets',
                  responseKind: { group: 'example.com', version: 'v1', kind: 'Widget' },
                  scope: 'Cluster',
                }),
              ],
            },
          ],
        },
      ]),
    });
    const core = await served.json('/api', { accept });
    expect(core).toMatchObject({ items: [{ versions: [{ version: 'v1' }] }] });
  });

  test('orders versions by stability, then by number', () => {
    const versions = ['v1alpha1', 'v2beta1', 'v10', 'v1', 'foo', 'v1beta2', 'v2'];
    expect(versions.toSorted(compareVersions)).toEqual(['v10', 'v2', 'v1', 'v2beta1', 'v1beta2', 'v1alpha1', 'foo']);
  });
});

describe('OpenAPI', () => {
  test('indexes a document for each group and version, with a hash that changes with its resources', async () => {
    const hashed = /^\/openapi\/v3\/apis\/example\.com\/v1\?hash=[0-9A-F]{32}$/;
    const index = await served.json('/openapi/v3');
    expect(index).toMatchObject({
      paths: {
        'api/v1': { serverRelativeURL: expect.stringContaining('/openapi/v3/api/v1?hash=') },
        'apis/example.com/v1': { serverRelativeURL: expect.stringMatching(hashed) },
      },
    });
  });

  test('describes custom resources by their schema and names the parameters of a patch', async () => {
    const document = await served.json('/openapi/v3/apis/example.com/v1');
    const gvk = { group: 'example.com', version: 'v1', kind: 'Widget' };
    expect(document).toMatchObject({
      openapi: '3.0.0',
      components: {
        schemas: {
          'com.example.v1.Widget': {
            description: 'Widget is a thing for tests.',
            properties: { spec: { properties: { size: { type: 'integer', description: 'How large it is.' } } } },
            'x-kubernetes-group-version-kind': [gvk],
          },
        },
      },
      paths: {
        '/apis/example.com/v1/widgets/{name}': {
          patch: {
            'x-kubernetes-group-version-kind': gvk,
            parameters: expect.arrayContaining([
              expect.objectContaining({ name: 'fieldValidation', in: 'query' }),
              expect.objectContaining({ name: 'dryRun', in: 'query' }),
            ]),
          },
        },
      },
    });
  });

  test('resolves every reference inside its document', async () => {
    for (const path of ['/openapi/v3/api/v1', '/openapi/v3/apis/example.com/v1', '/openapi/v3/apis/apps/v1']) {
      const document = await served.json(path);
      const text = JSON.stringify(document);
      const references = new Set(text.match(/#\/components\/schemas\/[^"]+/g));
      expect(references.size).toBeGreaterThan(2);
      for (const reference of references) {
        expect(document).toHaveProperty(['components', 'schemas', reference.slice('#/components/schemas/'.length)]);
      }
    }
  });

  test('v2 is empty, as JSON and as the protobuf that kubectl asks for', async () => {
    expect(await served.json('/openapi/v2')).toMatchObject({ swagger: '2.0' });
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const response = await served.call('GET', '/openapi/v2', { headers: { accept } });
    expect(response.headers.get('content-type')).toBe(accept.replace('@', '.'));
    const fields = readFields(new Uint8Array(await response.arrayBuffer()));
    expect(fields.map(({ number }) => number)).toEqual([1, 2, 8]);
    expect((await served.call('GET', '/openapi/v3', { headers: { accept } })).status).toBe(406);
  });
});

async function post(path: string, body: unknown, headers = {}): Promise<unknown> {
  const response = await served.call('POST', path, { body, headers });
  expect(response.status).toBe(201);
  const answer: unknown = await response.json();
  return answer;
}

describe('reviews', () => {
  test('allow everything where nothing is checked', async () => {
    const spec = { resourceAttributes: { verb: 'delete', resource: 'nodes' } };
    const answer = await post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec });
    expect(answer).toMatchObject({ kind: 'SelfSubjectAccessReview', spec, status: { allowed: true } });
    const local = '/apis/authorization.k8s.io/v1/namespaces/prod/localsubjectaccessreviews';
    const subject = { user: 'jane', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'prod' } };
    expect(await post(local, { spec: subject })).toMatchObject({ status: { allowed: true } });
    const rules = await post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'prod' } });
    expect(rules).toMatchObject({ status: { resourceRules: [{ verbs: ['*'] }] } });
  });

  test('say who asks and whose a token is', async () => {
    const self = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    expect(await post(self, {}, { 'impersonate-user': 'bob' })).toMatchObject({
      status: { userInfo: { username: 'bob' } },
    });
    const tokens = '/apis/authentication.k8s.io/v1/tokenreviews';
    expect(await post(tokens, { spec: { token: 'user:x' } })).toMatchObject({
      status: { authenticated: true, user: { username: 'x' } },
    });
    expect((await served.call('POST', tokens, { body: { spec: {} } })).status).toBe(400);
  });

  test('cannot be read', async () => {
    expect((await served.call('GET', '/apis/authentication.k8s.io/v1/selfsubjectreviews')).status).toBe(405);
  });
});
