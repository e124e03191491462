/** A Node and its NodeClaim as Karpenter has them once they are launched: Launched, Registered, Initialized, and Ready. */
import type { JsonObject, JsonValue, KubernetesManifest } from '../shared/domain/kubernetes-object.ts';

export const NODE_POOL_LABEL = 'karpenter.sh/nodepool';
export const ZONE_LABEL = 'topology.kubernetes.io/zone';
export const DEFAULT_ZONE = 'us-west-2a';

export interface LaunchedNode {
  /** Of Node and NodeClaim. */
  readonly name: string;
  readonly zone: string;
  /** The label of the NodePool included. */
  readonly labels: Readonly<Record<string, string>>;
  readonly taints?: readonly JsonValue[];
  /** RFC 3339. */
  readonly launchTime: string;
}

export const providerIdOf = ({ name, zone }: Pick<LaunchedNode, 'name' | 'zone'>): string => `aws:///${zone}/i-${name}`;

/** Labels that a Node has whoever launched it, and those that were asked for. */
const labelsOf = ({ name, zone, labels }: LaunchedNode): Readonly<Record<string, string>> => ({
  'kubernetes.io/arch': 'amd64',
  'kubernetes.io/os': 'linux',
  'karpenter.sh/capacity-type': 'on-demand',
  'node.kubernetes.io/instance-type': 'm5.large',
  ...labels,
  [ZONE_LABEL]: zone,
  'kubernetes.io/hostname': name,
  'karpenter.sh/registered': 'true',
  'karpenter.sh/initialized': 'true',
});

export function nodeOf(launched: LaunchedNode) {
  const { name, taints = [], launchTime } = launched;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: labelsOf(launched) },
    spec: { providerID: providerIdOf(launched), ...(taints.length > 0 && { taints }) },
    status: {
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime: launchTime }],
      nodeInfo: { bootID: `boot-${name}` },
    },
  } satisfies KubernetesManifest;
}

/** The status of its NodeClaim. */
export function claimStatusOf(launched: LaunchedNode): JsonObject {
  const condition = (type: string): JsonObject => ({
    type,
    status: 'True',
    reason: type,
    message: '',
    lastTransitionTime: launched.launchTime,
  });
  return {
    nodeName: launched.name,
    providerID: providerIdOf(launched),
    conditions: ['Launched', 'Registered', 'Initialized', 'Ready'].map(condition),
  };
}
