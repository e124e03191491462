import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiServerCore, WatchEvent, WatchOptions } from '../src/types.ts';
import { NODES, PODS, aNode, aPod, aServer, find, node, pod, refusal, watching } from './server-under-test.ts';

function label(api: ApiServerCore, name: string, labels: Record<string, string | null>): void {
  api.patch(node(name), { type: 'merge', body: { metadata: { labels } } });
}

describe('a watch', () => {
  it.each([{}, { resourceVersion: '0' }, { sendInitialEvents: true }])('starts with what exists: %j', options => {
    const { api } = aServer();
    api.create(NODES, aNode('n2'));
    api.create(NODES, aNode('n1'));
    expect(watching(api, NODES, options).lines()).toEqual(['ADDED n1', 'ADDED n2']);
  });

  it('starts after a version, with what happened since', () => {
    const { api } = aServer();
    const { metadata } = api.create(NODES, aNode('n1'));
    api.create(NODES, aNode('n2'));
    label(api, 'n1', { a: 'b' });
    api.delete(node('n2'));
    const { lines } = watching(api, NODES, { resourceVersion: metadata.resourceVersion });
    expect(lines()).toEqual(['ADDED n2', 'MODIFIED n1', 'DELETED n2']);
  });

  it('goes on with what happens, until it is stopped', () => {
    const { api } = aServer();
    const watch = watching(api, NODES);
    api.create(NODES, aNode('n1'));
    watch.stop();
    label(api, 'n1', { a: 'b' });
    expect(watch.lines()).toEqual(['ADDED n1']);
  });

  it('shows a deletion with the last state and the version of the deletion', () => {
    const { api } = aServer();
    const created = api.create(NODES, aNode('n1', {}, { labels: { a: 'b' } }));
    const { events } = watching(api, NODES, { resourceVersion: api.resourceVersion });
    api.delete(node('n1'));
    expect(events).toEqual([
      {
        type: 'DELETED',
        object: { ...created, metadata: { ...created.metadata, resourceVersion: api.resourceVersion } },
      },
    ]);
  });

  it('sees objects enter and leave its selection', () => {
    const { api } = aServer();
    const { events, lines } = watching(api, NODES, { labelSelector: 'a=x' });
    api.create(NODES, aNode('n1', {}, { labels: { a: 'y' } }));
    label(api, 'n1', { a: 'x' });
    label(api, 'n1', { b: 'z' });
    label(api, 'n1', { a: null });
    label(api, 'n1', { b: 'zz' });
    api.delete(node('n1'));
    expect(lines()).toEqual(['ADDED n1', 'MODIFIED n1', 'DELETED n1']);
    // What leaves is shown as it was last selected.
    expect(events[2]).toMatchObject({ object: { metadata: { labels: { a: 'x', b: 'z' } } } });
  });

  it('is limited to its namespace and fields', () => {
    const { api } = aServer();
    const { lines } = watching(api, PODS, { namespace: 'default', fieldSelector: 'spec.nodeName=n1' });
    api.create(PODS, aPod('p'));
    api.create(PODS, aPod('q', { nodeName: 'n2' }));
    api.create(PODS, aPod('r', {}, { namespace: 'kube-system' }));
    expect(lines()).toEqual(['ADDED p']);
  });

  it('from a version whose successors are forgotten is refused with 410', () => {
    const { api } = aServer({ watchHistory: 2 });
    const { metadata } = api.create(NODES, aNode('n1'));
    label(api, 'n1', { a: '1' });
    label(api, 'n1', { a: '2' });
    expect(watching(api, NODES, { resourceVersion: metadata.resourceVersion }).lines()).toHaveLength(2);
    label(api, 'n1', { a: '3' });
    const status = refusal(() => watching(api, NODES, { resourceVersion: metadata.resourceVersion }));
    expect(status).toMatchObject({
      code: 410,
      reason: 'Expired',
      message: `too old resource version: ${metadata.resourceVersion} (${api.resourceVersion})`,
    });
  });

  it('is not affected by the history of other resources', () => {
    const { api } = aServer({ watchHistory: 2 });
    const { metadata } = api.create(NODES, aNode('n1'));
    for (const name of ['p', 'q', 'r', 's']) api.create(PODS, aPod(name));
    expect(watching(api, NODES, { resourceVersion: metadata.resourceVersion }).lines()).toEqual([]);
  });

  it('from before a compaction is refused, from the present it is not', () => {
    const { api } = aServer();
    const { metadata } = api.create(NODES, aNode('n1'));
    label(api, 'n1', { a: '1' });
    api.compact();
    expect(refusal(() => watching(api, NODES, { resourceVersion: metadata.resourceVersion })).code).toBe(410);
    const { lines } = watching(api, NODES, { resourceVersion: api.resourceVersion });
    label(api, 'n1', { a: '2' });
    expect(lines()).toEqual(['MODIFIED n1']);
  });

  it('gets bookmarks if it allows them', () => {
    const { api } = aServer();
    const allowing = watching(api, NODES, { allowWatchBookmarks: true });
    const other = watching(api, NODES);
    api.create(PODS, aPod('p'));
    api.sendBookmarks();
    expect(allowing.events).toEqual([
      {
        type: 'BOOKMARK',
        object: { kind: 'Node', apiVersion: 'v1', metadata: { resourceVersion: api.resourceVersion } },
      },
    ]);
    expect(other.events).toEqual([]);
  });

  it('marks the end of the initial events when asked for them', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1'));
    const { events } = watching(api, NODES, { sendInitialEvents: true, allowWatchBookmarks: true });
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
    expect(events[1]).toMatchObject({ object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } });
  });

  it('sees what another watch writes in the order in which it happened', () => {
    const { api } = aServer();
    api.watch(NODES, {}, event => {
      if (event.type === 'ADDED') label(api, event.object.metadata.name, { seen: 'yes' });
    });
    const { lines } = watching(api, NODES);
    api.create(NODES, aNode('n1'));
    expect(lines()).toEqual(['ADDED n1', 'MODIFIED n1']);
  });

  it('that throws does not keep the others from seeing, and its error reaches the writer', () => {
    const { api } = aServer();
    api.watch(NODES, {}, () => {
      throw new Error('broken');
    });
    const { lines } = watching(api, NODES);
    expect(() => api.create(NODES, aNode('n1'))).toThrow('broken');
    expect(lines()).toEqual(['ADDED n1']);
    expect(find(api, node('n1'))).toBeDefined();
  });
});

