/** What the bench has in its cluster. Pure. */
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesManifest, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import { nodePool } from '../../test/control-plane/karpenter/objects.ts';
import { configMap } from '../objects.ts';
import type { Pool } from './layouts.ts';

/** Of the kwok provider for `Ready=False`; it cannot be set. */
export const TOLERATION_MS = 600_000;
const BENCH_LABEL = 'bench.curfew.dev/pool';

export function poolManifest({ name, nodes }: Pool): KubernetesManifest {
  const pool = nodePool(name, nodes);
  return { ...pool, metadata: { name, labels: { [BENCH_LABEL]: 'true' } } };
}

/** Curfew with Karpenter's rules: its toleration, its threshold, no guard that Karpenter has not. */
export function settingsObjects(): readonly { readonly type: ResourceType; readonly manifest: KubernetesManifest }[] {
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
          repair: { defaultTolerationDuration: '10m', maxUnhealthy: '20%', zoneOutage: 'Off', freeze: 'Off' },
        },
      },
    },
  ];
}

/** A pod for each node, by the real workload controllers and kube-scheduler. */
export function deploymentOf(replicas: number): KubernetesManifest {
  const labels = { app: 'bench' };
  const requests = { cpu: '10m' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `bench-${replicas}`, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'main', image: 'registry.example.com/main:1', resources: { requests } }] },
      },
    },
  };
}
