/**
 * The story that `npm start` plays: the two nodes of examples/scenarios/repair-worked-examples.yaml, with 10 s and 15 s in the place of 10 m and
 * 45 m. There are eight healthy nodes as well, since repair stops above 20 % of a pool.
 */
import { CONFIG_MAP, KARPENTER } from '../../shared/contract/names.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, hours, minutes, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { asApplied } from './as-applied.ts';

const POOL = 'default';

export interface SickNode {
  readonly node: string;
  readonly nodeClaim: string;
  readonly providerID: string;
  readonly condition: {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  };
  readonly tolerationSeconds: number;
}

const providerID = (index: number): string => `aws:///us-west-2a/i-0${String(index).padStart(16, '0')}`;

export const SICK_NODES: readonly SickNode[] = [
  {
    node: 'node-1',
    nodeClaim: 'default-1',
    providerID: providerID(1),
    condition: {
      type: 'NetworkUnavailable',
      status: 'True',
      reason: 'Network is not available',
      message: 'no connection',
    },
    tolerationSeconds: 10,
  },
  {
    node: 'node-2',
    nodeClaim: 'default-2',
    providerID: providerID(2),
    condition: { type: 'Ready', status: 'False', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
    tolerationSeconds: 15,
  },
];

export const HEALTHY_NODES: readonly number[] = [3, 4, 5, 6, 7, 8, 9, 10];

/** ConfigMap, NodePool, ten NodeClaims and Nodes, all healthy. `now` is RFC 3339. */
export function storyObjects(now: string): readonly KubernetesManifest[] {
  const all = [...SICK_NODES.map((_, index) => index + 1), ...HEALTHY_NODES];
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: CONFIG_MAP.name, namespace: CONFIG_MAP.namespace },
      data: { [CONFIG_MAP.key]: '[featureGates]\nnodeRepair = true\n' },
    },
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: POOL },
      spec: {
        repair: {
          defaultTolerationDuration: '30s',
          policies: [
            { conditionType: 'Ready', toleration: '15s' },
            { conditionType: 'NetworkUnavailable', toleration: '10s' },
          ],
        },
      },
    },
    ...all.flatMap(index => nodeAndClaim(index, now)),
  ];
}

/**
 * The objects of a cluster to play with: as in the story, but the NodePool leaves repair to policies, and the first node has been
 * unhealthy for 9 minutes and a half, so that the policy of the README has something to say half a minute later.
 */
export function playgroundObjects(now: EpochMs): readonly KubernetesManifest[] {
  const since = toTimestamp(addDuration(now, minutes(-9.5)));
  return storyObjects(toTimestamp(now)).map(manifest => {
    if (manifest.kind === 'NodePool') return asApplied({ ...manifest, spec: {} });
    if (manifest.kind === 'ConfigMap') return asApplied(manifest);
    const sick = SICK_NODES.find(({ node }) => manifest.kind === 'Node' && node === manifest.metadata.name);
    if (sick === undefined || sick !== SICK_NODES[0]) return manifest;
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '', lastTransitionTime: since };
    // No incident is older than its Node.
    const metadata = { ...manifest.metadata, creationTimestamp: toTimestamp(addDuration(now, hours(-1))) };
    return { ...manifest, metadata, status: { conditions: [ready, { ...sick.condition, lastTransitionTime: since }] } };
  });
}

function nodeAndClaim(index: number, now: string): readonly KubernetesManifest[] {
  const labels = { [KARPENTER.nodePoolLabel]: POOL, 'topology.kubernetes.io/zone': 'us-west-2a' };
  const finalizers = [KARPENTER.terminationFinalizer];
  const healthy = (type: string, status: string): Record<string, string> => ({
    type,
    status,
    reason: type === 'Ready' ? 'KubeletReady' : 'RouteCreated',
    message: '',
    lastTransitionTime: now,
    lastHeartbeatTime: now,
  });
  return [
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: `default-${index}`, labels, finalizers },
      spec: { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' } },
      status: { providerID: providerID(index), nodeName: `node-${index}` },
    },
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: `node-${index}`, labels, finalizers },
      spec: { providerID: providerID(index) },
      status: { conditions: [healthy('Ready', 'True'), healthy('NetworkUnavailable', 'False')] },
    },
  ];
}
