import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeValues } from '../src/apply/merge-values.ts';
import type { ApiServerCore } from '../src/types.ts';
import type { JsonObject, KubernetesObject } from '../src/kubernetes-object.ts';
import {
  CONFIG_MAPS,
  NODES,
  START,
  aConfigMap,
  aNode,
  aServer,
  causesOf,
  find,
  node,
  refusal,
} from './server-under-test.ts';

interface As {
  readonly force?: boolean;
  readonly subresource?: 'status';
}

/** Applies a configuration of node `n1` as a manager. */
function apply(
  api: ApiServerCore,
  fieldManager: string,
  config: JsonObject,
  { force = false, subresource }: As = {},
): KubernetesObject {
  const metadata = { name: 'n1', ...Object(config.metadata) };
  const body = { apiVersion: 'v1', kind: 'Node', ...config, metadata };
  const options = { fieldManager, ...(subresource === undefined ? {} : { subresource }) };
  return api.patch(node('n1'), { type: 'apply', body, force }, options);
}

function labels(values: Record<string, string>): JsonObject {
  return { metadata: { labels: values } };
}

describe('applying a configuration', () => {
  it('creates what does not exist, with its manager', () => {
    const { api } = aServer();
    const created = apply(api, 'curfew', {
      ...labels({ a: '1' }),
      spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] },
    });
    expect(created.metadata).toMatchObject({
      labels: { a: '1' },
      managedFields: [
        {
          manager: 'curfew',
          operation: 'Apply',
          apiVersion: 'v1',
          time: START,
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:metadata': { 'f:labels': { 'f:a': {} } }, 'f:spec': { 'f:taints': {} } },
        },
      ],
    });
  });

  it('a second time changes nothing, not even the time', () => {
    const { api, advance } = aServer();
    const first = apply(api, 'curfew', labels({ a: '1' }));
    advance(60);
    expect(apply(api, 'curfew', labels({ a: '1' }))).toEqual(first);
    expect(api.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it('of what is there already makes a manager, but no change that had a time', () => {
    const { api } = aServer();
    apply(api, 'one', labels({ a: '1' }));
    expect(apply(api, 'two', labels({ a: '1' })).metadata).toMatchObject({
      managedFields: [{ manager: 'two' }, { manager: 'one', time: START }],
    });
    expect(api.get(node('n1')).metadata).not.toHaveProperty('managedFields.0.time');
  });

  it('leaves alone what it does not speak of', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', { spec: { unschedulable: true } }, { labels: { theirs: 'x' } }));
    expect(apply(api, 'curfew', labels({ ours: 'y' }))).toMatchObject({
      metadata: { labels: { theirs: 'x', ours: 'y' } },
      spec: { unschedulable: true },
    });
  });

  it('takes away what the manager no longer applies', () => {
    const { api } = aServer();
    apply(api, 'curfew', { metadata: { labels: { a: '1', b: '2' }, finalizers: ['example.com/a', 'example.com/b'] } });
    const { metadata } = apply(api, 'curfew', { metadata: { labels: { b: '2' }, finalizers: ['example.com/b'] } });
    expect(metadata).toMatchObject({ labels: { b: '2' }, finalizers: ['example.com/b'] });
  });

  it('keeps what another manager applies too', () => {
    const { api } = aServer();
    apply(api, 'one', labels({ shared: 'x', own: 'y' }));
    apply(api, 'two', labels({ shared: 'x' }));
    expect(apply(api, 'one', labels({})).metadata.labels).toEqual({ shared: 'x' });
  });

  it('adds to a set of finalizers without touching those of others', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', {}, { finalizers: ['example.com/theirs'] }));
    apply(api, 'curfew', { metadata: { finalizers: ['example.com/ours'] } });
    expect(api.get(node('n1')).metadata.finalizers).toEqual(['example.com/theirs', 'example.com/ours']);
    apply(api, 'curfew', {});
    expect(api.get(node('n1')).metadata.finalizers).toEqual(['example.com/theirs']);
  });

  it('owns conditions one by one, in the status alone', () => {
    const { api } = aServer();
    const condition = (type: string, status: string) => ({ status: { conditions: [{ type, status }] } });
    api.create(NODES, aNode('n1'));
    apply(api, 'kubelet', condition('Ready', 'True'), { subresource: 'status' });
    apply(
      api,
      'curfew',
      { ...condition('Drained', 'False'), spec: { unschedulable: true } },
      { subresource: 'status' },
    );
    expect(api.get(node('n1'))).toMatchObject({
      spec: {},
      status: {
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'Drained', status: 'False' },
        ],
      },
    });
    const status = refusal(() => apply(api, 'curfew', condition('Ready', 'False'), { subresource: 'status' }));
    expect(causesOf(status)).toEqual([
      '.status.conditions[type="Ready"].status: conflict with "kubelet" with subresource "status"',
    ]);
  });
});

