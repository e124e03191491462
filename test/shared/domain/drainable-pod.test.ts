import { describe, expect, it } from 'vitest';
import { drainGroupOf, drainabilityOf, toleratesDisruption } from '../../../shared/domain/drainable-pod.ts';
import type { JsonObject, KubernetesObject, OwnerReference } from '../../../shared/domain/kubernetes-object.ts';
import type { PodView, Toleration } from '../../../shared/domain/pod.ts';
import { readPod } from '../../../shared/domain/pod.ts';
import { addDuration, seconds, toDurationMs } from '../../../shared/domain/time.ts';
import { aPod, CREATED } from '../../builders/pods.ts';

const NOW = addDuration(CREATED, seconds(3600));
const owner = (apiVersion: string, kind: string): Partial<PodView> => ({
  ownerReferences: [{ apiVersion, kind, name: 'o', uid: 'u' }],
});
const toleration = (fields: Partial<Toleration>): Toleration => ({
  key: undefined,
  operator: 'Equal',
  value: '',
  effect: undefined,
  ...fields,
});
const ago = (ms: number) => addDuration(NOW, toDurationMs(-ms));

describe('a drain passes over', () => {
  it.each<[string, Partial<PodView>, string]>([
    ['pods that succeeded (N12)', { phase: 'Succeeded' }, 'Finished'],
    ['pods that failed', { phase: 'Failed' }, 'Finished'],
    ['pods that the Node owns (N16)', owner('v1', 'Node'), 'Static'],
    ['mirror pods', { annotations: { 'kubernetes.io/config.mirror': 'hash' } }, 'Static'],
    [
      'pods that tolerate the disrupted taint (N9)',
      { tolerations: [toleration({ key: 'karpenter.sh/disrupted', operator: 'Exists' })] },
      'ToleratesDisruption',
    ],
    ['pods that ended more than 60 s ago and are still there', { deletionTime: ago(60_001) }, 'StuckTerminating'],
  ])('%s', (_, overrides, because) => {
    expect(drainabilityOf(aPod(undefined, overrides), NOW)).toEqual({ kind: 'skipped', because });
  });
});

describe('a drain counts', () => {
  it.each<[string, Partial<PodView>, string]>([
    ['pods without an owner', {}, 'NonCritical'],
    ['pods of a ReplicaSet', owner('apps/v1', 'ReplicaSet'), 'NonCritical'],
    ['pods of a DaemonSet', owner('apps/v1', 'DaemonSet'), 'NonCriticalDaemon'],
    ['not as a DaemonSet what apps/v1beta1 calls so (N39)', owner('apps/v1beta1', 'DaemonSet'), 'NonCritical'],
    ['critical pods (N15)', { priorityClassName: 'system-cluster-critical' }, 'Critical'],
    [
      'critical pods of a DaemonSet',
      { priorityClassName: 'system-node-critical', ...owner('apps/v1', 'DaemonSet') },
      'CriticalDaemon',
    ],
    ['not as critical another class', { priorityClassName: 'high' }, 'NonCritical'],
    ['pods that are protected', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }, 'NonCritical'],
    ['pods that terminate', { deletionTime: addDuration(NOW, seconds(20)) }, 'NonCritical'],
    ['pods that ended exactly 60 s ago', { deletionTime: ago(60_000) }, 'NonCritical'],
    [
      'pods that tolerate a cordon only (N10)',
      { tolerations: [toleration({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' })] },
      'NonCritical',
    ],
  ])('%s', (_, overrides, group) => {
    const pod = aPod(undefined, overrides);
    expect(drainabilityOf(pod, NOW)).toEqual({ kind: 'counts', group });
    expect(drainGroupOf(pod)).toBe(group);
  });
});

describe('the disrupted taint is tolerated by', () => {
  it.each<[Partial<Toleration>, boolean]>([
    [{ key: 'karpenter.sh/disrupted', operator: 'Exists' }, true],
    [{ key: 'karpenter.sh/disrupted', operator: 'Exists', effect: 'NoSchedule' }, true],
    [{ key: 'karpenter.sh/disrupted', operator: 'Exists', effect: 'NoExecute' }, false],
    [{ key: 'karpenter.sh/disrupted' }, true],
    [{ key: 'karpenter.sh/disrupted', value: 'x' }, false],
    [{ operator: 'Exists' }, true],
    [{ operator: 'Equal' }, false],
    [{ operator: 'Exists', effect: 'NoExecute' }, false],
  ])('%j: %s', (fields, tolerated) => {
    expect(toleratesDisruption({ tolerations: [toleration(fields)] })).toBe(tolerated);
  });
});

it('a Pod is read with what a drain needs', () => {
  const pod = readPod({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'db-0',
      namespace: 'prod',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2024-01-01T10:00:00Z',
    },
    spec: {
      terminationGracePeriodSeconds: 120,
      priorityClassName: 'system-node-critical',
      tolerations: [{ operator: 'Exists' }, 'bad'],
      volumes: [
        { name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } },
        { name: 'scratch', ephemeral: {} },
        { name: 'config', configMap: {} },
        null,
      ],
    },
  });
  expect(pod).toMatchObject({
    terminationGracePeriod: 120_000,
    priorityClassName: 'system-node-critical',
    volumeClaims: ['data-db-0', 'db-0-scratch'],
  });
  expect(pod.tolerations[0]).toEqual({ key: undefined, operator: 'Exists', value: '', effect: undefined });
});

describe('a pod as the API server has it', () => {
  const creationTimestamp = '2024-11-01T15:00:00Z';
  const NAMED = { name: 'p', namespace: 'ml', uid: 'u', resourceVersion: '1', creationTimestamp };
  const podOf = (spec: JsonObject, ownerReferences: readonly OwnerReference[] = []): KubernetesObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...NAMED, ownerReferences },
    spec,
  });
  const tolerating = (fields: JsonObject): KubernetesObject =>
    podOf({ tolerations: [{ key: 'karpenter.sh/disrupted', ...fields }] });
  const ownedBy = (apiVersion: string, kind: string): KubernetesObject =>
    podOf({}, [{ apiVersion, kind, name: 'o', uid: 'o' }]);
  const stays = (because: string) => ({ kind: 'skipped', because });
  const counts = { kind: 'counts', group: 'NonCritical' };

  it.each<[string, KubernetesObject, object]>([
    ['tolerates the taint with the operator left out, which is Equal', tolerating({}), stays('ToleratesDisruption')],
    ['does not tolerate it with another value', tolerating({ operator: 'Equal', value: 'x' }), counts],
    ['does not tolerate it where only numbers are compared', tolerating({ operator: 'Gt' }), counts],
    ['is static where the Node owns it', ownedBy('v1', 'Node'), stays('Static')],
    ['is not where something else of the core group does', ownedBy('v1', 'ReplicationController'), counts],
    ['is not where a Node of another group does', ownedBy('example.com/v1', 'Node'), counts],
  ])('%s', (_, object, drainability) => {
    expect(drainabilityOf(readPod(object), NOW)).toEqual(drainability);
  });

  it('has the resources that some container is limited to more than none of', () => {
    const limited = (limits: JsonObject): JsonObject => ({ resources: { limits } });
    const pod = podOf({
      initContainers: [limited({ 'nvidia.com/gpu': '1' })],
      containers: [limited({ cpu: '100m', 'amd.com/gpu': '0' })],
    });
    expect(readPod(pod).limitedResources).toEqual(['nvidia.com/gpu', 'cpu']);
  });
});
