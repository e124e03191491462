import { describe, expect, it } from 'vitest';
import type { ApiServerCore } from '../src/types.ts';
import type { JsonObject, KubernetesManifest, ResourceType } from '../src/kubernetes-object.ts';
import { DEFINITIONS, START, aServer, causesOf, find, refusal, watching } from './server-under-test.ts';

const POOLS: ResourceType = { group: 'example.com', version: 'v1', resource: 'pools' };
const pool = { type: POOLS, name: 'a' };

/** A schema with what custom resources around nodes use. */
const SPEC: JsonObject = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1, maximum: 50 },
    mode: { type: 'string', enum: ['Observe', 'Enforce'], default: 'Observe' },
    expireAfter: { type: 'string', pattern: '^(([0-9]+(s|m|h))+|Never)$', maxLength: 10 },
    at: { type: 'string', format: 'date-time' },
    seconds: { type: 'integer', format: 'int64' },
    percent: { 'x-kubernetes-int-or-string': true },
    note: { type: 'string', nullable: true },
    weights: { type: 'object', additionalProperties: { type: 'integer' }, maxProperties: 2 },
    template: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    object: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set', maxItems: 3 },
    budgets: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, nodes: { type: 'string', default: '10%' } },
      },
    },
  },
};

function aDefinition(
  more: { spec?: JsonObject; version?: JsonObject; versions?: JsonObject[] } = {},
): KubernetesManifest {
  const status = { type: 'object', properties: { ready: { type: 'boolean' }, count: { type: 'integer' } } };
  const openAPIV3Schema = {
    type: 'object',
    required: ['spec'],
    properties: { spec: { ...SPEC, ...more.spec }, status },
  };
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema },
    subresources: { status: {} },
    ...more.version,
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'pools.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'pools', kind: 'Pool', shortNames: ['pl'], categories: ['karpenter'] },
      versions: [version, ...(more.versions ?? [])],
    },
  };
}

function aPool(spec: JsonObject, more: JsonObject = {}): KubernetesManifest {
  return { apiVersion: 'example.com/v1', kind: 'Pool', metadata: { name: 'a' }, spec: { size: 1, ...spec }, ...more };
}

function aServerWithPools(definition = aDefinition()) {
  const server = aServer();
  server.api.create(DEFINITIONS, definition);
  return server;
}

/** Creates a pool and returns its spec. */
function specOf(api: ApiServerCore, spec: JsonObject): unknown {
  return api.create(POOLS, aPool(spec)).spec;
}

