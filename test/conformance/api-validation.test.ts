/** Durations in Karpenter's own fields, as the API server refuses them; and both versions in which Karpenter's objects are written. */
import { describe, expect, it } from 'vitest';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { ApiStatusError, type ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import type { JsonObject, KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';

const VERSIONS = ['v1', 'v1beta1'];
const typeOf = (kind: 'NodePool' | 'NodeClaim', version: string) => ({
  group: 'karpenter.sh',
  version,
  resource: `${kind.toLowerCase()}s`,
});

function aServer(): ApiServerCore {
  const core = createApiServer({ clock: { now: () => Date.parse('2024-11-01T15:00:00Z') } });
  for (const definition of customResourceDefinitions()) core.seed(definition);
  return core;
}

/** Whether both versions accept it. Throws when they do not agree. */
function isAccepted(kind: 'NodePool' | 'NodeClaim', spec: JsonObject): boolean {
  const answers = VERSIONS.map(version => {
    const manifest: KubernetesManifest = { apiVersion: `karpenter.sh/${version}`, kind, metadata: { name: 'a' }, spec };
    try {
      aServer().create(typeOf(kind, version), manifest);
      return true;
    } catch (error) {
      if (error instanceof ApiStatusError && error.status.code === 422) return false;
      throw error;
    }
  });
  expect(new Set(answers).size).toBe(1);
  return answers[0] === true;
}

const inTemplate = (fields: JsonObject): JsonObject => ({ template: { spec: fields } });
const BOTH = [
  ['30s', true],
  ['1h30m5s', true],
  ['-1s', false],
  ['1hr', false],
  ['FooNever', false],
] as const;

describe('P6 terminationGracePeriod', () => {
  it.each([...BOTH, ['Never', false] as const])('%s: %s', (terminationGracePeriod, accepted) => {
    expect(isAccepted('NodeClaim', { terminationGracePeriod })).toBe(accepted);
    expect(isAccepted('NodePool', inTemplate({ terminationGracePeriod }))).toBe(accepted);
  });
});

describe('P7 expireAfter and consolidateAfter', () => {
  it.each([...BOTH, ['Never', true] as const])('%s: %s', (duration, accepted) => {
    expect(isAccepted('NodeClaim', { expireAfter: duration })).toBe(accepted);
    expect(isAccepted('NodePool', inTemplate({ expireAfter: duration }))).toBe(accepted);
    expect(isAccepted('NodePool', { disruption: { consolidateAfter: duration } })).toBe(accepted);
  });
});

describe('the duration of a disruption budget', () => {
  it.each([
    ['10m', true],
    ['8h', true],
    ['1h30m', true],
    ['1h30m0s', true],
    ['30s', false],
    ['Never', false],
  ])('%s: %s', (duration, accepted) => {
    expect(isAccepted('NodePool', { disruption: { budgets: [{ nodes: '10%', schedule: '@daily', duration }] } })).toBe(
      accepted,
    );
  });
});

describe('the versions of NodePool and NodeClaim', () => {
  it.each(['NodePool', 'NodeClaim'] as const)('%s: what is written in one is read in the other', kind => {
    const core = aServer();
    const spec = { repair: { defaultTolerationDuration: '30m' } };
    core.create(typeOf(kind, 'v1beta1'), { apiVersion: 'karpenter.sh/v1beta1', kind, metadata: { name: 'old' }, spec });
    core.create(typeOf(kind, 'v1'), { apiVersion: 'karpenter.sh/v1', kind, metadata: { name: 'new' }, spec });
    for (const version of VERSIONS) {
      expect(core.list(typeOf(kind, version)).items).toMatchObject([
        { apiVersion: `karpenter.sh/${version}`, kind, metadata: { name: 'new' }, spec },
        { apiVersion: `karpenter.sh/${version}`, kind, metadata: { name: 'old' }, spec },
      ]);
    }
    expect(core.resourceForKind('karpenter.sh/v1', kind)?.version).toBe('v1');
  });

  it.each([
    [{ disruption: { terminationGracePeriodSeconds: 60, customFinalizerName: 'example.com/hook' } }, true],
    [{ disruption: { terminationGracePeriodSeconds: '60' } }, false],
  ])('have the fields of the designs: %j %s', (spec, accepted) => {
    expect(isAccepted('NodePool', spec)).toBe(accepted);
  });
});
