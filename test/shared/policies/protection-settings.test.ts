import { describe, expect, it } from 'vitest';
import { parseProtectionBlock } from '../../../shared/contract/protection-schema.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { DEFAULT_PROTECTION_POLICY } from '../../../shared/domain/protection.ts';
import { hours, minutes } from '../../../shared/domain/time.ts';
import { conflictsOf } from '../../../shared/policies/policy-conflicts.ts';
import { effectiveProtection } from '../../../shared/policies/protection-settings.ts';
import { FORGOTTEN_UID, readPolicies } from '../../../shared/policies/policy-set.ts';

function anObject(kind: string, name: string, spec: JsonObject, labels: Record<string, string> = {}): KubernetesObject {
  const metadata = { name, uid: name, resourceVersion: '1', creationTimestamp: '2024-01-01T00:00:00Z', labels };
  return { apiVersion: 'v1', kind, metadata, spec };
}
const policy = (name: string, spec: JsonObject): KubernetesObject => anObject('NodeLifecyclePolicy', name, spec);
const gpuPool = anObject('NodePool', 'gpu', {}, { team: 'ml', gpu: 'yes' });

const general = policy('general', { protection: { maxDuration: '8h' } });
const forAll = policy('all', { nodePoolSelector: {}, mode: 'Enforce', protection: { maxDuration: '1h' } });
const forTeam = policy('team', {
  nodePoolSelector: { matchLabels: { team: 'ml' } },
  protection: { compatibility: 'Karpenter', maxDuration: '48h' },
});
const withoutBlock = policy('precise', {
  nodePoolSelector: { matchLabels: { team: 'ml', gpu: 'yes' } },
  mode: 'Observe',
});

describe('parseProtectionBlock', () => {
  it('reads every field', () => {
    const block = {
      compatibility: 'Karpenter',
      maxDuration: '8h',
      namespaces: [{ name: 'ml', maxDuration: '72h' }],
      warnBefore: '15m',
    };
    expect(parseProtectionBlock(block, 'spec.protection')).toEqual({
      ok: true,
      value: {
        compatibility: 'Karpenter',
        maxDuration: hours(8),
        maxDurations: new Map([['ml', hours(72)]]),
        warnBefore: minutes(15),
      },
    });
  });

  it('an empty block is the default', () => {
    expect(parseProtectionBlock({}, 'spec.protection')).toEqual({ ok: true, value: DEFAULT_PROTECTION_POLICY });
  });

  it.each([
    [{ maxDuration: '4d' }, 'spec.protection.maxDuration: time: unknown unit "d" in duration "4d"'],
    [{ maxDuration: '0s' }, 'spec.protection.maxDuration: must be positive, got "0s"'],
    [{ warnBefore: '-1m' }, 'spec.protection.warnBefore: must be positive, got "-1m"'],
    [{ compatibility: 'karpenter' }, 'spec.protection.compatibility'],
    [{ maxduration: '4h' }, 'maxduration'],
    [{ namespaces: [{ name: 'a' }] }, 'spec.protection.namespaces[0].maxDuration'],
    [
      {
        namespaces: [
          { name: 'a', maxDuration: '1h' },
          { name: 'a', maxDuration: '2h' },
        ],
      },
      'spec.protection.namespaces[1].name: must not repeat "a"',
    ],
    ['4h', 'spec.protection'],
    [null, 'spec.protection'],
  ])('refuses %j and says where', (block, message) => {
    const parsed = parseProtectionBlock(block, 'spec.protection');
    expect(parsed).toMatchObject({ ok: false, message: expect.stringContaining(message) });
  });
});

