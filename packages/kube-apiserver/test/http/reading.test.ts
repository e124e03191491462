import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serveTestCore, type Served } from './served-core.ts';

let served: Served;
beforeEach(async () => {
  served = await serveTestCore();
});
afterEach(async () => {
  await served.api.close();
});

const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

describe('reading', () => {
  test('an object comes as it is stored', async () => {
    expect(await served.json('/api/v1/nodes/n1')).toMatchObject({ kind: 'Node', metadata: { name: 'n1' } });
  });

  test('a list has the kind of its resource; built-in items leave kind and apiVersion out, custom resources keep them', async () => {
    served.core.seed({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 1 } });
    const nodes = await served.json('/api/v1/nodes');
    expect(nodes).toMatchObject({ kind: 'NodeList', apiVersion: 'v1', items: [{ metadata: { name: 'n1' } }] });
    expect(nodes).not.toMatchObject({ items: [{ kind: 'Node' }] });
    expect(await served.json('/apis/example.com/v1/widgets')).toMatchObject({
      kind: 'WidgetList',
      items: [{ kind: 'Widget' }],
    });
  });

  test('namespaced paths, selectors and pages select', async () => {
    const names = async (path: string): Promise<string[]> =>
      JSON.stringify(await served.json(path)).match(/"name":"web-\d"/g) ?? [];
    expect(await names('/api/v1/pods')).toHaveLength(2);
    expect(await names('/api/v1/namespaces/prod/pods')).toHaveLength(2);
    expect(await names('/api/v1/namespaces/default/pods')).toHaveLength(0);
    expect(await names('/api/v1/pods?labelSelector=app%3Ddb')).toHaveLength(0);
    expect(await names('/api/v1/pods?fieldSelector=metadata.name%3Dweb-1')).toHaveLength(1);
    const first = await served.json('/api/v1/pods?limit=1');
    expect(first).toMatchObject({ metadata: { remainingItemCount: 1 }, items: [{ metadata: { name: 'web-0' } }] });
  });

  test('YAML and pretty JSON come on request', async () => {
    const yaml = await served.call('GET', '/api/v1/nodes/n1', { headers: { accept: 'application/yaml' } });
    expect(yaml.headers.get('content-type')).toBe('application/yaml');
    expect(await yaml.text()).toContain('kind: Node');
    expect(await (await served.call('GET', '/api/v1/nodes/n1?pretty=true')).text()).toContain('\n  "kind": "Node"');
  });

  test('metadata alone comes on request', async () => {
    const partial = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' };
    const list = await served.json('/api/v1/nodes', partial);
    expect(list).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'n1' } }],
    });
    expect(list).not.toHaveProperty('items.0.status');
    const one = await served.call('GET', '/api/v1/nodes/n1', { headers: partial });
    expect(one.status).toBe(406);
  });

  test('a table has a row for each object, with as much of it as was asked for', async () => {
    served.advance(60_000);
    const metadataRow = await served.json('/api/v1/nodes', table);
    expect(metadataRow).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      columnDefinitions: [
        { name: 'Name', format: 'name' },
        { name: 'Status' },
        {},
        { name: 'Age' },
        {},
        {},
        {},
        {},
        {},
        {},
      ],
      rows: [
        {
          cells: ['n1', 'Ready', '<none>', '60s', 'v1.36.0', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>'],
        },
      ],
    });
    expect(metadataRow).toMatchObject({ rows: [{ object: { kind: 'PartialObjectMetadata' } }] });
    expect(await served.json('/api/v1/nodes/n1?includeObject=Object', table)).toMatchObject({
      rows: [{ object: { kind: 'Node' } }],
    });
    expect(await served.json('/api/v1/nodes?includeObject=None', table)).toMatchObject({ rows: [{ object: null }] });
    expect((await served.call('GET', '/api/v1/nodes?includeObject=All', { headers: table })).status).toBe(400);
  });

  test('a custom resource prints its columns', async () => {
    served.core.seed({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w' },
      spec: { size: 3, color: 'red' },
      status: { conditions: [{ type: 'Ready', status: 'False' }] },
    });
    expect(await served.json('/apis/example.com/v1/widgets', table)).toMatchObject({
      columnDefinitions: [
        {},
        { name: 'Size', type: 'integer' },
        {},
        { name: 'Age', type: 'date' },
        { name: 'Color', priority: 1 },
      ],
      rows: [{ cells: ['w', 3, 'False', '0s', 'red'] }],
    });
  });
});
