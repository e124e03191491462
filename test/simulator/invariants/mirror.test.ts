import { describe, expect, it } from 'vitest';
import { createMirror } from '../../../simulator/invariants/mirror.ts';
import { createCluster } from '../../../simulator/world.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';

const NODE_CLAIM = RESOURCES.NodeClaim;
const CONFIG_MAP = { group: '', version: 'v1', resource: 'configmaps' };

function aCluster() {
  const core = createCluster({ now: () => toEpochMs(Date.UTC(2024, 10, 1)) });
  const mirror = createMirror(core);
  const seedClaim = (name: string, providerID: string): void => {
    const status = { providerID, nodeName: name };
    core.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata: { name }, status });
  };
  const setInstance = (name: string, providerID: string): void => {
    const body = { status: { providerID } };
    core.patch({ type: NODE_CLAIM, name }, { type: 'merge', body }, { user: 'karpenter', subresource: 'status' });
  };
  return {
    core,
    seedClaim,
    setInstance,
    of: (instance: string) => mirror.claimOfInstance(instance)?.metadata.name,
    mirror,
  };
}

describe('the configuration in force', () => {
  it('is the last one that is valid', () => {
    const { core, mirror } = aCluster();
    const metadata = { namespace: 'curfew', name: 'curfew-config' };
    const seed = (text: string): unknown =>
      core.seed({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'config.toml': text } });
    const textInForce = (): unknown => mirror.validConfiguration()?.['data'];
    expect(textInForce()).toBeUndefined();
    const valid = 'providerPolicies = "aws-1.15"\n';
    seed(valid);
    expect(textInForce()).toEqual({ 'config.toml': valid });
    core.patch(
      { type: CONFIG_MAP, ...metadata },
      { type: 'merge', body: { data: { 'config.toml': '[featureGates]\nnodeRepair = "on"\n' } } },
      { user: 'somebody' },
    );
    expect(textInForce()).toEqual({ 'config.toml': valid });
  });
});

describe('what the mirror finds by a key', () => {
  it('is the NodeClaim of an instance, the first of several, as it is by now', () => {
    const { core, seedClaim, setInstance, of } = aCluster();
    seedClaim('a', 'i-1');
    seedClaim('b', 'i-1');
    expect([of('i-1'), of('i-2')]).toEqual(['a', undefined]);
    setInstance('a', 'i-2');
    expect([of('i-1'), of('i-2')]).toEqual(['b', 'a']);
    core.delete({ type: NODE_CLAIM, name: 'b' }, { user: 'karpenter' });
    expect([of('i-1'), of('i-2')]).toEqual([undefined, 'a']);
  });

  it('is the NodePool of a name, also the one that comes after it went', () => {
    const { core, mirror } = aCluster();
    const seed = (uid: string): unknown =>
      core.seed({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'default', uid }, spec: {} });
    seed('first');
    expect(mirror.named('nodepools', 'default')?.metadata.uid).toBe('first');
    core.delete({ type: RESOURCES.NodePool, name: 'default' }, { user: 'somebody' });
    expect(mirror.named('nodepools', 'default')).toBeUndefined();
    seed('second');
    expect(mirror.named('nodepools', 'default')?.metadata.uid).toBe('second');
    expect(mirror.named('nodepools', undefined)).toBeUndefined();
  });

  it('is the pods on a Node, once they are bound, until they are gone', () => {
    const { core, mirror } = aCluster();
    const names = (node: string): readonly string[] => mirror.podsOn(node).map(({ metadata }) => metadata.name);
    const pod = { type: RESOURCES.Pod, namespace: 'curfew', name: 'p1' };
    core.seed({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'curfew', name: 'p1' }, spec: {} });
    expect([names('n1'), mirror.podsOn(undefined)]).toEqual([[], []]);
    core.patch(pod, { type: 'merge', body: { spec: { nodeName: 'n1' } } }, { user: 'scheduler' });
    expect(names('n1')).toEqual(['p1']);
    core.delete(pod, { user: 'somebody', gracePeriodSeconds: 0 });
    expect(names('n1')).toEqual([]);
  });

  it('is who shares an instance, as it is by now', () => {
    const { seedClaim, setInstance, mirror } = aCluster();
    const claims = (instance: string): readonly string[] =>
      mirror
        .ownership()
        .claimsOf(instance)
        .map(({ metadata }) => metadata.name);
    seedClaim('a', 'i-1');
    expect(claims('i-1')).toEqual(['a']);
    seedClaim('b', 'i-1');
    expect(claims('i-1')).toEqual(['a', 'b']);
    setInstance('a', 'i-2');
    expect([claims('i-1'), claims('i-2')]).toEqual([['b'], ['a']]);
  });
});