describe('effectiveProtection', () => {
  it('is the default without a policy', () => {
    expect(effectiveProtection(gpuPool, readPolicies([]))).toEqual({
      policy: DEFAULT_PROTECTION_POLICY,
      source: undefined,
      observed: undefined,
    });
  });

  it('is that of the most specific policy that has a block; the brake says nothing of it', () => {
    const found = effectiveProtection(gpuPool, readPolicies([general, forTeam, withoutBlock]));
    expect(found).toMatchObject({ source: 'NodeLifecyclePolicy team', observed: undefined });
    expect(found.policy).toMatchObject({ compatibility: 'Karpenter', maxDuration: hours(48) });
  });

  it('is not changed by a block that is only observed, readable or not', () => {
    const trial = policy('team', { ...forTeam.spec, mode: 'Observe' });
    const found = effectiveProtection(gpuPool, readPolicies([general, trial]));
    expect(found).toMatchObject({
      source: 'NodeLifecyclePolicy general',
      policy: { compatibility: 'Design', maxDuration: hours(8) },
      observed: { source: 'NodeLifecyclePolicy team', policy: { compatibility: 'Karpenter', maxDuration: hours(48) } },
    });
    for (const broken of [{ maxDuration: '2 hours' }, 'no block']) {
      const spec = { mode: 'Observe', protection: broken, nodePoolSelector: { matchLabels: { gpu: 'yes' } } };
      expect(effectiveProtection(gpuPool, readPolicies([general, policy('broken', spec)]))).toMatchObject({
        source: 'NodeLifecyclePolicy general',
        policy: { compatibility: 'Design', maxDuration: hours(8) },
      });
    }
    const newer = policy('newer', { mode: 'Observe', protection: {}, future: {} });
    expect(effectiveProtection(gpuPool, readPolicies([general, newer]))).toMatchObject({
      source: 'NodeLifecyclePolicy general',
      policy: { compatibility: 'Design' },
    });
  });

  it('of a node without a pool is that of a policy for all', () => {
    const policies = readPolicies([general, forTeam]);
    expect(effectiveProtection(undefined, policies).source).toBe('NodeLifecyclePolicy general');
  });

  it('goes by name between equals, and the other one is told', () => {
    const other = policy('another', { protection: { maxDuration: '1h' } });
    const policies = readPolicies([general, other]);
    expect(effectiveProtection(gpuPool, policies).source).toBe('NodeLifecyclePolicy another');
    // Whichever of the two changes, the loser is told.
    for (const changed of [general, other]) {
      expect(conflictsOf(changed, 'protection', policies)).toEqual([
        { loser: general, winner: other, message: expect.stringContaining('NodeLifecyclePolicy another') },
      ]);
    }
    expect(conflictsOf(general, 'repair', policies)).toEqual([]);
  });

  it('protects what any rule set protects while the block cannot be read', () => {
    const broken = policy('broken', { protection: { maxDuration: '2 hours' } });
    const found = effectiveProtection(gpuPool, readPolicies([broken]));
    expect(found.policy).toEqual({ ...DEFAULT_PROTECTION_POLICY, compatibility: 'Unknown' });
  });

  it('protects what any rule set protects while a policy that selects the pool cannot be read', () => {
    const spec = { nodePoolSelector: { matchLabels: { team: 'ml' } }, mode: 'observe', protection: {} };
    const policies = readPolicies([policy('broken', spec), general]);
    expect(effectiveProtection(gpuPool, policies)).toMatchObject({
      policy: { compatibility: 'Unknown', maxDuration: undefined },
      source: 'NodeLifecyclePolicy broken',
    });
    const elsewhere = anObject('NodePool', 'web', {});
    expect(effectiveProtection(elsewhere, policies).source).toBe('NodeLifecyclePolicy general');
    const alone = readPolicies([policy('broken', spec)]);
    expect(effectiveProtection(elsewhere, alone).policy).toEqual(DEFAULT_PROTECTION_POLICY);
  });

  it('protects what any rule set protects on nodes of a NodePool that is forgotten', () => {
    const forgotten = {
      ...gpuPool,
      metadata: { name: 'gpu', uid: FORGOTTEN_UID, resourceVersion: '', creationTimestamp: '' },
    };
    expect(effectiveProtection(forgotten, readPolicies([forAll, forTeam]))).toMatchObject({
      policy: { compatibility: 'Unknown', maxDuration: undefined },
      source: 'NodePool gpu',
    });
    expect(effectiveProtection(forgotten, readPolicies([forAll])).source).toBe('NodeLifecyclePolicy all');
  });

  it('protects what any rule set protects while a selector cannot be read', () => {
    const broken = policy('broken', { nodePoolSelector: { matchLabel: {} }, protection: {} });
    expect(effectiveProtection(gpuPool, readPolicies([broken])).policy.compatibility).toBe('Unknown');
    expect(effectiveProtection(gpuPool, readPolicies([broken, general])).policy.compatibility).toBe('Design');
  });
});
