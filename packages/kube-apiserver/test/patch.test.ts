import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergePatch } from '../src/patch/merge.ts';
import type { JsonObject } from '../src/kubernetes-object.ts';
import { NODES, aNode, aServer, node, refusal, watching } from './server-under-test.ts';

function asObject(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

const json = fc
  .object({
    maxDepth: 3,
    key: fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'),
    values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)],
  })
  .map(asObject);

/** RFC 7386, section 2, word for word: the oracle. */
function rfc7386(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result = new Map(
    typeof target === 'object' && target !== null && !Array.isArray(target) ? Object.entries(target) : [],
  );
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, rfc7386(result.get(key), value));
  }
  return JSON.parse(
    `{${[...result].map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`,
  );
}

describe('a JSON merge patch', () => {
  it('does what RFC 7386 says, for any target and patch', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        expect(asObject(mergePatch(target, patch))).toEqual(rfc7386(target, patch));
      }),
    );
  });

  it('applied twice is the same as applied once, and then returns the target itself', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const once = mergePatch(target, patch);
        expect(mergePatch(once, patch)).toBe(once);
      }),
    );
  });

  it('leaves target and patch as they are', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const [targetText, patchText] = [JSON.stringify(target), JSON.stringify(patch)];
        mergePatch(target, patch);
        expect([JSON.stringify(target), JSON.stringify(patch)]).toEqual([targetText, patchText]);
      }),
    );
  });

  it('shares what it does not touch', () => {
    const { api } = aServer();
    const before = api.create(
      NODES,
      aNode('n1', { spec: { podCIDR: '10.0.0.0/24' }, status: { capacity: { cpu: '4' } } }),
    );
    const after = api.patch(node('n1'), { type: 'merge', body: { status: { phase: 'x' } } }, { subresource: 'status' });
    expect(after.spec).toBe(before.spec);
    expect(after.status?.capacity).toBe(before.status?.capacity);
  });

  it('makes a version and an event only when it changes something', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', {}, { labels: { a: 'b' } }));
    const { lines } = watching(api, NODES, { resourceVersion: api.resourceVersion });
    const version = api.resourceVersion;
    const patch = (value: string) =>
      api.patch(node('n1'), { type: 'merge', body: { metadata: { labels: { a: value } } } });
    patch('b');
    expect(api.resourceVersion).toBe(version);
    patch('c');
    expect(lines()).toEqual(['MODIFIED n1']);
  });

  it('holds only for the version that it names', () => {
    const { api } = aServer();
    const { metadata } = api.create(NODES, aNode('n1'));
    const patch = (resourceVersion: string | null, a: string) =>
      api.patch(node('n1'), { type: 'merge', body: { metadata: { resourceVersion, labels: { a } } } });
    patch(metadata.resourceVersion, '1');
    expect(refusal(() => patch(metadata.resourceVersion, '2'))).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(patch(null, '3').metadata.labels).toEqual({ a: '3' });
  });

  it.each<[string, JsonObject, number, string]>([
    ['of the name', { metadata: { name: 'n2' } }, 400, 'does not match the name on the URL (n1)'],
    ['of the kind', { kind: 'Pod' }, 422, ' "" is invalid: patch: Invalid value:'],
    [
      'that makes a label a number',
      { metadata: { labels: { a: 1 } } },
      422,
      'cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
  ])('is refused for a change %s', (_, body, code, message) => {
    const { api } = aServer();
    api.create(NODES, aNode('n1'));
    const status = refusal(() => api.patch(node('n1'), { type: 'merge', body }));
    expect(status.code).toBe(code);
    expect(status.message).toContain(message);
  });

  it('of an object that does not exist is refused with 404', () => {
    expect(refusal(() => aServer().api.patch(node('n1'), { type: 'merge', body: {} })).code).toBe(404);
  });
});

describe('a JSON patch', () => {
  it('does its operations in order', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }, { labels: { a: 'b' } }));
    const patched = api.patch(node('n1'), {
      type: 'json',
      body: [
        { op: 'test', path: '/metadata/labels/a', value: 'b' },
        { op: 'add', path: '/spec/taints/-', value: { key: 'b', effect: 'NoExecute' } },
        { op: 'remove', path: '/spec/taints/0' },
        { op: 'replace', path: '/metadata/labels/a', value: 'c' },
      ],
    });
    expect(patched).toMatchObject({
      metadata: { labels: { a: 'c' } },
      spec: { taints: [{ key: 'b', effect: 'NoExecute' }] },
    });
  });

  it.each<[string, JsonObject]>([
    ['a test that fails', { op: 'test', path: '/metadata/name', value: 'other' }],
    ['a removal of what is not there', { op: 'remove', path: '/spec/taints' }],
    ['an unknown operation', { op: 'frobnicate', path: '/spec' }],
    ['a test of what has no place', { op: 'test', path: '/spec/a/b', value: 1 }],
    ['a copy from what has no place', { op: 'copy', from: '/spec/a/b', path: '/spec/c' }],
    ['a move to what has no place', { op: 'move', from: '/spec', path: '/status/a/b' }],
    ['a move of the whole into a part of it', { op: 'move', from: '', path: '/spec/a' }],
    ['a copy of the whole into a part of it', { op: 'copy', from: '', path: '/spec/a' }],
    ['a removal of the whole', { op: 'remove', path: '' }],
    ['an addition that is the whole', { op: 'add', path: '', value: {} }],
    ['a move from nowhere', { op: 'move', path: '/spec/a' }],
    ['a path that does not begin with a slash', { op: 'add', path: 'spec', value: {} }],
  ])('is refused as a whole for %s', (_, operation) => {
    const { api } = aServer();
    const before = api.create(NODES, aNode('n1'));
    const body = [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }, operation];
    expect(refusal(() => api.patch(node('n1'), { type: 'json', body }))).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    });
    expect(api.get(node('n1'))).toBe(before);
  });

  it('takes what is not there for null where kube-apiserver does', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', {}, { annotations: { a: 'b' } }));
    const body = [
      { op: 'test', path: '/metadata/labels', value: null },
      { op: 'test', path: '/metadata/labels' },
      { op: 'copy', from: '/metadata/labels', path: '/metadata/annotations' },
      { op: 'add', path: '/spec' },
      { op: 'replace', path: '/metadata/labels', value: { c: 'd' } },
    ];
    const { metadata } = api.patch(node('n1'), { type: 'json', body });
    expect(metadata.labels).toEqual({ c: 'd' });
    expect(metadata.annotations).toBeUndefined();
  });
});
