import { describe, expect, it } from 'vitest';
import type { DeleteOptions } from '../src/types.ts';
import type { JsonObject } from '../src/kubernetes-object.ts';
import {
  CONFIG_MAPS,
  NAMESPACES,
  NODES,
  PODS,
  aConfigMap,
  aNode,
  aPod,
  aServer,
  causesOf,
  find,
  node,
  pod,
  refusal,
  watching,
} from './server-under-test.ts';

const HOLD = 'example.com/hold';

describe('deleting an object', () => {
  it('without finalizers removes it and answers with its uid', () => {
    const { api } = aServer();
    const { metadata } = api.create(NODES, aNode('n1'));
    expect(api.delete(node('n1'))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'n1', kind: 'nodes', uid: metadata.uid },
      code: 200,
    });
    expect(refusal(() => api.delete(node('n1'))).code).toBe(404);
  });

  it('with a finalizer marks it, and removes it when the last finalizer is taken off', () => {
    const { api, advance } = aServer();
    api.create(NODES, aNode('n1', {}, { finalizers: [HOLD, 'example.com/more'] }));
    const { lines } = watching(api, NODES, { resourceVersion: api.resourceVersion });
    advance(60);
    expect(api.delete(node('n1'))).toMatchObject({
      metadata: {
        deletionTimestamp: '2024-11-01T15:01:00Z',
        deletionGracePeriodSeconds: 0,
        finalizers: [HOLD, 'example.com/more'],
      },
    });
    api.patch(node('n1'), { type: 'merge', body: { metadata: { finalizers: [HOLD] } } });
    expect(find(api, node('n1'))).toBeDefined();
    api.patch(node('n1'), { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(find(api, node('n1'))).toBeUndefined();
    expect(lines()).toEqual(['MODIFIED n1', 'MODIFIED n1', 'DELETED n1']);
  });

  it('a second time returns it as it is', () => {
    const { api, advance } = aServer();
    api.create(NODES, aNode('n1', {}, { finalizers: [HOLD] }));
    const first = api.delete(node('n1'));
    advance(60);
    const version = api.resourceVersion;
    expect(api.delete(node('n1'))).toEqual(first);
    expect(api.resourceVersion).toBe(version);
  });

  it('refuses new finalizers from then on, but not the loss of one', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', {}, { finalizers: [HOLD, 'example.com/more'] }));
    api.delete(node('n1'));
    const patch = (finalizers: string[]) =>
      api.patch(node('n1'), { type: 'merge', body: { metadata: { finalizers } } });
    const status = refusal(() => patch([HOLD, 'z.example.com/new', 'a.example.com/new']));
    expect(status).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(causesOf(status)).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.example.com/new", "z.example.com/new"}',
    ]);
    expect(patch([HOLD]).metadata.finalizers).toEqual([HOLD]);
  });

  it.each<[string, DeleteOptions['preconditions'], string]>([
    ['uid', { uid: 'other' }, 'the UID in the precondition (other) does not match the UID in record'],
    [
      'resourceVersion',
      { resourceVersion: '1' },
      'the ResourceVersion in the precondition (1) does not match the ResourceVersion in record',
    ],
  ])('is refused when the %s is another one', (_, preconditions, message) => {
    const { api } = aServer();
    api.create(NODES, aNode('n1'));
    const status = refusal(() => api.delete(node('n1'), preconditions === undefined ? {} : { preconditions }));
    expect(status).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(status.message).toContain(message);
    expect(find(api, node('n1'))).toBeDefined();
  });

  it('goes ahead when the preconditions hold', () => {
    const { api } = aServer();
    const { uid, resourceVersion } = api.create(NODES, aNode('n1')).metadata;
    api.delete(node('n1'), { preconditions: { uid, resourceVersion } });
    expect(find(api, node('n1'))).toBeUndefined();
  });

  it('changes nothing in a dry run', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', {}, { finalizers: [HOLD] }));
    api.create(NODES, aNode('n2'));
    api.delete(node('n1'), { dryRun: true });
    api.delete(node('n2'), { dryRun: true });
    expect(api.get(node('n1')).metadata.deletionTimestamp).toBeUndefined();
    expect(find(api, node('n2'))).toBeDefined();
  });

  it.each([
    ['Orphan', ['orphan']],
    ['Foreground', ['foregroundDeletion']],
    ['Background', undefined],
  ] as const)(
    'with propagation %s waits for the garbage collector by a finalizer, if at all',
    (propagationPolicy, finalizers) => {
      const { api } = aServer();
      api.create(NODES, aNode('n1'));
      api.delete(node('n1'), { propagationPolicy });
      expect(find(api, node('n1'))?.metadata.finalizers).toEqual(finalizers);
    },
  );
});

