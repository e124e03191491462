import { describe, expect, it } from 'vitest';
import { builtInMergeSchema } from '../src/resources/built-in-merge-schemas.ts';
import { strategicMergePatch } from '../src/patch/strategic.ts';
import type { JsonObject } from '../src/kubernetes-object.ts';
import { NODES, aNode, aServer, node, refusal } from './server-under-test.ts';

function check(kind: string, target: JsonObject, patch: JsonObject): JsonObject {
  return strategicMergePatch(target, patch, builtInMergeSchema(kind));
}

describe('a strategic merge patch', () => {
  it('merges conditions by type, and puts those of the patch first', () => {
    const target = {
      status: {
        conditions: [
          { type: 'Ready', status: 'True', reason: 'r' },
          { type: 'Disk', status: 'False' },
        ],
      },
    };
    const conditions = [
      { type: 'New', status: 'True' },
      { type: 'Ready', status: 'Unknown' },
    ];
    expect(check('Node', target, { status: { conditions } })).toEqual({
      status: {
        conditions: [
          { type: 'New', status: 'True' },
          { type: 'Ready', status: 'Unknown', reason: 'r' },
          { type: 'Disk', status: 'False' },
        ],
      },
    });
  });

  it('merges finalizers as a set', () => {
    const target = { metadata: { finalizers: ['a/a', 'b/b'] } };
    expect(check('Node', target, { metadata: { finalizers: ['b/b', 'c/c'] } })).toEqual({
      metadata: { finalizers: ['a/a', 'b/b', 'c/c'] },
    });
  });

  it('replaces taints, which have no merge key', () => {
    const target = { spec: { taints: [{ key: 'a' }] } };
    expect(check('Node', target, { spec: { taints: [{ key: 'b' }] } })).toEqual({ spec: { taints: [{ key: 'b' }] } });
  });

  it('merges containers by name, their environment by name, their ports by number', () => {
    const container = {
      name: 'app',
      image: '1',
      env: [{ name: 'A', value: '1' }],
      ports: [{ containerPort: 80, name: 'http' }],
    };
    const patch = { name: 'app', env: [{ name: 'B', value: '2' }], ports: [{ containerPort: 80, name: 'web' }] };
    expect(check('Pod', { spec: { containers: [container] } }, { spec: { containers: [patch] } })).toEqual({
      spec: {
        containers: [
          {
            name: 'app',
            image: '1',
            env: [
              { name: 'B', value: '2' },
              { name: 'A', value: '1' },
            ],
            ports: [{ containerPort: 80, name: 'web' }],
          },
        ],
      },
    });
  });

  it('merges the pod template of a workload like a pod', () => {
    const of = (containers: JsonObject[]): JsonObject => ({ spec: { template: { spec: { containers } } } });
    const patched = check('Deployment', of([{ name: 'a' }, { name: 'b' }]), of([{ name: 'b', image: 'x' }]));
    expect(patched).toEqual(of([{ name: 'a' }, { name: 'b', image: 'x' }]));
  });

  it('replaces the selector of a budget as a whole', () => {
    const target = { spec: { selector: { matchLabels: { a: 'b' } } } };
    const patch = { spec: { selector: { matchLabels: { c: 'd' } } } };
    expect(check('PodDisruptionBudget', target, patch)).toEqual(patch);
  });

  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['null removes a field', { a: 1, b: 2 }, { a: null }, { b: 2 }],
    [
      '$patch: delete removes an item',
      { status: { conditions: [{ type: 'A' }, { type: 'B' }] } },
      { status: { conditions: [{ type: 'A', $patch: 'delete' }] } },
      { status: { conditions: [{ type: 'B' }] } },
    ],
    [
      '$patch: replace replaces a list',
      { status: { conditions: [{ type: 'A' }, { type: 'B' }] } },
      { status: { conditions: [{ type: 'C' }, { $patch: 'replace' }] } },
      { status: { conditions: [{ type: 'C' }] } },
    ],
    [
      '$patch: replace replaces an object',
      { spec: { a: 1, b: 2 } },
      { spec: { c: 3, $patch: 'replace' } },
      { spec: { c: 3 } },
    ],
    ['$patch: delete empties an object', { spec: { a: 1 } }, { spec: { $patch: 'delete' } }, { spec: {} }],
    [
      '$deleteFromPrimitiveList takes out values',
      { metadata: { finalizers: ['a/a', 'b/b', 'c/c'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['b/b'] } },
      { metadata: { finalizers: ['a/a', 'c/c'] } },
    ],
    [
      '$setElementOrder orders a list',
      { status: { conditions: [{ type: 'A' }, { type: 'B' }, { type: 'C' }] } },
      {
        status: {
          '$setElementOrder/conditions': [{ type: 'C' }, { type: 'A' }],
          conditions: [{ type: 'A', status: 'x' }],
        },
      },
      { status: { conditions: [{ type: 'B' }, { type: 'C' }, { type: 'A', status: 'x' }] } },
    ],
    [
      '$retainKeys drops the other keys',
      { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: {} } } },
      { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
      { spec: { strategy: { type: 'Recreate' } } },
    ],
    [
      'directives in what is new are not stored',
      {},
      { spec: { a: { $patch: 'replace', b: 1, c: null } } },
      { spec: { a: { b: 1 } } },
    ],
  ])('%s', (_, target, patch, expected) => {
    const text = JSON.stringify(target);
    expect(check('Node', target, patch)).toEqual(expected);
    expect(JSON.stringify(target)).toBe(text);
  });

  it('is refused for an unknown directive and for an item without its key', () => {
    const { api } = aServer();
    api.create(NODES, aNode('n1', { status: { conditions: [{ type: 'A' }] } }));
    const patch = (body: JsonObject) =>
      refusal(() => api.patch(node('n1'), { type: 'strategic', body }, { subresource: 'status' }));
    expect(patch({ status: { $patch: 'mend' } }).code).toBe(500);
    expect(patch({ status: { conditions: [{ status: 'True' }] } }).message).toContain(
      'does not contain declared merge key: type',
    );
  });
});