describe('two managers of one field', () => {
  it('conflict, unless they agree', () => {
    const { api } = aServer();
    apply(api, 'one', labels({ a: '1' }));
    expect(refusal(() => apply(api, 'two', labels({ a: '2' })))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Apply failed with 1 conflict: conflict with "one": .metadata.labels.a',
      reason: 'Conflict',
      details: {
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.metadata.labels.a' }],
      },
      code: 409,
    });
    expect(api.get(node('n1')).metadata.labels).toEqual({ a: '1' });
    expect(apply(api, 'two', labels({ a: '1' })).metadata.labels).toEqual({ a: '1' });
  });

  it('are settled by force: the field changes hands', () => {
    const { api } = aServer();
    apply(api, 'one', labels({ a: '1', b: '1' }));
    expect(apply(api, 'two', labels({ a: '2' }), { force: true }).metadata.labels).toEqual({ a: '2', b: '1' });
    expect(causesOf(refusal(() => apply(api, 'one', labels({ a: '1', b: '1' }))))).toEqual([
      '.metadata.labels.a: conflict with "two"',
    ]);
  });

  it('are all named when there are several conflicts', () => {
    const { api } = aServer();
    apply(api, 'one', labels({ a: '1' }));
    apply(api, 'two', labels({ b: '1' }));
    expect(refusal(() => apply(api, 'three', labels({ a: '2', b: '2' }))).message).toBe(
      'Apply failed with 2 conflicts: conflicts with "one":\n- .metadata.labels.a\nconflicts with "two":\n- .metadata.labels.b',
    );
  });
});

describe('a write that is no apply', () => {
  it('takes over the fields that it changes', () => {
    const { api } = aServer();
    apply(api, 'curfew', labels({ a: '1', b: '1' }));
    api.patch(node('n1'), { type: 'merge', body: labels({ a: '2' }) }, { fieldManager: 'kubectl' });
    expect(causesOf(refusal(() => apply(api, 'curfew', labels({ a: '1', b: '1' }))))).toEqual([
      '.metadata.labels.a: conflict with "kubectl" using v1',
    ]);
    expect(apply(api, 'curfew', labels({ b: '1' })).metadata.labels).toEqual({ a: '2', b: '1' });
  });

  it('is named by its user when it names no manager', () => {
    const { api } = aServer();
    apply(api, 'curfew', labels({ a: '1' }));
    api.patch(node('n1'), { type: 'merge', body: labels({ a: '2' }) }, { user: 'jane' });
    expect(causesOf(refusal(() => apply(api, 'curfew', labels({ a: '1' }))))).toEqual([
      '.metadata.labels.a: conflict with "jane" using v1',
    ]);
  });

  it('leaves an object without managers alone', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1'));
    const patched = api.patch(node('n1'), { type: 'merge', body: labels({ a: '1' }) }, { fieldManager: 'kubectl' });
    expect(patched.metadata).not.toHaveProperty('managedFields');
  });

  it('creates with a manager of all it sets', () => {
    const { api } = aServer();
    const created = api.create(CONFIG_MAPS, aConfigMap('c', { key: 'x' }), { fieldManager: 'kubectl' });
    expect(created.metadata).toMatchObject({
      managedFields: [{ manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:data': { '.': {}, 'f:key': {} } } }],
    });
  });

  it('can say that nobody shall manage anything', () => {
    const { api } = aServer();
    apply(api, 'curfew', labels({ a: '1' }));
    const patched = api.patch(node('n1'), { type: 'merge', body: { metadata: { managedFields: [{}] } } });
    expect(patched.metadata).not.toHaveProperty('managedFields');
  });

  it('keeps the managers when a client sends none', () => {
    const { api } = aServer();
    const applied = apply(api, 'curfew', labels({ a: '1' }));
    const replaced = api.update(node('n1'), aNode('n1', {}, { labels: { a: '1' } }));
    expect(replaced).toEqual(applied);
  });
});

describe('the fields of an object that nobody managed', () => {
  it('are not taken over unnoticed', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', {}, { labels: { a: '1' } }));
    expect(refusal(() => apply(api, 'curfew', labels({ a: '2' }))).message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .metadata.labels.a',
    );
  });
});

