import { describe, expect, it } from 'vitest';
import { nodesAndSharing } from '../../../../functions/finalizer/termination/instance-sharing.ts';
import { withoutMismatched } from '../../../../functions/finalizer/termination/rule/instance.ts';
import { createReconciler } from '../../../../functions/finalizer/route.ts';
import { EMPTY_TERMINATION, type TerminationRecord } from '../../../../functions/finalizer/termination/record.ts';
import type { ReconcilerFactory } from '../../../../runtime/functions.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../../../shared/domain/time.ts';
import type { KubernetesApi } from '../../../../shared/ports/kubernetes-api.ts';
import { runScenario } from '../../../../simulator/run.ts';
import { failuresOf, historyText, scenarioOf } from '../../../builders/scenario.ts';

const NODES = 12;
const indexes = Array.from({ length: NODES }, (_, n) => n);
const labels = '{ karpenter.sh/nodepool: default }';
const instance = (n: number): string => `"aws:///us-west-2a/i-${n}"`;
const claimOf = (n: number): string =>
  `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: c${n}, labels: ${labels}, finalizers: [karpenter.sh/termination] }, status: { providerID: ${instance(n)}, nodeName: n${n} } }`;
const nodeOf = (n: number): string =>
  `{ apiVersion: v1, kind: Node, metadata: { name: n${n}, uid: u${n}, labels: ${labels}, finalizers: [karpenter.sh/termination] }, spec: { providerID: ${instance(n)} } }`;
const POLICY = `{ apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: all }, spec: { termination: { finalizerName: example.com/custom } } }`;

/** All NodeClaims are deleted at once. Answers the lists of each resource that the finalizer function asked for from then on. */
async function listsOfStorm(policy: readonly string[]): Promise<{ nodes: number; nodeclaims: number }> {
  const lists = { nodes: 0, nodeclaims: 0 };
  const counted: ReconcilerFactory = deps => {
    const { kubernetes, clock } = deps;
    const start = clock.now();
    return createReconciler({
      ...deps,
      kubernetes: {
        ...kubernetes,
        list: (...args) => {
          const { resource } = args[0];
          if ((resource === 'nodes' || resource === 'nodeclaims') && clock.now() - start >= 9_000) lists[resource] += 1;
          return kubernetes.list(...args);
        },
      },
    });
  };
  const text = historyText({
    duration: '30s',
    objects: [
      '{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default } }',
      ...policy,
      ...indexes.flatMap(n => [claimOf(n), nodeOf(n)]),
    ],
    steps: indexes.map(n => `{ at: 10s, delete: { resource: nodeclaims, name: c${n} } }`),
  });
  await runScenario(scenarioOf(text), { reconcilers: { finalizer: counted } });
  return lists;
}

describe('NodeClaims that are deleted at once', () => {
  it('do not cost a list each where no termination block applies and none of our finalizers is on them', async () => {
    const { nodes, nodeclaims } = await listsOfStorm([]);
    expect(Math.max(nodes, nodeclaims)).toBeLessThan(NODES / 4);
  });

  it('are looked at with all Nodes of their instances where one does', async () => {
    const { nodes, nodeclaims } = await listsOfStorm([POLICY]);
    expect(nodes).toBeGreaterThanOrEqual(NODES);
    expect(nodeclaims).toBeGreaterThanOrEqual(NODES);
  });
});

describe('of a NodeClaim that names its Node, the Nodes that go with it', () => {
  const going = { deletionTimestamp: '2024-11-01T15:00:00Z' };
  const object = (kind: string, name: string, metadata: object = {}): KubernetesObject => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2024-11-01T14:00:00Z', ...metadata },
    status: { nodeName: 'n1' },
  });
  const namesOf = (claim: KubernetesObject, nodes: readonly KubernetesObject[]): readonly string[] =>
    withoutMismatched(claim, nodes).map(({ metadata }) => metadata.name);
  const claim = object('NodeClaim', 'c1');
  const stray = object('Node', 'old-name', going);

  it('are not one that is deleted while the named one lives', () => {
    expect(namesOf(claim, [object('Node', 'n1'), stray])).toEqual(['n1']);
  });

  it('are all of them once the NodeClaim or the named one is deleted, or the named one is not there', () => {
    expect(namesOf(object('NodeClaim', 'c1', going), [object('Node', 'n1'), stray])).toEqual(['n1', 'old-name']);
    expect(namesOf(claim, [object('Node', 'n1', going), stray])).toEqual(['n1', 'old-name']);
    expect(namesOf(claim, [stray])).toEqual(['old-name']);
  });
});

