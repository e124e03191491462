/** What Karpenter's kwok provider makes nodes of. */
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';

export const NODE_POOL_LABEL = 'karpenter.sh/nodepool';
const NODE_CLASS = 'default';

export const nodeClass = {
  apiVersion: 'karpenter.kwok.sh/v1alpha1',
  kind: 'KWOKNodeClass',
  metadata: { name: NODE_CLASS },
};

/** A pool that is never consolidated nor expires. With `replicas` Karpenter keeps so many nodes, without one comes for pods that wait. */
export function nodePool(name: string, replicas?: number) {
  const disruption: JsonObject = { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' };
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name, labels: { pool: name } },
    spec: {
      ...(replicas === undefined ? { disruption } : { replicas }),
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: NODE_CLASS },
          requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }],
          expireAfter: 'Never',
        },
      },
    },
  };
}

/** A pod for a node of that pool. */
export function podFor(pool: string, name: string, labels: Readonly<Record<string, string>> = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels },
    spec: {
      nodeSelector: { [NODE_POOL_LABEL]: pool },
      terminationGracePeriodSeconds: 2,
      containers: [{ name: 'main', image: 'registry.example.com/main:1', resources: { requests: { cpu: '100m' } } }],
    },
  };
}