describe('refusing to apply', () => {
  it('without a field manager', () => {
    const { api } = aServer();
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
    expect(refusal(() => api.patch(node('n1'), { type: 'apply', body }))).toMatchObject({
      code: 422,
      message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    });
  });

  it.each<[string, JsonObject, number, string]>([
    ['another version', { apiVersion: 'v2' }, 400, 'Incorrect version specified in apply patch'],
    ['another object', { metadata: { name: 'n2' } }, 400, 'does not match the name on the URL (n1)'],
    ['managed fields', { metadata: { managedFields: [{}] } }, 400, 'metadata.managedFields must be nil'],
    ['an old version', { metadata: { resourceVersion: '1' } }, 409, 'the object has been modified'],
    ['another uid', { metadata: { uid: 'other' } }, 422, 'metadata.uid: Invalid value: "other": field is immutable'],
    [
      'an item twice',
      { metadata: { finalizers: ['example.com/a', 'example.com/a'] } },
      500,
      'failed to create typed patch object (/n1; /v1, Kind=Node): .metadata.finalizers: duplicate entries for key [="example.com/a"]',
    ],
  ])('%s', (_, config, code, message) => {
    const { api } = aServer();
    apply(api, 'curfew', labels({ a: '1' }));
    const status = refusal(() => apply(api, 'curfew', config));
    expect(status.code).toBe(code);
    expect(status.message).toContain(message);
  });

  it('a status where there is no object', () => {
    const { api } = aServer();
    const status = refusal(() => apply(api, 'curfew', { status: { phase: 'x' } }, { subresource: 'status' }));
    expect(status).toMatchObject({ code: 404, message: 'nodes "n1" not found' });
  });

  it('a uid where there is no object', () => {
    const { api } = aServer();
    expect(refusal(() => apply(api, 'curfew', { metadata: { uid: 'u' } }))).toMatchObject({ code: 409 });
    expect(find(api, node('n1'))).toBeUndefined();
  });
});

describe('the order of a merged list', () => {
  // Each as structured-merge-diff orders it.
  it.each([
    ['', 'ab', 'ab'],
    ['ab', 'c', 'abc'],
    ['abc', 'ca', 'bca'],
    ['ab', 'xb', 'axb'],
    ['ac', 'ba', 'bac'],
    ['ebad', 'beca', 'bdeca'],
    ['bcade', 'db', 'cadeb'],
    ['adcbe', 'cdea', 'cbdea'],
  ])('%j with %j applied is %j', (stored, applied, expected) => {
    const list = (text: string) => text.split('');
    expect(mergeValues(list(stored), list(applied), { list: 'set' })).toEqual(list(expected));
  });
});

