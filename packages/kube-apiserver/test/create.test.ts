import { describe, expect, it } from 'vitest';
import type { KubernetesManifest } from '../src/kubernetes-object.ts';
import {
  BUDGETS,
  CONFIG_MAPS,
  DEPLOYMENTS,
  NAMESPACES,
  NODES,
  PODS,
  START,
  aConfigMap,
  aNode,
  aPod,
  aServer,
  causesOf,
  refusal,
} from './server-under-test.ts';

describe('creating an object', () => {
  it('fills in what the server owns', () => {
    const { api } = aServer();
    const created = api.create(NODES, aNode('n1', { spec: { providerID: 'aws:///a/i-1' } }));
    expect(created.metadata).toEqual({
      name: 'n1',
      uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      resourceVersion: api.resourceVersion,
      creationTimestamp: START,
    });
    expect(api.get({ type: NODES, name: 'n1' })).toBe(created);
  });

  it('takes the namespace from the request, the object, or default', () => {
    const { api } = aServer();
    const { namespace: _, ...metadata } = aConfigMap('a').metadata;
    const manifest = { ...aConfigMap('a'), metadata };
    expect(api.create(CONFIG_MAPS, manifest, { namespace: 'kube-system' }).metadata.namespace).toBe('kube-system');
    expect(api.create(CONFIG_MAPS, manifest).metadata.namespace).toBe('default');
  });

  it('ignores what a client says about uid, timestamps and generation', () => {
    const { api } = aServer();
    const metadata = {
      uid: 'mine',
      creationTimestamp: '2020-01-01T00:00:00Z',
      deletionTimestamp: START,
      generation: 9,
    };
    const created = api.create(BUDGETS, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'b', namespace: 'default', ...metadata },
    });
    expect(created.metadata).toMatchObject({ creationTimestamp: START, generation: 1 });
    expect(created.metadata.uid).not.toBe('mine');
    expect(created.metadata.deletionTimestamp).toBeUndefined();
  });

  it('generates a name from generateName', () => {
    const { api } = aServer();
    const names = [1, 2].map(() => {
      const manifest = { ...aConfigMap(''), metadata: { generateName: 'a-', namespace: 'default' } };
      return api.create(CONFIG_MAPS, manifest).metadata.name;
    });
    expect(names[0]).toMatch(/^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(new Set(names).size).toBe(2);
  });

  it('copies the manifest, so that its author can go on editing it', () => {
    const { api } = aServer();
    const data = { key: 'old' };
    api.create(CONFIG_MAPS, aConfigMap('a', data));
    data.key = 'new';
    expect(api.get({ type: CONFIG_MAPS, namespace: 'default', name: 'a' }).data).toEqual({ key: 'old' });
  });

  it('gives the same uids and names to two servers with the same inputs', () => {
    const uids = [aServer(), aServer()].map(({ api }) => api.create(NODES, aNode('n1')).metadata.uid);
    expect(uids[0]).toBe(uids[1]);
  });

  it.each<[string, KubernetesManifest, string, unknown]>([
    ['a pod is pending', aPod('p', {}, {}), 'pods', { phase: 'Pending', qosClass: 'BestEffort' }],
    [
      'a new namespace is active',
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } },
      'namespaces',
      { phase: 'Active' },
    ],
    [
      'a budget allows nothing',
      { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'b', namespace: 'default' } },
      'poddisruptionbudgets',
      { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    ],
  ])('drops the status that a client sends: %s', (_, manifest, resource, status) => {
    const { api } = aServer();
    const type = api.resources().find(info => info.resource === resource);
    if (type === undefined) throw new Error('not served');
    expect(api.create(type, { ...manifest, status: { phase: 'Nonsense', disruptionsAllowed: 5 } }).status).toEqual(
      status,
    );
  });

  it('keeps the status of a node, which its kubelet registers with it', () => {
    const { api } = aServer();
    const status = { conditions: [{ type: 'Ready', status: 'False' }] };
    expect(api.create(NODES, aNode('n1', { status })).status).toEqual(status);
  });

  it('gives a pod the defaults that decide about its deletion', () => {
    const { api } = aServer();
    expect(api.create(PODS, aPod('p')).spec).toMatchObject({
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
    });
    expect(api.create(PODS, aPod('q', { terminationGracePeriodSeconds: 5 })).spec).toMatchObject({
      terminationGracePeriodSeconds: 5,
    });
  });

  it('counts generations of what has a desired state, not of nodes', () => {
    const { api } = aServer();
    const manifest = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', namespace: 'default' } };
    expect(api.create(DEPLOYMENTS, manifest).metadata.generation).toBe(1);
    expect(api.create(NODES, aNode('n1')).metadata.generation).toBeUndefined();
  });

  it('drops unknown metadata and says so', () => {
    const { api } = aServer();
    const warnings: string[] = [];
    const manifest = aNode('n1', {}, Object.assign({ name: 'n1' }, { foo: 'bar', selfLink: '/x' }));
    const created = api.create(NODES, manifest, { onWarning: warning => warnings.push(warning) });
    expect(Object.keys(created.metadata).toSorted()).toEqual(['creationTimestamp', 'name', 'resourceVersion', 'uid']);
    expect(warnings).toEqual(['unknown field "metadata.foo"']);
  });

  it('changes nothing in a dry run', () => {
    const { api } = aServer();
    const before = api.resourceVersion;
    expect(api.create(NODES, aNode('n1'), { dryRun: true }).metadata.name).toBe('n1');
    expect(api.resourceVersion).toBe(before);
    expect(refusal(() => api.get({ type: NODES, name: 'n1' })).code).toBe(404);
  });
});