describe('a CustomResourceDefinition', () => {
  it('starts serving its kind at once', () => {
    const { api } = aServer();
    expect(api.resource(POOLS)).toBeUndefined();
    const created = api.create(DEFINITIONS, aDefinition());
    expect(created).toMatchObject({
      spec: { names: { singular: 'pool', listKind: 'PoolList' } },
      status: {
        conditions: [
          { type: 'NamesAccepted', status: 'True', lastTransitionTime: START },
          { type: 'Established', status: 'True', lastTransitionTime: START },
        ],
        storedVersions: ['v1'],
      },
    });
    expect(api.resource({ group: 'example.com', resource: 'pools' })).toMatchObject({
      ...POOLS,
      kind: 'Pool',
      listKind: 'PoolList',
      shortNames: ['pl'],
      categories: ['karpenter'],
      namespaced: false,
      hasStatus: true,
      subresources: ['status'],
    });
    expect(api.resourceForKind('example.com/v1', 'Pool')).toBe(api.resource(POOLS));
  });

  it('changes what is served when it changes, and keeps the objects', () => {
    const { api } = aServerWithPools();
    api.create(POOLS, aPool({ extra: 1 }));
    const body = [
      {
        op: 'add',
        path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/extra',
        value: { type: 'integer' },
      },
    ];
    api.patch({ type: DEFINITIONS, name: 'pools.example.com' }, { type: 'json', body });
    expect(api.patch(pool, { type: 'merge', body: { spec: { extra: 2 } } }).spec).toMatchObject({ size: 1, extra: 2 });
  });

  it('takes its objects with it when it is deleted, and its watches end', () => {
    const { api } = aServerWithPools();
    api.create(POOLS, aPool({}));
    const { lines } = watching(api, POOLS);
    api.delete({ type: DEFINITIONS, name: 'pools.example.com' });
    expect(lines()).toEqual(['ADDED a', 'DELETED a', 'ERROR 410']);
    expect(api.resource(POOLS)).toBeUndefined();
    expect(refusal(() => api.get(pool)).code).toBe(404);
  });

  it('waits for objects that finalizers hold, and lets none be created meanwhile', () => {
    const { api } = aServerWithPools();
    const definition = { type: DEFINITIONS, name: 'pools.example.com' };
    api.create(POOLS, { ...aPool({}), metadata: { name: 'a', finalizers: ['example.com/hold'] } });
    expect(api.delete(definition)).toMatchObject({
      metadata: { finalizers: ['customresourcecleanup.apiextensions.k8s.io'] },
    });
    expect(refusal(() => api.create(POOLS, { ...aPool({}), metadata: { name: 'b' } }))).toMatchObject({ code: 405 });
    api.patch(pool, { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(find(api, definition)).toBeUndefined();
  });

  it.each<[string, (definition: JsonObject) => JsonObject, string]>([
    [
      'a name that does not fit',
      definition => ({ ...definition, metadata: { name: 'other' } }),
      'metadata.name: Invalid value: "other": must be spec.names.plural+"."+spec.group',
    ],
    [
      'no storage version',
      definition => ({ ...definition, spec: { ...Object(definition.spec), versions: [] } }),
      'must have exactly one version marked as storage version',
    ],
    [
      'no scope',
      definition => ({ ...definition, spec: { ...Object(definition.spec), scope: '' } }),
      'spec.scope: Unsupported value: ""',
    ],
  ])('is refused with %s', (_, change, message) => {
    const { api } = aServer();
    const manifest = JSON.parse(JSON.stringify(change(JSON.parse(JSON.stringify(aDefinition())))));
    const status = refusal(() => api.create(DEFINITIONS, manifest));
    expect(status.code).toBe(422);
    expect(status.message).toContain(message);
  });

  it('with two versions serves the same objects in both, and stores what the storage version knows', () => {
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const v2 = { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: open } };
    const { api } = aServerWithPools(aDefinition({ versions: [v2] }));
    api.create(POOLS, aPool({}));
    const inV2 = { type: { ...POOLS, version: 'v2' }, name: 'a' };
    expect(api.get(inV2).apiVersion).toBe('example.com/v2');
    const patched = api.patch(inV2, { type: 'merge', body: { spec: { size: 2, unknown: 1 } } });
    expect(patched).toMatchObject({ apiVersion: 'example.com/v2', spec: { size: 2, mode: 'Observe' } });
    expect(api.get(pool)).toMatchObject({ apiVersion: 'example.com/v1', spec: { size: 2 } });
    expect(api.get(pool).spec).not.toHaveProperty('unknown');
    expect(api.resource({ group: 'example.com', resource: 'pools' })?.version).toBe('v2');
  });

  it('names fields that its objects can be selected by', () => {
    const { api } = aServerWithPools(aDefinition({ version: { selectableFields: [{ jsonPath: '.spec.mode' }] } }));
    api.create(POOLS, aPool({ mode: 'Enforce' }));
    expect(api.list(POOLS, { fieldSelector: 'spec.mode=Enforce' }).items).toHaveLength(1);
    expect(api.list(POOLS, { fieldSelector: 'spec.mode=Observe' }).items).toHaveLength(0);
    expect(refusal(() => api.list(POOLS, { fieldSelector: 'spec.size=1' })).code).toBe(400);
  });

  it('brings its printer columns', () => {
    const column = { name: 'Mode', type: 'string', jsonPath: '.spec.mode', priority: 1 };
    const { api } = aServerWithPools(aDefinition({ version: { additionalPrinterColumns: [column] } }));
    expect(api.resource(POOLS)?.printerColumns).toEqual([column]);
  });
});

describe('pruning', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['drops fields that the schema does not know', { unknown: 1 }, {}],
    ['drops them in items', { budgets: [{ name: 'a', nodes: '1', x: 1 }] }, { budgets: [{ name: 'a', nodes: '1' }] }],
    [
      'keeps them where it is told to',
      { template: { any: [{ thing: null }] } },
      { template: { any: [{ thing: null }] } },
    ],
    ['keeps the members of a map', { weights: { a: 1, b: 2 } }, { weights: { a: 1, b: 2 } }],
    [
      'keeps an embedded object, but for metadata that is none',
      { object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', x: 1 }, spec: {} } },
      { object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: {} } },
    ],
    ['drops nulls', { expireAfter: null }, {}],
    ['keeps nulls where they are values', { note: null }, { note: null }],
  ])('%s', (_, spec, expected) => {
    const { api } = aServerWithPools();
    expect(specOf(api, spec)).toEqual({ size: 1, mode: 'Observe', ...expected });
  });

  it('is told as warnings, refused when strict, silent when ignored', () => {
    const { api } = aServerWithPools();
    const warnings: string[] = [];
    const onWarning = (warning: string) => warnings.push(warning);
    const manifest = aPool({ unknown: 1, budgets: [{ name: 'a', x: 1 }] });
    api.create(POOLS, manifest, { dryRun: true, onWarning });
    api.create(POOLS, manifest, { dryRun: true, onWarning, fieldValidation: 'Ignore' });
    expect(warnings).toEqual(['unknown field "spec.unknown"', 'unknown field "spec.budgets[0].x"']);
    expect(refusal(() => api.create(POOLS, manifest, { fieldValidation: 'Strict' }))).toMatchObject({
      code: 400,
      message:
        'Pool in version "v1" cannot be handled as a Pool: strict decoding error: unknown field "spec.unknown", unknown field "spec.budgets[0].x"',
    });
  });
});