type Step = { readonly verb: 'create' | 'label' | 'delete'; readonly name: string; readonly value: string };
const steps = fc.array(
  fc.record<Step>({
    verb: fc.constantFrom('create', 'label', 'delete'),
    name: fc.constantFrom('n1', 'n2', 'n3'),
    value: fc.constantFrom('x', 'y'),
  }),
  { maxLength: 40 },
);

function take(api: ApiServerCore, { verb, name, value }: Step): void {
  const exists = find(api, node(name)) !== undefined;
  if (verb === 'create' && !exists) api.create(NODES, aNode(name, {}, { labels: { a: value } }));
  if (verb === 'label' && exists) label(api, name, { a: value });
  if (verb === 'delete' && exists) api.delete(node(name));
}

function replay(events: readonly WatchEvent[]): Map<string, unknown> {
  const objects = new Map<string, unknown>();
  for (const event of events) {
    if (event.type === 'ADDED' || event.type === 'MODIFIED') objects.set(event.object.metadata.name, event.object);
    if (event.type === 'DELETED') objects.delete(event.object.metadata.name);
  }
  return objects;
}

describe('replaying a watch', () => {
  it.each<WatchOptions>([{}, { labelSelector: 'a=x' }, { fieldSelector: 'metadata.name!=n2' }])(
    'gives what a list shows, wherever it started: %j',
    options => {
      fc.assert(
        fc.property(steps, steps, (before, after) => {
          const { api } = aServer();
          for (const step of before) take(api, step);
          const list = api.list(NODES, options);
          const late = watching(api, NODES, options);
          for (const step of after) take(api, step);
          const resumed = watching(api, NODES, { ...options, resourceVersion: list.resourceVersion });
          const listed = new Map(api.list(NODES, options).items.map(item => [item.metadata.name, item]));
          const start = list.items.map((object): WatchEvent => ({ type: 'ADDED', object }));
          expect(replay(late.events)).toEqual(listed);
          expect(replay([...start, ...resumed.events])).toEqual(listed);
        }),
      );
    },
  );
});