describe('refusing to create', () => {
  const taken = 'nodes "taken" already exists';
  const nothing = { apiVersion: 'v1', kind: 'Node' };
  it.each<[string, KubernetesManifest, number, string, string]>([
    ['a name that is taken', aNode('taken'), 409, 'AlreadyExists', taken],
    [
      'a resourceVersion',
      aNode('n', {}, { resourceVersion: '1' }),
      500,
      '',
      'resourceVersion should not be set on objects to be created',
    ],
    [
      'another apiVersion',
      { ...aNode('n'), apiVersion: 'v2' },
      400,
      'BadRequest',
      'does not match the expected API version (v1)',
    ],
    ['another kind', { ...aNode('n'), kind: 'Pod' }, 400, 'BadRequest', 'cannot be handled as a Node'],
    [
      'no name',
      { ...nothing, metadata: {} },
      422,
      'Invalid',
      'metadata.name: Required value: name or generateName is required',
    ],
    [
      'a name in capitals',
      aNode('N1'),
      422,
      'Invalid',
      'metadata.name: Invalid value: "N1": a lowercase RFC 1123 subdomain must consist of',
    ],
    ['a long name', aNode('n'.repeat(254)), 422, 'Invalid', 'must be no more than 253 characters'],
    [
      'a label key of three parts',
      aNode('n', {}, { labels: { 'a/b/c': '' } }),
      422,
      'Invalid',
      'metadata.labels: Invalid value: "a/b/c": a valid label key',
    ],
    [
      'a label value with a blank',
      aNode('n', {}, { labels: { a: 'b c' } }),
      422,
      'Invalid',
      'metadata.labels: Invalid value: "b c": a valid label must be',
    ],
    [
      'an annotation key',
      aNode('n', {}, { annotations: { '-': '' } }),
      422,
      'Invalid',
      'metadata.annotations: Invalid value: "-"',
    ],
    [
      'a finalizer without a prefix',
      aNode('n', {}, { finalizers: ['mine'] }),
      422,
      'Invalid',
      'metadata.finalizers[0]: Invalid value: "mine": name is neither',
    ],
    [
      'annotations of more than 256 KiB',
      aNode('n', {}, { annotations: { a: 'x'.repeat(262_145) } }),
      422,
      'Invalid',
      'Too long: may not be more than 262144 bytes',
    ],
  ])('%s', (_, manifest, code, reason, message) => {
    const { api } = aServer();
    api.create(NODES, aNode('taken'));
    const status = refusal(() => api.create(NODES, manifest));
    expect({ code: status.code, reason: status.reason ?? '' }).toEqual({ code, reason });
    expect(status.message).toContain(message);
  });

  it('a name that an object still has which is being deleted', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n', {}, { finalizers: ['example.com/hold'] }));
    api.delete({ type: NODES, name: 'n' });
    expect(refusal(() => api.create(NODES, aNode('n')))).toMatchObject({
      code: 409,
      message: 'object is being deleted: nodes "n" already exists',
    });
  });

  it('labels that are no texts', () => {
    const { api } = aServer();
    const manifest = aNode('n', {}, JSON.parse('{"labels":{"a":1}}'));
    expect(refusal(() => api.create(NODES, manifest))).toMatchObject({
      code: 400,
      message:
        'Node in version "v1" cannot be handled as a Node: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    });
  });

  it('an owner that is not named in full, and two controllers', () => {
    const { api } = aServer();
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'a', uid: '1', controller: true };
    const status = refusal(() =>
      api.create(NODES, aNode('n', {}, { ownerReferences: [owner, { ...owner, uid: '' }] })),
    );
    expect(causesOf(status)).toEqual([
      'metadata.ownerReferences[1].uid: Invalid value: "": must not be empty',
      'metadata.ownerReferences: Invalid value: Only one reference can have Controller set to true. Found "true" in references for Node/a and Node/a',
    ]);
  });

  it('names of a kind in details, for a validation, and of a resource otherwise', () => {
    const { api } = aServer();
    expect(
      refusal(() =>
        api.create(BUDGETS, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'B' } }),
      ),
    ).toMatchObject({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      details: { name: 'B', group: 'policy', kind: 'PodDisruptionBudget' },
    });
    expect(refusal(() => api.get({ type: BUDGETS, namespace: 'default', name: 'b' }))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'poddisruptionbudgets.policy "b" not found',
      reason: 'NotFound',
      details: { name: 'b', group: 'policy', kind: 'poddisruptionbudgets' },
      code: 404,
    });
  });

  it('an object of another namespace than the request', () => {
    const { api } = aServer();
    expect(refusal(() => api.create(CONFIG_MAPS, aConfigMap('a'), { namespace: 'kube-system' })).code).toBe(400);
  });

  it('content of a namespace that does not exist', () => {
    const { api } = aServer();
    const manifest = aConfigMap('a', {}, { namespace: 'nowhere' });
    expect(refusal(() => api.create(CONFIG_MAPS, manifest))).toMatchObject({
      code: 404,
      message: 'namespaces "nowhere" not found',
    });
  });

  it('content of a namespace that ends', () => {
    const { api } = aServer();
    api.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    api.create(CONFIG_MAPS, aConfigMap('held', {}, { namespace: 'team', finalizers: ['example.com/hold'] }));
    api.delete({ type: NAMESPACES, name: 'team' });
    const status = refusal(() => api.create(CONFIG_MAPS, aConfigMap('a', {}, { namespace: 'team' })));
    expect(status).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      details: { causes: [{ reason: 'NamespaceTerminating' }] },
    });
    expect(status.message).toContain('because it is being terminated');
  });

  it('a resource that is not served', () => {
    const { api } = aServer();
    const type = { group: 'example.com', version: 'v1', resource: 'foos' };
    expect(refusal(() => api.create(type, aNode('n')))).toMatchObject({
      code: 404,
      message: 'the server could not find the requested resource',
    });
  });
});