describe('deleting a pod', () => {
  it('that runs gives it its grace period', () => {
    const { api } = aServer();
    api.create(PODS, aPod('p', { terminationGracePeriodSeconds: 20 }));
    expect(api.delete(pod('p'))).toMatchObject({
      metadata: { deletionTimestamp: '2024-11-01T15:00:20Z', deletionGracePeriodSeconds: 20, generation: 2 },
    });
    expect(find(api, pod('p'))).toBeDefined();
  });

  it('takes the grace period from the request, and 30 s where nobody names one', () => {
    const { api } = aServer();
    api.create(PODS, aPod('p'));
    api.create(PODS, aPod('q'));
    expect(api.delete(pod('p'), { gracePeriodSeconds: 5 })).toMatchObject({
      metadata: { deletionGracePeriodSeconds: 5 },
    });
    expect(api.delete(pod('q'))).toMatchObject({ metadata: { deletionGracePeriodSeconds: 30 } });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['that is on no node', { nodeName: '' }, {}],
    ['that has succeeded', {}, { phase: 'Succeeded' }],
    ['that has failed', {}, { phase: 'Failed' }],
  ])('%s removes it at once', (_, spec, status) => {
    const { api } = aServer();
    api.create(PODS, aPod('p', spec));
    api.patch(pod('p'), { type: 'merge', body: { status } }, { subresource: 'status' });
    api.delete(pod('p'));
    expect(find(api, pod('p'))).toBeUndefined();
  });

  it('with grace period 0 removes it at once, after it was seen to be marked', () => {
    const { api } = aServer();
    api.create(PODS, aPod('p'));
    const { events, lines } = watching(api, PODS, { resourceVersion: api.resourceVersion });
    expect(api.delete(pod('p'), { gracePeriodSeconds: 0 })).toMatchObject({
      kind: 'Pod',
      metadata: { deletionGracePeriodSeconds: 0 },
    });
    expect(lines()).toEqual(['MODIFIED p', 'DELETED p']);
    expect(events[0]).toMatchObject({ object: { metadata: { deletionGracePeriodSeconds: 0 } } });
  });

  it('again can only shorten its grace period', () => {
    const { api, advance } = aServer();
    api.create(PODS, aPod('p', { terminationGracePeriodSeconds: 60 }));
    api.delete(pod('p'));
    advance(10);
    const version = api.resourceVersion;
    api.delete(pod('p'), { gracePeriodSeconds: 90 });
    api.delete(pod('p'));
    expect(api.resourceVersion).toBe(version);
    expect(api.delete(pod('p'), { gracePeriodSeconds: 30 })).toMatchObject({
      metadata: { deletionTimestamp: '2024-11-01T15:00:30Z', deletionGracePeriodSeconds: 30 },
    });
    // A period that is over already leaves the kubelet one second.
    expect(api.delete(pod('p'), { gracePeriodSeconds: 5 })).toMatchObject({
      metadata: { deletionTimestamp: '2024-11-01T15:00:10Z', deletionGracePeriodSeconds: 1 },
    });
    api.delete(pod('p'), { gracePeriodSeconds: 0 });
    expect(find(api, pod('p'))).toBeUndefined();
  });

  it('takes a negative grace period for one second', () => {
    const { api } = aServer();
    api.create(PODS, aPod('p'));
    expect(api.delete(pod('p'), { gracePeriodSeconds: -1 })).toMatchObject({
      metadata: { deletionGracePeriodSeconds: 1 },
    });
  });

  it('with a finalizer keeps it after its grace period, until the finalizer is gone', () => {
    const { api } = aServer();
    api.create(PODS, aPod('p', {}, { finalizers: [HOLD] }));
    api.delete(pod('p'));
    // Without its finalizer it still has its grace period.
    api.create(PODS, aPod('q', {}, { finalizers: [HOLD] }));
    api.delete(pod('q'));
    api.patch(pod('q'), { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(find(api, pod('q'))).toBeDefined();
    api.delete(pod('p'), { gracePeriodSeconds: 0 });
    expect(find(api, pod('p'))?.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: [HOLD] });
    api.patch(pod('p'), { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(find(api, pod('p'))).toBeUndefined();
  });
});

describe('deleting a collection', () => {
  it('deletes what the selectors select, and nothing else', () => {
    const { api } = aServer();
    for (const name of ['a', 'b', 'c']) api.create(CONFIG_MAPS, aConfigMap(name, {}, { labels: { name } }));
    const deleted = api.deleteCollection(CONFIG_MAPS, { namespace: 'default', labelSelector: 'name in (a,c)' });
    expect(deleted.items.map(({ metadata }) => metadata.name)).toEqual(['a', 'c']);
    expect(api.list(CONFIG_MAPS).items.map(({ metadata }) => metadata.name)).toEqual(['b']);
  });
});

describe('deleting a namespace', () => {
  function aTeam(api: ReturnType<typeof aServer>['api']) {
    api.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    return { type: NAMESPACES, name: 'team' };
  }

  it('removes it with what is in it', () => {
    const { api } = aServer();
    const team = aTeam(api);
    api.create(CONFIG_MAPS, aConfigMap('a', {}, { namespace: 'team' }));
    api.create(CONFIG_MAPS, aConfigMap('other'));
    const { lines } = watching(api, CONFIG_MAPS, { resourceVersion: api.resourceVersion });
    api.delete(team);
    expect(lines()).toEqual(['DELETED a']);
    expect(find(api, team)).toBeUndefined();
    expect(api.list(CONFIG_MAPS).items).toHaveLength(1);
  });

  it('waits for a pod that still terminates', () => {
    const { api } = aServer();
    const team = aTeam(api);
    api.create(PODS, aPod('p', {}, { namespace: 'team' }));
    expect(api.delete(team)).toMatchObject({ status: { phase: 'Terminating' } });
    expect(find(api, team)).toBeDefined();
    api.delete({ type: PODS, namespace: 'team', name: 'p' }, { gracePeriodSeconds: 0 });
    expect(find(api, team)).toBeUndefined();
  });

  it('waits for its own finalizers', () => {
    const { api } = aServer();
    const team = { type: NAMESPACES, name: 'team' };
    api.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team', finalizers: [HOLD] } });
    api.delete(team);
    expect(find(api, team)).toBeDefined();
    api.patch(team, { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(find(api, team)).toBeUndefined();
  });

  it('is refused for those that the cluster needs', () => {
    const { api } = aServer();
    expect(refusal(() => api.delete({ type: NAMESPACES, name: 'default' }))).toMatchObject({
      code: 403,
      message: 'namespaces "default" is forbidden: this namespace may not be deleted',
    });
  });
});