describe('defaulting', () => {
  it('fills in what is absent or null, in items too, and leaves the rest', () => {
    const { api } = aServerWithPools();
    expect(specOf(api, { mode: null, budgets: [{ name: 'a' }, { name: 'b', nodes: '5' }] })).toEqual({
      size: 1,
      mode: 'Observe',
      budgets: [
        { name: 'a', nodes: '10%' },
        { name: 'b', nodes: '5' },
      ],
    });
  });

  it('happens on updates', () => {
    const { api } = aServerWithPools();
    api.create(POOLS, aPool({ mode: 'Enforce' }));
    expect(api.patch(pool, { type: 'merge', body: { spec: { mode: null } } }).spec).toMatchObject({ mode: 'Observe' });
  });

  it('happens to seeded objects', () => {
    const { api } = aServerWithPools();
    expect(api.seed(aPool({})).spec).toEqual({ size: 1, mode: 'Observe' });
  });
});

describe('validation', () => {
  it.each<[string, JsonObject, string]>([
    ['a missing field', { size: undefined }, 'spec.size: Required value'],
    [
      'a wrong type',
      { size: 'x' },
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
    ],
    ['too little', { size: 0 }, 'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1'],
    ['too much', { size: 51 }, 'spec.size: Invalid value: 51: spec.size in body should be less than or equal to 50'],
    [
      'another value',
      { mode: 'Watch' },
      'spec.mode: Unsupported value: "Watch": supported values: "Observe", "Enforce"',
    ],
    [
      'another pattern',
      { expireAfter: '4d' },
      `spec.expireAfter: Invalid value: "4d": spec.expireAfter in body should match '^(([0-9]+(s|m|h))+|Never)$'`,
    ],
    ['a text too long', { expireAfter: '1h1h1h1h1h1h' }, 'spec.expireAfter: Too long: may not be more than 10 bytes'],
    ['no date', { at: 'noon' }, 'spec.at: Invalid value: "noon": spec.at in body must be of type date-time: "noon"'],
    [
      'neither integer nor string',
      { percent: {} },
      'spec.percent: Invalid value: "object": spec.percent in body must be of type integer,string: "object"',
    ],
    ['too many items', { tags: ['a', 'b', 'c', 'd'] }, 'spec.tags: Too many: 4: must have at most 3 items'],
    ['too many members', { weights: { a: 1, b: 1, c: 1 } }, 'spec.weights: Too many: 3: must have at most 2 items'],
    [
      'a member of the wrong type',
      { weights: { a: 'x' } },
      'spec.weights.a: Invalid value: "string": spec.weights.a in body must be of type integer: "string"',
    ],
    ['a value twice in a set', { tags: ['a', 'a'] }, 'spec.tags[1]: Duplicate value: "a"'],
    [
      'a key twice in a map list',
      { budgets: [{ name: 'a' }, { name: 'a' }] },
      'spec.budgets[1]: Duplicate value: {"name":"a"}',
    ],
  ])('refuses %s', (_, spec, cause) => {
    const { api } = aServerWithPools();
    const status = refusal(() => api.create(POOLS, aPool(spec)));
    expect(status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      details: { name: 'a', group: 'example.com', kind: 'Pool' },
    });
    expect(causesOf(status)).toEqual([cause]);
  });

  const UNCHECKED =
    '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

  it.each<[string, JsonObject, string[]]>([
    [
      'a fraction',
      { size: 1.5 },
      [
        'spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.size',
      ],
    ],
    [
      'a fraction where a format is given',
      { seconds: 1.5 },
      [
        'spec.seconds: Invalid value: "float64": spec.seconds in body must be of type int64: "float64"',
        '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in spec.seconds',
      ],
    ],
    [
      'what is no number where a format is given',
      { seconds: false },
      ['spec.seconds: Invalid value: "": spec.seconds in body must be of type int64: ""'],
    ],
    [
      'text where a format is given',
      { seconds: '1' },
      ['spec.seconds: Invalid value: "string": spec.seconds in body must be of type integer: "string"'],
    ],
    [
      'a fraction where integers and texts are wanted',
      { percent: 1.5 },
      ['spec.percent: Invalid value: "number": spec.percent in body must be of type integer,string: "number"'],
    ],
    [
      'an item of a map list that is no object',
      { budgets: [{ name: 'a' }, 1, { name: 'a' }] },
      [
        'spec.budgets[1]: Invalid value: "integer": spec.budgets[1] in body must be of type object: "integer"',
        'spec.budgets[1]: Invalid value: 1: must be an object for an array of list-type map',
      ],
    ],
  ])('refuses %s in the words of kube-apiserver', (_, spec, causes) => {
    const { api } = aServerWithPools();
    const found = causesOf(refusal(() => api.create(POOLS, aPool(spec))));
    expect(found.filter(cause => cause !== UNCHECKED).toSorted()).toEqual(causes.toSorted());
  });

  it('names all violations at once', () => {
    const { api } = aServerWithPools();
    const status = refusal(() => api.create(POOLS, aPool({ size: 0, mode: 'x' })));
    expect(status.message).toMatch(/^Pool\.example\.com "a" is invalid: \[spec\.size: .*, spec\.mode: .*\]$/);
  });

  it('does not refuse a change elsewhere for what was stored before the schema was tightened', () => {
    const { api } = aServerWithPools();
    api.seed(aPool({ size: 99, mode: 'Old' }));
    const patch = (spec: JsonObject) => api.patch(pool, { type: 'merge', body: { spec } });
    expect(patch({ expireAfter: '1h' }).spec).toMatchObject({ size: 99, mode: 'Old', expireAfter: '1h' });
    expect(causesOf(refusal(() => patch({ size: 98 })))).toHaveLength(1);
  });

  it('refuses strategic merge patches', () => {
    const { api } = aServerWithPools();
    api.create(POOLS, aPool({}));
    expect(refusal(() => api.patch(pool, { type: 'strategic', body: {} }))).toMatchObject({
      code: 415,
      reason: 'UnsupportedMediaType',
    });
  });

  it('wants a resourceVersion in a PUT, and another kind is invalid', () => {
    const { api } = aServerWithPools();
    api.create(POOLS, aPool({}));
    expect(refusal(() => api.update(pool, aPool({ size: 2 }))).code).toBe(422);
    expect(refusal(() => api.create(POOLS, { ...aPool({}), kind: 'Pond' })).message).toContain(
      'kind: Invalid value: "Pond": must be Pool',
    );
  });
});

