import { describe, expect, it } from 'vitest';
import { NODES, aNode, aPod, aServer, node, pod, refusal, watching } from './server-under-test.ts';

const DATABASES = { group: 'example.com', version: 'v1', resource: 'databases' };
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'databases.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'databases', kind: 'Database' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
const database = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Database', metadata: { name } });

describe('a server that goes back to a snapshot', () => {
  it('has the objects, UIDs and versions of then', () => {
    const { api } = aServer();
    const kept = api.create(NODES, aNode('kept'));
    const deleted = api.create(NODES, aNode('deleted'));
    api.seed(aPod('p1'));
    const snapshot = api.snapshot();
    api.patch(node('kept'), { type: 'merge', body: { spec: { unschedulable: true } } });
    api.delete(node('deleted'));
    api.create(NODES, aNode('deleted'));
    api.create(NODES, aNode('later'));
    api.restore(snapshot);
    expect(api.list(NODES).items).toEqual([deleted, kept]);
    expect(api.get(pod('p1')).metadata.name).toBe('p1');
    expect(api.resourceVersion).toBe(String(snapshot.version));
  });

  it('gives the next write a version that another one has had', () => {
    const { api } = aServer();
    const snapshot = api.snapshot();
    const lost = api.create(NODES, aNode('lost'));
    api.restore(snapshot);
    const next = api.create(NODES, aNode('next'));
    expect(next.metadata.resourceVersion).toBe(lost.metadata.resourceVersion);
    expect(next.metadata.uid).not.toBe(lost.metadata.uid);
  });

  it('ends watches, and lets none begin before it', () => {
    const { api } = aServer();
    const snapshot = api.snapshot();
    const watch = watching(api, NODES);
    api.create(NODES, aNode('lost'));
    api.restore(snapshot);
    api.create(NODES, aNode('next'));
    expect(watch.lines()).toEqual(['ADDED lost', 'ERROR 410']);
    expect(refusal(() => api.watch(NODES, { resourceVersion: '1' }, () => undefined)).code).toBe(410);
    expect(watching(api, NODES, { resourceVersion: String(snapshot.version) }).lines()).toEqual(['ADDED next']);
  });

  it('says nothing to a watch that goes on from a version it does not have yet', () => {
    const { api } = aServer();
    const snapshot = api.snapshot();
    const { metadata } = api.create(NODES, aNode('lost'));
    api.restore(snapshot);
    const watch = watching(api, NODES, { resourceVersion: metadata.resourceVersion, allowWatchBookmarks: true });
    api.sendBookmarks();
    expect(watch.lines()).toEqual([]);
    api.create(NODES, aNode('as-late'));
    api.sendBookmarks();
    api.create(NODES, aNode('later'));
    expect(watch.lines()).toEqual(['BOOKMARK', 'ADDED later']);
  });

  it('tells who watches again when its watch ends', () => {
    const { api } = aServer();
    const snapshot = api.snapshot();
    const names: string[] = [];
    const watch = (): void =>
      void api.watch(NODES, {}, event => {
        if (event.type === 'ERROR') watch();
        else if (event.type !== 'BOOKMARK') names.push(event.object.metadata.name);
      });
    watch();
    api.restore(snapshot);
    api.create(NODES, aNode('next'));
    expect(names).toEqual(['next']);
  });

  it('serves the custom resources of then, with their objects', () => {
    const { api } = aServer();
    api.seed(DEFINITION);
    api.create(DATABASES, database('d1'));
    const snapshot = api.snapshot();
    api.delete({
      type: { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
      name: 'databases.example.com',
    });
    expect(api.resource(DATABASES)).toBeUndefined();
    api.restore(snapshot);
    expect(api.list(DATABASES).items.map(({ metadata }) => metadata.name)).toEqual(['d1']);
  });

  it('does not serve what was defined later', () => {
    const { api } = aServer();
    const snapshot = api.snapshot();
    api.seed(DEFINITION);
    api.restore(snapshot);
    expect(api.resource(DATABASES)).toBeUndefined();
  });
});