const config = fc
  .record(
    {
      metadata: fc.record(
        {
          labels: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'), { minKeys: 1 }),
          finalizers: fc.uniqueArray(fc.constantFrom('example.com/a', 'example.com/b', 'example.com/c'), {
            minLength: 1,
          }),
        },
        { requiredKeys: [] },
      ),
      spec: fc.record({ unschedulable: fc.constant(true), podCIDR: fc.constant('10.0.0.0/24') }, { requiredKeys: [] }),
    },
    { requiredKeys: ['metadata'] },
  )
  .map((value): JsonObject => JSON.parse(JSON.stringify(value)));
const applies = fc.array(fc.tuple(fc.constantFrom('one', 'two'), config), { minLength: 1, maxLength: 8 });

describe('any sequence of forced applies', () => {
  it('ends in a state that the last of them does not change again', () => {
    fc.assert(
      fc.property(applies, sequence => {
        const { api } = aServer();
        for (const [manager, each] of sequence) apply(api, manager, each, { force: true });
        const version = api.resourceVersion;
        const [manager = '', last = {}] = sequence.at(-1) ?? [];
        apply(api, manager, last, { force: true });
        expect(api.resourceVersion).toBe(version);
      }),
    );
  });

  it('leaves nothing behind of a manager that finally applies nothing', () => {
    fc.assert(
      fc.property(applies, sequence => {
        const { api } = aServer();
        for (const [manager, each] of sequence) apply(api, manager, each, { force: true });
        for (const manager of ['one', 'two']) apply(api, manager, {}, { force: true });
        const { metadata, spec } = api.get(node('n1'));
        expect([metadata.labels, metadata.finalizers, spec]).toEqual([undefined, undefined, {}]);
      }),
    );
  });

  it('contains what the last of them says', () => {
    fc.assert(
      fc.property(applies, sequence => {
        const { api } = aServer();
        for (const [manager, each] of sequence) apply(api, manager, each, { force: true });
        const [, last = {}] = sequence.at(-1) ?? [];
        const { metadata, spec } = api.get(node('n1'));
        const said = JSON.parse(JSON.stringify({ labels: {}, finalizers: [], ...Object(last.metadata) }));
        expect(metadata.labels ?? {}).toMatchObject(said.labels);
        expect(metadata.finalizers ?? []).toEqual(expect.arrayContaining(said.finalizers));
        expect(spec).toMatchObject(Object(last.spec));
      }),
    );
  });
});

const created = fc
  .record(
    {
      data: fc.dictionary(fc.constantFrom('a', 'b', 'c:', '{'), fc.constantFrom('1', ''), { maxKeys: 3 }),
      labels: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2'), { maxKeys: 2 }),
      finalizers: fc.uniqueArray(fc.constantFrom('example.com/a', 'example.com/b'), { maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  .map(({ data, ...metadata }): JsonObject => JSON.parse(JSON.stringify({ data, metadata })));

/** Who manages which fields of a new ConfigMap. */
function fieldsOfNew(api: ApiServerCore, name: string, { metadata, ...rest }: JsonObject): unknown {
  const config = aConfigMap(name);
  const body = { ...config, ...rest, metadata: { ...config.metadata, ...Object(metadata) } };
  return Object(
    api.create(CONFIG_MAPS, body, {
      fieldManager: 'curfew',
    }).metadata,
  ).managedFields;
}

describe('the fields of a new object', () => {
  it('are its own, whatever was created before it', () => {
    fc.assert(
      fc.property(fc.array(created, { minLength: 2, maxLength: 6 }), objects => {
        const { api } = aServer();
        const together = objects.map((each, index) => fieldsOfNew(api, `c${index}`, each));
        expect(together).toEqual(objects.map((each, index) => fieldsOfNew(aServer().api, `c${index}`, each)));
      }),
      { numRuns: 50 },
    );
  });
});