describe('a custom resource that is seeded over another', () => {
  const rules = [{ rule: 'self.size == oldSelf.size', message: 'size cannot change' }];
  const kept = { keepsTransitions: true };
  const aServerWith = (first: JsonObject): ApiServerCore => {
    const { api } = aServerWithPools(aDefinition({ spec: { 'x-kubernetes-validations': rules } }));
    api.seed(aPool({}, { spec: first }));
    return api;
  };

  it('keeps what its transition rules keep, where that is asked for, and nothing else of its schema', () => {
    const api = aServerWith({ size: 1 });
    const { code, message } = refusal(() => api.seed(aPool({ size: 2 }), kept));
    expect([code, message]).toEqual([422, 'Pool.example.com "a" is invalid: spec: Invalid value: size cannot change']);
    api.seed(aPool({ size: 1, mode: 'Nonsense' }), kept);
    expect(api.get(pool)).toMatchObject({ spec: { mode: 'Nonsense' } });
    api.seed(aPool({ size: 2 }, { metadata: { name: 'a', uid: 'another' } }), kept);
    api.seed(aPool({ size: 3 }));
    expect(api.get(pool)).toMatchObject({ spec: { size: 3 } });
  });

  it('is mended where the rule does not apply to the one that is there', () => {
    const api = aServerWith({});
    api.seed(aPool({ size: 2 }), kept);
    expect(api.get(pool)).toMatchObject({ spec: { size: 2 } });
  });
});

