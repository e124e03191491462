import { describe, expect, it } from 'vitest';
import { withoutStrays } from '../../../functions/finalizer/instance-sharing.ts';
import { createReconciler } from '../../../functions/finalizer/reconcile.ts';
import type { ReconcilerFactory } from '../../../runtime/functions.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { runScenario } from '../../../simulator/run.ts';
import { scenarioOf } from '../../builders/scenario.ts';

const NODES = 12;
const indexes = Array.from({ length: NODES }, (_, n) => n);
const labels = '{ karpenter.sh/nodepool: default }';
const instance = (n: number): string => `"aws:///us-west-2a/i-${n}"`;
const claimOf = (n: number): string =>
  `    - { apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: c${n}, labels: ${labels}, finalizers: [karpenter.sh/termination] }, status: { providerID: ${instance(n)}, nodeName: n${n} } }`;
const nodeOf = (n: number): string =>
  `    - { apiVersion: v1, kind: Node, metadata: { name: n${n}, uid: u${n}, labels: ${labels}, finalizers: [karpenter.sh/termination] }, spec: { providerID: ${instance(n)} } }`;
const POLICY = `    - { apiVersion: curfew.dev/v1alpha1, kind: NodeLifecyclePolicy, metadata: { name: all }, spec: { termination: { finalizerName: example.com/custom } } }`;

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
  const steps = indexes.map(n => `    - { at: 10s, delete: { resource: nodeclaims, name: c${n} } }`);
  const text = `
apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: a-storm-of-deletions }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 30s
  objects:
    - { apiVersion: karpenter.sh/v1, kind: NodePool, metadata: { name: default } }
${[...policy, ...indexes.flatMap(n => [claimOf(n), nodeOf(n)])].join('\n')}
  steps:
${steps.join('\n')}
  expect: []
`;
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
    withoutStrays(claim, nodes).map(({ metadata }) => metadata.name);
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
