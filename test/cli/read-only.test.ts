import { describe, expect, it } from 'vitest';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import { toReadOnly, type WithheldWrite } from '../../cli/start/read-only.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { objectAt, objectsIn } from '../fakes/objects.ts';

const node = { type: RESOURCES.Node, name: 'n1' };
const nobody = { type: RESOURCES.Node, name: 'nobody' };

function make() {
  const core = createApiServer({ clock: createManualClock() });
  core.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u1', labels: { a: '1', b: '2' } } });
  const before = core.resourceVersion;
  const withheld: WithheldWrite[] = [];
  const api = toReadOnly(createInProcessKubernetesApi(core, 'test'), write => withheld.push(write));
  return { api, withheld, unchanged: () => core.resourceVersion === before };
}

describe('read-only Kubernetes API', () => {
  it('reads', async () => {
    const { api } = make();
    expect(await objectAt(api, node)).toMatchObject({ metadata: { uid: 'u1' } });
    expect(await objectsIn(api, RESOURCES.Node)).toHaveLength(1);
  });

  it('reports each write and makes none', async () => {
    const { api, withheld, unchanged } = make();
    const body = { metadata: { labels: { b: null, c: '3' } } };
    expect(await api.patch(node, { type: 'merge', body }, { subresource: 'status' })).toMatchObject({ kind: 'ok' });
    expect(await api.delete(node, { preconditions: { uid: 'u1' }, gracePeriodSeconds: 5 })).toEqual({ kind: 'ok' });
    expect(await api.evict(node, { preconditions: { uid: 'u1' } })).toEqual({ kind: 'ok' });
    const manifest = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } };
    expect(await api.create(RESOURCES.Node, manifest)).toMatchObject({ kind: 'ok', object: manifest });
    expect(withheld).toEqual([
      { verb: 'patch', ref: node, subresource: 'status', body },
      { verb: 'delete', ref: node, gracePeriodSeconds: 5 },
      { verb: 'evict', ref: node },
      { verb: 'create', ref: { type: RESOURCES.Node, name: 'n2' }, body: manifest },
    ]);
    expect(unchanged()).toBe(true);
  });

  it('answers a merge patch with the object as it would be', async () => {
    const { api } = make();
    const outcome = await api.patch(node, { type: 'merge', body: { metadata: { labels: { b: null, c: '3' } } } });
    expect(outcome).toMatchObject({ kind: 'ok', object: { metadata: { uid: 'u1' } } });
    expect(outcome.kind === 'ok' && outcome.object.metadata.labels).toEqual({ a: '1', c: '3' });
  });

  it('reports no write that would not happen', async () => {
    const { api, withheld } = make();
    const other = { preconditions: { uid: 'other' } };
    expect(await api.delete(node, other)).toMatchObject({ kind: 'conflict' });
    expect(await api.evict(node, { preconditions: { resourceVersion: '0' } })).toMatchObject({ kind: 'conflict' });
    const body = { metadata: { resourceVersion: '0' } };
    expect(await api.patch(node, { type: 'merge', body })).toMatchObject({ kind: 'conflict' });
    expect(await api.delete(nobody, other)).toEqual({ kind: 'notFound' });
    expect(await api.evict(nobody, other)).toEqual({ kind: 'notFound' });
    expect(await api.patch(nobody, { type: 'json', body: [] })).toEqual({ kind: 'notFound' });
    const manifest = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
    expect(await api.create(RESOURCES.Node, manifest)).toEqual({ kind: 'exists' });
    expect(withheld).toEqual([]);
  });
});
