import { describe, expect, it } from 'vitest';
import type { KubernetesManifest } from '../src/kubernetes-object.ts';
import {
  DEPLOYMENTS,
  LEASES,
  NODES,
  PODS,
  aNode,
  aPod,
  aServer,
  causesOf,
  node,
  pod,
  refusal,
  watching,
} from './server-under-test.ts';

const MODIFIED =
  'Operation cannot be fulfilled on nodes "n1": the object has been modified; please apply your changes to the latest version and try again';

describe('replacing an object', () => {
  it('is refused when it is based on an old version', () => {
    const { api } = aServer();
    const old = api.create(NODES, aNode('n1'));
    api.patch(node('n1'), { type: 'merge', body: { spec: { unschedulable: true } } });
    expect(refusal(() => api.update(node('n1'), old))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: MODIFIED,
      details: { name: 'n1', kind: 'nodes' },
    });
  });

  it('is refused when it means another object of that name', () => {
    const { api } = aServer();
    const old = api.create(NODES, aNode('n1'));
    api.delete(node('n1'));
    api.create(NODES, aNode('n1'));
    const status = refusal(() => api.update(node('n1'), aNode('n1', {}, { uid: old.metadata.uid })));
    expect(status.code).toBe(409);
    expect(status.message).toContain(`Precondition failed: UID in precondition: ${old.metadata.uid}`);
  });

  it('needs a resourceVersion where the resource says so', () => {
    const { api } = aServer();
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'l', namespace: 'default' },
    };
    const ref = { type: LEASES, namespace: 'default', name: 'l' };
    const created = api.update(ref, lease);
    expect(refusal(() => api.update(ref, { ...lease, spec: { holderIdentity: 'a' } }))).toMatchObject({
      code: 422,
      message:
        'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    });
    expect(api.update(ref, { ...created, spec: { holderIdentity: 'a' } }).spec).toEqual({ holderIdentity: 'a' });
  });

  it('creates a lease, but not a node', () => {
    const { api } = aServer();
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } };
    expect(api.update({ type: LEASES, namespace: 'default', name: 'l' }, lease).metadata.uid).not.toBe('');
    expect(refusal(() => api.update(node('n1'), aNode('n1'))).code).toBe(404);
  });

  it('leaves no trace when it changes nothing', () => {
    const { api } = aServer();
    const stored = api.create(
      NODES,
      aNode('n1', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }, { labels: { a: 'b' } }),
    );
    const { events } = watching(api, NODES, { resourceVersion: api.resourceVersion });
    const copy = JSON.parse(JSON.stringify(stored));
    expect(api.update(node('n1'), copy)).toEqual(stored);
    expect(api.resourceVersion).toBe(stored.metadata.resourceVersion);
    expect(events).toEqual([]);
  });

  it('ignores the status, which has its own endpoint', () => {
    const { api } = aServer();
    const stored = api.create(PODS, aPod('p'));
    expect(api.update(pod('p'), { ...stored, status: { phase: 'Running' } }).status).toEqual(stored.status);
    const running = api.update(
      pod('p'),
      { ...stored, spec: {}, status: { phase: 'Running' } },
      { subresource: 'status' },
    );
    expect(running).toMatchObject({ spec: stored.spec, status: { phase: 'Running' } });
  });

  it('keeps creation and deletion timestamps whatever the client says', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', {}, { finalizers: ['example.com/hold'] }));
    api.delete(node('n1'));
    const { deletionTimestamp, creationTimestamp } = api.get(node('n1')).metadata;
    const kept = api.update(
      node('n1'),
      aNode(
        'n1',
        {},
        { finalizers: ['example.com/hold'], labels: { a: 'b' }, creationTimestamp: '2000-01-01T00:00:00Z' },
      ),
    );
    expect(kept.metadata).toMatchObject({ deletionTimestamp, creationTimestamp, labels: { a: 'b' } });
  });

  it.each<[string, (stored: KubernetesManifest) => KubernetesManifest, string]>([
    [
      'a new name',
      stored => ({ ...stored, metadata: { ...stored.metadata, name: 'n2' } }),
      'does not match the name on the URL (n1)',
    ],
    ['another kind', stored => ({ ...stored, kind: 'Pod' }), 'cannot be handled as a Node'],
  ])('is refused with %s', (_, change, message) => {
    const { api } = aServer();
    const stored = api.create(NODES, aNode('n1'));
    const status = refusal(() => api.update(node('n1'), change(stored)));
    expect(status.code).toBe(400);
    expect(status.message).toContain(message);
  });

  it('counts a generation for a change of the spec, not of metadata or status', () => {
    const { api } = aServer();
    const ref = { type: DEPLOYMENTS, namespace: 'default', name: 'd' };
    api.create(DEPLOYMENTS, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: { replicas: 1 },
    });
    const generations = [
      api.patch(ref, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } }),
      api.patch(ref, { type: 'merge', body: { status: { replicas: 1 } } }, { subresource: 'status' }),
      api.patch(ref, { type: 'merge', body: { spec: { replicas: 2 } } }),
      api.patch(ref, { type: 'merge', body: { spec: { replicas: 2 } } }),
    ].map(({ metadata }) => metadata.generation);
    expect(generations).toEqual([1, 1, 2, 2]);
  });
});

describe('writing a status', () => {
  it('touches the labels of a node, but not those of a deployment', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1'));
    api.create(DEPLOYMENTS, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } });
    const body = { metadata: { labels: { a: 'b' } }, status: { replicas: 1 } };
    const write = { subresource: 'status' as const };
    expect(api.patch(node('n1'), { type: 'merge', body }, write).metadata.labels).toEqual({ a: 'b' });
    const ref = { type: DEPLOYMENTS, namespace: 'default', name: 'd' };
    expect(api.patch(ref, { type: 'merge', body }, write).metadata.labels).toBeUndefined();
  });

  it('does not touch the spec', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', { spec: { unschedulable: true } }));
    const body = { spec: { unschedulable: false }, status: { capacity: { cpu: '4' } } };
    const patched = api.patch(node('n1'), { type: 'merge', body }, { subresource: 'status' });
    expect(patched).toMatchObject({ spec: { unschedulable: true }, status: { capacity: { cpu: '4' } } });
  });
});

describe('what an update may not change', () => {
  it.each([
    ['the uid', { metadata: { uid: 'other' } }, 'metadata.uid: Invalid value: "other": field is immutable'],
    [
      'the deletion timestamp',
      { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } },
      'metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable',
    ],
    [
      'the instance of a node',
      { spec: { providerID: 'aws:///a/i-2' } },
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ],
  ])('%s', (_, body, cause) => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', { spec: { providerID: 'aws:///a/i-1' } }));
    const status = refusal(() => api.patch(node('n1'), { type: 'merge', body }));
    expect(status.code).toBe(422);
    expect(causesOf(status)).toEqual([cause]);
  });
});