describe.each(['default', 'other'])('an instance that two NodeClaims name, the second one in pool %s', secondPool => {
  const ID = instance(1);
  const held = 'finalizers: [example.com/custom]';
  const claim = (name: string, pool = 'default'): string =>
    `{ apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: ${name}, labels: { karpenter.sh/nodepool: ${pool} }, ${held} }, status: { providerID: ${ID}, nodeName: n1 } }`;
  const objects = [
    '{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default } }',
    POLICY,
    claim('c1'),
    '{ apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: other } }',
    claim('c2', secondPool),
    `{ apiVersion: v1, kind: Node, metadata: { name: n1, labels: ${labels}, ${held} }, spec: { providerID: ${ID} } }`,
    '{ apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: p1 }, spec: { nodeName: n1 }, status: { phase: Running } }',
  ];
  const deleted = (at: string, resource: string, name: string): string =>
    `{ at: ${at}, delete: { resource: ${resource}, name: ${name} } }`;
  const touched = (at: string, name: string): string =>
    `{ at: ${at}, patch: { resource: nodeclaims, name: ${name}, merge: { metadata: { finalizers: [example.com/custom, example.com/other] } } } }`;
  const protect =
    '{ at: 10s, apply: { apiVersion: v1, kind: Pod, metadata: { namespace: ml, name: p1, annotations: { karpenter.sh/do-not-disrupt: 5m } } } }';
  const neither = [
    '{ write: { verb: terminate }, times: 0 }',
    '{ write: { verb: delete, resource: nodeclaims }, times: 0 }',
    '{ final: { resource: nodeclaims, name: c1, exists: true } }',
  ];

  it.each<[string, readonly string[], readonly string[]]>([
    [
      'lives on, with its Node and its pods, while one of them does',
      [deleted('1m', 'nodeclaims', 'c1')],
      [
        '{ at: 1m, within: 1m, write: { verb: patch, resource: nodeclaims, name: c1, body: { metadata: { finalizers: [] } } } }',
        '{ write: { verb: evict }, times: 0 }',
        '{ write: { verb: delete }, times: 0 }',
        '{ final: { resource: nodeclaims, name: c1, exists: false } }',
        '{ final: { resource: nodeclaims, name: c2, exists: true } }',
        `{ final: { instance: ${ID}, state: running } }`,
      ],
    ],
    [
      'ends with the second one',
      [deleted('1m', 'nodeclaims', 'c1'), deleted('5m', 'nodeclaims', 'c2')],
      [
        '{ before: 5m, write: { verb: terminate }, times: 0 }',
        '{ write: { verb: terminate }, times: 1 }',
        '{ final: { resource: nodes, name: n1, exists: false } }',
        '{ final: { resource: nodeclaims, name: c2, exists: false } }',
        `{ final: { instance: ${ID}, state: terminated } }`,
      ],
    ],
    [
      'ends once where both are deleted while the first one waits for its pods',
      [protect, deleted('1m', 'nodeclaims', 'c1'), deleted('1m', 'nodeclaims', 'c2')],
      [
        '{ before: 5m, write: { verb: evict }, times: 0 }',
        '{ write: { verb: terminate }, times: 1 }',
        '{ final: { resource: nodes, name: n1, exists: false } }',
        '{ final: { resource: nodeclaims, name: c1, exists: false } }',
        '{ final: { resource: nodeclaims, name: c2, exists: false } }',
      ],
    ],
    [
      'is ended with neither where its Node is deleted, whichever of them is looked at meanwhile',
      [protect, deleted('1m', 'nodes', 'n1'), touched('2m', 'c1')],
      [...neither, '{ final: { resource: nodes, name: n1, exists: false } }'],
    ],
    [
      'is not ended with its Node either while one of them is held by somebody else',
      [
        protect,
        '{ at: 30s, patch: { resource: nodeclaims, name: c2, merge: { metadata: { finalizers: [example.com/hold] } } } }',
        deleted('40s', 'nodeclaims', 'c2'),
        deleted('1m', 'nodes', 'n1'),
        touched('2m', 'c1'),
      ],
      neither,
    ],
  ])('%s', async (_, steps, expectations) => {
    expect(await failuresOf({ duration: '20m', objects, steps, expect: expectations })).toEqual([]);
  });

  it('is not ended with the first one where the second one names it, with a Node of its own, while the first waits for its pods', async () => {
    const second = [
      `{ at: 3m, apply: ${claim('c2', secondPool).replace('nodeName: n1', 'nodeName: n2')} }`,
      `{ at: 3m, apply: { apiVersion: v1, kind: Node, metadata: { name: n2, labels: ${labels}, ${held} }, spec: { providerID: ${ID} } } }`,
    ];
    const expectations = [
      '{ write: { verb: terminate }, times: 0 }',
      '{ final: { resource: nodeclaims, name: c1, exists: false } }',
      '{ final: { resource: nodeclaims, name: c2, exists: true } }',
      '{ final: { resource: nodes, name: n2, exists: true } }',
      `{ final: { instance: ${ID}, state: running } }`,
    ];
    const steps = [protect, deleted('1m', 'nodeclaims', 'c1'), ...second];
    const onlyFirst = objects.filter(text => !text.includes('name: c2'));
    expect(await failuresOf({ duration: '20m', objects: onlyFirst, steps, expect: expectations })).toEqual([]);
  });
});

