import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepObjects } from '../../cli/start/kept-objects.ts';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';

let folder: string;
beforeEach(() => void (folder = join(mkdtempSync(join(tmpdir(), 'curfew-data-')), 'lab')));
afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

let now = Date.parse('2024-11-01T15:00:00Z');
/** As every start makes it. */
function cluster(): ApiServerCore {
  const core = createApiServer({ clock: { now: () => now } });
  for (const definition of customResourceDefinitions()) core.seed(definition);
  return core;
}

const thing = { group: 'example.com', version: 'v1', resource: 'things' };
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
};

it('keeps objects over a restart, with their UIDs, ages, finalizers and status, and those of definitions of the user', () => {
  const first = cluster();
  const kept = keepObjects(first, folder);
  expect(kept.wereThere).toBe(false);
  const node = first.seed({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', finalizers: ['example.com/x'] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  first.delete({ type: RESOURCES.Node, name: 'n1' });
  first.seed(DEFINITION);
  first.seed({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { b: 1 } });
  first.seed({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'gone', namespace: 'default' } });
  first.delete({ type: RESOURCES.Pod, namespace: 'default', name: 'gone' }, { gracePeriodSeconds: 0 });
  kept.close();

  now += 3_600_000;
  const second = cluster();
  expect(keepObjects(second, folder).wereThere).toBe(true);
  const again = second.get({ type: RESOURCES.Node, name: 'n1' });
  expect(again.metadata).toMatchObject({
    uid: node.metadata.uid,
    creationTimestamp: '2024-11-01T15:00:00Z',
    deletionTimestamp: '2024-11-01T15:00:00Z',
    finalizers: ['example.com/x'],
  });
  expect(again.status).toEqual({ conditions: [{ type: 'Ready', status: 'True' }] });
  expect(second.list(thing).items.map(({ metadata }) => metadata.name)).toEqual(['a']);
  expect(second.list(RESOURCES.Pod).items).toEqual([]);
});

it('keeps no definition of its own: that of this version is in force', () => {
  const core = cluster();
  keepObjects(core, folder).close();
  const other = cluster();
  const kept = keepObjects(other, folder);
  other.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
  kept.close();
  const text = readFileSync(join(folder, 'objects.json'), 'utf8');
  expect(text).toContain('"n1"');
  expect(text).not.toContain('CustomResourceDefinition');
});

it('says what to do with a folder that holds something else', () => {
  keepObjects(cluster(), folder).close();
  writeFileSync(join(folder, 'objects.json'), '{}');
  expect(() => keepObjects(cluster(), folder)).toThrow(
    `${folder}/objects.json holds no objects of a local cluster: remove ${folder} to begin again`,
  );
});
