/** What is done with the replacement of an unhealthy node, where another Node or NodeClaim has its name by now (I10). */
import { describe, expect, it } from 'vitest';
import { endReplacement, openReplacement } from '../../../functions/repair/actions/replace.ts';
import { createInProcessKubernetesApi } from '../../../runtime/in-process/kubernetes-api.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { toEpochMs } from '../../../shared/domain/time.ts';
import type { KubernetesApi } from '../../../shared/ports/kubernetes-api.ts';
import { createCluster } from '../../../simulator/world.ts';

const RESERVED = { key: 'curfew.dev/reserved', effect: 'NoSchedule' };
const STARTUP = { key: 'example.com/starting', effect: 'NoSchedule' };
const MARKS: Record<string, string> = { 'curfew.dev/replaces': 'u1', 'karpenter.sh/do-not-disrupt': 'true' };
const OWN = 'aws:///us-west-2a/i-2';

/** The replacement of Node u1: NodeClaim r1, and a Node of its name. */
function aWorld({ providerID = OWN, taints = [RESERVED, STARTUP], marks = MARKS } = {}) {
  const core = createCluster({ now: () => toEpochMs(Date.UTC(2024, 10, 1, 15)) });
  const { uid } = core.seed({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'r1', annotations: marks },
    status: { providerID: OWN, nodeName: 'n2' },
  }).metadata;
  core.seed({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n2', annotations: marks },
    spec: { providerID, taints: taints.map(each => ({ ...each })) },
  });
  const node = () => core.get({ type: RESOURCES.Node, name: 'n2' });
  return {
    core,
    deps: { kubernetes: createInProcessKubernetesApi(core, 'repair') },
    replacement: { name: 'r1', uid, node: 'n2' },
    taints: () => node().spec?.['taints'] ?? [],
    annotations: () => node().metadata.annotations,
    claims: () => core.list(RESOURCES.NodeClaim).items.length,
  };
}

describe('a replacement that is opened', () => {
  it('loses our taint, and no other', async () => {
    const world = aWorld();
    expect(await openReplacement(world.deps, world.replacement)).toBeUndefined();
    expect(world.taints()).toEqual([STARTUP]);
    expect(await openReplacement(world.deps, world.replacement)).toBeUndefined();
  });

  it('has changed where another Node has the name of its Node, with our taint or without', async () => {
    for (const taints of [[RESERVED], []]) {
      const world = aWorld({ providerID: 'aws:///us-west-2a/i-3', taints });
      expect(await openReplacement(world.deps, world.replacement)).toEqual({ kind: 'changed' });
      expect(world.taints()).toEqual(taints);
    }
  });

  it('has changed where its Node goes before it is written', async () => {
    const world = aWorld();
    const { kubernetes } = world.deps;
    const patch: KubernetesApi['patch'] = (...args) => {
      world.core.delete({ type: RESOURCES.Node, name: 'n2' });
      return kubernetes.patch(...args);
    };
    const deps = { kubernetes: { ...kubernetes, patch } };
    expect(await openReplacement(deps, world.replacement)).toEqual({ kind: 'changed' });
  });

  it('has changed where another NodeClaim has its name', async () => {
    const world = aWorld();
    expect(await openReplacement(world.deps, { ...world.replacement, uid: 'other' })).toEqual({ kind: 'changed' });
    expect(world.taints()).toEqual([RESERVED, STARTUP]);
  });
});

describe('a replacement that is not needed any more', () => {
  it.each([
    ['is deleted while it is reserved', {}, 'deleted', MARKS, 0],
    ['is kept once it is open, without its marks', { taints: [] }, 'kept', undefined, 1],
    [
      'is deleted where another Node has the name of its Node, which keeps what it has',
      { providerID: 'aws:///us-west-2a/i-3', taints: [] },
      'deleted',
      MARKS,
      0,
    ],
  ])('%s', async (_, given, end, annotations, claims) => {
    const world = aWorld(given);
    expect(await endReplacement(world.deps, world.replacement, 'u1')).toBe(end);
    expect(world.annotations() ?? undefined).toEqual(annotations);
    expect(world.claims()).toBe(claims);
  });

  it.each(['true', 'false'])('keeps what the NodePool says of its nodes: %s', async value => {
    const world = aWorld({ taints: [], marks: { ...MARKS, 'curfew.dev/do-not-disrupt-of-pool': value } });
    expect(await endReplacement(world.deps, world.replacement, 'u1')).toBe('kept');
    expect(world.annotations()).toEqual({ 'karpenter.sh/do-not-disrupt': value });
    const claim = world.core.get({ type: RESOURCES.NodeClaim, name: 'r1' });
    expect(claim.metadata.annotations).toEqual({ 'karpenter.sh/do-not-disrupt': value });
  });
});