describe('the status of a custom resource', () => {
  it('is dropped on creation and by writes of the object, and is all that a status write changes', () => {
    const { api } = aServerWithPools();
    expect(api.create(POOLS, aPool({}, { status: { ready: true } })).status).toBeUndefined();
    expect(api.patch(pool, { type: 'merge', body: { status: { ready: true } } }).status).toBeUndefined();
    const body = { metadata: { labels: { a: 'b' } }, spec: { size: 2 }, status: { ready: true, unknown: 1 } };
    const patched = api.patch(pool, { type: 'merge', body }, { subresource: 'status' });
    expect(patched).toMatchObject({ spec: { size: 1 }, status: { ready: true } });
    expect(patched.status).not.toHaveProperty('unknown');
    expect(patched.metadata).not.toHaveProperty('labels');
    expect(patched.metadata.generation).toBe(1);
  });

  it('is validated', () => {
    const { api } = aServerWithPools();
    api.create(POOLS, aPool({}));
    const status = refusal(() =>
      api.patch(pool, { type: 'merge', body: { status: { count: 'x' } } }, { subresource: 'status' }),
    );
    expect(causesOf(status)).toEqual([
      'status.count: Invalid value: "string": count in body must be of type integer: "string"',
    ]);
  });

  it('is an ordinary field without the subresource', () => {
    const { api } = aServerWithPools(aDefinition({ version: { subresources: {} } }));
    expect(api.create(POOLS, aPool({}, { status: { ready: true } })).status).toEqual({ ready: true });
    expect(api.resource(POOLS)?.hasStatus).toBe(false);
  });
});

describe('applying a custom resource', () => {
  const apply = (api: ApiServerCore, fieldManager: string, spec: JsonObject) =>
    api.patch(pool, { type: 'apply', body: JSON.parse(JSON.stringify(aPool(spec))) }, { fieldManager });

  it('merges lists by the keys of the schema', () => {
    const { api } = aServerWithPools();
    apply(api, 'one', { budgets: [{ name: 'a', nodes: '1' }], tags: ['x'] });
    const merged = apply(api, 'two', { budgets: [{ name: 'b', nodes: '2' }], tags: ['y'] });
    expect(merged.spec).toMatchObject({
      budgets: [
        { name: 'a', nodes: '1' },
        { name: 'b', nodes: '2' },
      ],
      tags: ['x', 'y'],
    });
    const less = apply(api, 'one', {});
    expect(less.spec).toMatchObject({ budgets: [{ name: 'b', nodes: '2' }], tags: ['y'] });
  });

  it('is refused for fields that the schema does not know', () => {
    const { api } = aServerWithPools();
    expect(refusal(() => apply(api, 'one', { unknown: 1 }))).toMatchObject({
      code: 500,
      message:
        'failed to create typed patch object (/a; example.com/v1, Kind=Pool): .spec.unknown: field not declared in schema',
    });
  });
});

describe('generations and finalizers of custom resources', () => {
  it('count changes of the spec, not of metadata', () => {
    const { api } = aServerWithPools();
    api.create(POOLS, aPool({}));
    expect(api.patch(pool, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } }).metadata.generation).toBe(1);
    expect(api.patch(pool, { type: 'merge', body: { spec: { size: 2 } } }).metadata.generation).toBe(2);
  });

  it('may lack a prefix, with a warning', () => {
    const { api } = aServerWithPools();
    const warnings: string[] = [];
    api.create(
      POOLS,
      { ...aPool({}), metadata: { name: 'a', finalizers: ['hold'] } },
      { onWarning: warning => warnings.push(warning) },
    );
    expect(warnings).toEqual([
      'metadata.finalizers: "hold": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ]);
  });
});
