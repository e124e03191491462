/** What Karpenter's kwok provider makes nodes of. */
import type { JsonObject } from '../../../shared/domain/kubernetes-object.ts';

export const NODE_POOL_LABEL = 'karpenter.sh/nodepool';
const NODE_CLASS = 'default';
/** The cheapest of kwok's own. */
const INSTANCE_TYPE = 'c-1x-amd64-linux';

export const nodeClass = {
  apiVersion: 'karpenter.kwok.sh/v1alpha1',
  kind: 'KWOKNodeClass',
  metadata: { name: NODE_CLASS },
};

/** A pool that is never consolidated. With `replicas` Karpenter keeps so many nodes, without it one comes for pods that wait. */
export function nodePool(name: string, replicas?: number, expireAfter = 'Never') {
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
          // Nodes without pods have no other reason for one type: kwok launches nothing without.
          requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: [INSTANCE_TYPE] }],
          expireAfter,
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
