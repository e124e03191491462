import { describe, expect, it } from 'vitest';
import { createClaimCache } from '../../../../functions/finalizer/termination/claim-cache.ts';
import { createReconciler } from '../../../../functions/finalizer/route.ts';
import type { ReconcilerFactory } from '../../../../runtime/functions.ts';
import { addDuration, minutes, toEpochMs } from '../../../../shared/domain/time.ts';
import type { KubernetesObject } from '../../../../shared/domain/kubernetes-object.ts';
import { runScenario } from '../../../../simulator/run.ts';
import { scenarioOf } from '../../../builders/scenario.ts';

const claim = (name: string, providerID: string): KubernetesObject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2024-11-01T15:00:00Z' },
  status: { providerID },
});

describe('what is known of the NodeClaim with a providerID', () => {
  it('is its name, unless several have it', () => {
    const claimCache = createClaimCache();
    expect(claimCache.nameOf('a')).toBeUndefined();
    claimCache.note(claim('one', 'a'));
    claimCache.note(claim('one', 'a'));
    expect(claimCache.nameOf('a')).toBe('one');
    claimCache.note(claim('two', 'a'));
    expect(claimCache.nameOf('a')).toBeUndefined();
  });

  it('is forgotten with the next list', () => {
    const claimCache = createClaimCache();
    claimCache.note(claim('one', 'a'));
    claimCache.rememberAll([claim('two', 'b')], toEpochMs(0));
    expect([claimCache.nameOf('a'), claimCache.nameOf('b')]).toEqual([undefined, 'two']);
  });
});

describe('that no NodeClaim has a providerID', () => {
  const minute = (count: number) => addDuration(toEpochMs(0), minutes(count));

  it('is what a list says, for a few minutes, until one is seen', () => {
    const claimCache = createClaimCache();
    expect(claimCache.hasNoClaim('a', minute(0))).toBe(false);
    claimCache.rememberAll([claim('one', 'b')], minute(0));
    expect([claimCache.hasNoClaim('a', minute(0)), claimCache.hasNoClaim('b', minute(0))]).toEqual([true, false]);
    expect([claimCache.hasNoClaim('a', minute(4)), claimCache.hasNoClaim('a', minute(5))]).toEqual([true, false]);
    claimCache.note(claim('two', 'a'));
    expect(claimCache.hasNoClaim('a', minute(1))).toBe(false);
  });
});

describe('Nodes without owners', () => {
  const NODES = 40;
  const nodeOf = (n: number): string =>
    `    - { apiVersion: v1, kind: Node, metadata: { name: n${n} }, spec: { providerID: "aws:///us-west-2a/i-${n}" } }`;
  const claimOf = (n: number): string =>
    `    - { apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: { name: c${n} }, status: { providerID: "aws:///us-west-2a/i-${n}", nodeName: n${n} } }`;
  const indexes = Array.from({ length: NODES }, (_, n) => n);
  const scenario = (objects: readonly string[]): string => `
apiVersion: curfew.dev/v1alpha1
kind: Scenario
metadata: { name: nodes-without-owners }
spec:
  start: "2024-11-01T15:00:00Z"
  duration: 30s
  actors: []
  objects:
${objects.join('\n')}
  steps: []
  expect: []
`;

  it.each([
    ['that have a NodeClaim', indexes.flatMap(n => [nodeOf(n), claimOf(n)])],
    ['that have none', indexes.map(nodeOf)],
  ])('%s do not cost a list of all NodeClaims each', async (_, objects) => {
    let lists = 0;
    const counted: ReconcilerFactory = deps => {
      const { kubernetes } = deps;
      return createReconciler({
        ...deps,
        kubernetes: {
          ...kubernetes,
          list: (...args) => {
            if (args[0].resource === 'nodeclaims') lists += 1;
            return kubernetes.list(...args);
          },
        },
      });
    };
    await runScenario(scenarioOf(scenario(objects)), { reconcilers: { finalizer: counted } });
    expect(lists).toBeGreaterThan(0);
    expect(lists).toBeLessThan(NODES / 4);
  });
});