describe('the NodeClaims that are looked at for others with an instance', () => {
  const POOL = 'default';
  const object = (kind: string, name: string, metadata: object, rest: object): KubernetesObject => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2024-11-01T14:00:00Z', ...metadata },
    ...rest,
  });
  const ID = 'aws:///us-west-2a/i-1';
  const going = { deletionTimestamp: '2024-11-01T15:00:00Z' };
  const node = (metadata: object): KubernetesObject => object('Node', 'n1', metadata, { spec: { providerID: ID } });
  const claim = object('NodeClaim', 'c1', going, { status: { providerID: ID, nodeName: 'n1' } });
  const stored: TerminationRecord = { ...EMPTY_TERMINATION, nodes: { n1: { name: 'n1' } } };
  const attempt = (phase: 'intended' | 'accepted'): TerminationRecord => ({
    ...stored,
    instance: { number: 1, phase, intendedTime: toEpochMs(0) },
  });

  /** The selectors of the lists of NodeClaims. */
  async function selectorsOf(
    record: TerminationRecord,
    nodes: readonly KubernetesObject[],
  ): Promise<readonly unknown[]> {
    const selectors: unknown[] = [];
    const list: KubernetesApi['list'] = (type, query = {}) => {
      if (type.resource === 'nodeclaims') selectors.push(query.labelSelector ?? 'all');
      return Promise.resolve({ kind: 'there', objects: [] });
    };
    const kubernetes = { list } as unknown as KubernetesApi;
    await nodesAndSharing({ kubernetes }, claim, {
      record,
      viaNode: undefined,
      namedNodes: nodes,
      pool: POOL,
    });
    return selectors;
  }

  it.each([
    ['when its Nodes are not known yet', EMPTY_TERMINATION, [node({})]],
    ['while a Node of it lives, whose deletion comes next', stored, [node({})]],
    ['when the end of the instance is noted down, and comes next', attempt('intended'), [node(going)]],
  ])('are those of all pools %s', async (_, record, nodes) => {
    expect(await selectorsOf(record, nodes)).toEqual(['all']);
  });

  it.each([
    ['while its Nodes are emptied', stored, [node(going)]],
    ['while the instance ends', attempt('accepted'), [node(going)]],
  ])('are those of its pool %s', async (_, record, nodes) => {
    expect(await selectorsOf(record, nodes)).toEqual([`karpenter.sh/nodepool=${POOL}`]);
  });
});