describe('an observer', () => {
  it('is told who did what, with the object before and after', () => {
    const { api } = aServer();
    const writes: unknown[] = [];
    const observation = api.observe(({ user, verb, ref, before, after, body, subresource }) => {
      writes.push([
        user,
        verb,
        ref.name,
        before?.metadata.resourceVersion,
        after?.metadata.resourceVersion,
        body,
        subresource,
      ]);
    });
    const created = api.create(PODS, aPod('p'), { user: 'karpenter' });
    const body = { status: { phase: 'Running' } };
    const patched = api.patch(pod('p'), { type: 'merge', body }, { subresource: 'status', user: 'kubelet' });
    api.delete(pod('p'), { gracePeriodSeconds: 0 });
    observation.stop();
    api.create(PODS, aPod('q'));
    const [first, second] = [created, patched].map(({ metadata }) => metadata.resourceVersion);
    expect(writes).toEqual([
      ['karpenter', 'create', 'p', undefined, first, aPod('p'), undefined],
      ['kubelet', 'patch', 'p', first, second, body, 'status'],
      ['admin', 'delete', 'p', second, undefined, undefined, undefined],
    ]);
  });

  it('shows an eviction as an eviction', () => {
    const { api } = aServer();
    api.create(PODS, aPod('p'));
    const verbs: string[] = [];
    api.observe(({ verb, subresource, gracePeriodSeconds }) =>
      verbs.push(`${verb} ${subresource} ${gracePeriodSeconds}`),
    );
    api.evict(pod('p'), { gracePeriodSeconds: 4 });
    expect(verbs).toEqual(['evict eviction 4']);
  });

  it('hears nothing of refused requests and dry runs', () => {
    const { api } = aServer();
    const verbs: string[] = [];
    api.observe(({ verb }) => verbs.push(verb));
    refusal(() => api.delete(node('n1')));
    api.create(NODES, aNode('n1'), { dryRun: true });
    expect(verbs).toEqual([]);
  });
});

describe('seeding', () => {
  it('stores an object as it is given, status and uid included', () => {
    const { api } = aServer();
    const metadata = {
      uid: 'u-1',
      creationTimestamp: '2024-01-01T00:00:00Z',
      deletionTimestamp: '2024-01-02T00:00:00Z',
      finalizers: ['example.com/hold'],
    };
    const seeded = api.seed(aPod('p', {}, metadata));
    expect(seeded.metadata).toMatchObject({ ...metadata, deletionGracePeriodSeconds: 30, generation: 1 });
    expect(api.seed(aNode('n1', { status: { phase: 'x' } })).status).toEqual({ phase: 'x' });
  });

  it('replaces an object of that name, and watches see it', () => {
    const { api } = aServer();
    const { lines } = watching(api, NODES);
    const { uid } = api.seed(aNode('n1')).metadata;
    api.seed(aNode('n1', { spec: { unschedulable: true } }));
    api.seed(aNode('n1', { spec: { unschedulable: true } }));
    expect(lines()).toEqual(['ADDED n1', 'MODIFIED n1']);
    expect(api.get(node('n1'))).toMatchObject({ metadata: { uid }, spec: { unschedulable: true } });
    expect(api.seed(aNode('n1', {}, { uid: 'other' })).metadata.uid).toBe('other');
  });

  it('fills in what a creation would, but for the status of a pod', () => {
    const { api } = aServer();
    expect(api.seed(aPod('p'))).toMatchObject({ spec: { terminationGracePeriodSeconds: 30 } });
    expect(api.get(pod('p')).status).toBeUndefined();
    expect(api.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }).status).toEqual({
      phase: 'Active',
    });
  });

  it('needs a name and a kind that is served', () => {
    const { api } = aServer();
    expect(refusal(() => api.seed({ apiVersion: 'example.com/v1', kind: 'Foo', metadata: { name: 'a' } })).code).toBe(
      404,
    );
    expect(refusal(() => api.seed({ apiVersion: 'v1', kind: 'Node', metadata: {} })).code).toBe(400);
  });
});
