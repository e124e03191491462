/** What the bench has in its cluster. Pure. */
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesManifest, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import { NODE_POOL_LABEL, nodePool } from '../../test/control-plane/karpenter/objects.ts';
import { configMap } from '../objects.ts';
import { POOL } from './layouts.ts';

/** The condition of the kwok provider that breaks a node, and its toleration, which cannot be set. Its drain bound is 45 s. */
export const UNHEALTHY = 'KWOKUnhealthy';
export const TOLERATION_MS = 30_000;
const BENCH_LABEL = 'bench.curfew.dev/pool';

/** Nodes for pods that wait, never consolidated; no budget holds a repair. */
export function poolManifest(): KubernetesManifest {
  const { spec, ...pool } = nodePool(POOL);
  const disruption = { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never', budgets: [{ nodes: '100%' }] };
  return { ...pool, metadata: { name: POOL, labels: { [BENCH_LABEL]: 'true' } }, spec: { ...spec, disruption } };
}

/** Curfew with Karpenter's rules: replacement first, its toleration, drain bound and threshold, no guard that Karpenter has not. */
export function settingsObjects(): readonly { readonly type: ResourceType; readonly manifest: KubernetesManifest }[] {
  const condition = { type: UNHEALTHY, status: 'True', toleration: '30s', terminationGracePeriod: '45s' };
  return [
    { type: RESOURCES.ConfigMap, manifest: configMap() },
    {
      type: RESOURCES.NodeLifecyclePolicy,
      manifest: {
        apiVersion: 'curfew.dev/v1alpha1',
        kind: 'NodeLifecyclePolicy',
        metadata: { name: 'bench' },
        spec: {
          nodePoolSelector: { matchLabels: { [BENCH_LABEL]: 'true' } },
          repair: {
            conditions: [condition],
            actions: [{ type: 'ReplaceThenTerminate', timeout: '5m' }, { type: 'Terminate' }],
            disruptionBudgets: 'All',
            maxUnhealthy: '20%',
            zoneOutage: 'Off',
            freeze: 'Off',
          },
        },
      },
    },
  ];
}

/** A pod for each node, by the real controller and kube-scheduler: two of them are too large for one node. */
export function podsOf(replicas: number): KubernetesManifest {
  const labels = { app: 'bench' };
  const requests = { cpu: '600m' };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'bench', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          nodeSelector: { [NODE_POOL_LABEL]: POOL },
          terminationGracePeriodSeconds: 2,
          containers: [{ name: 'main', image: 'registry.example.com/main:1', resources: { requests } }],
        },
      },
    },
  };
}
