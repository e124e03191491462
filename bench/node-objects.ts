/**
 * Nodes as an EKS cluster has them: with the labels, images, probes, volumes, conditions and managed fields that make a real
 * object some kilobytes large. A cache of whole objects keeps all of it, so a smaller object would flatter it.
 */
import type { JsonObject, KubernetesManifest } from '../shared/domain/kubernetes-object.ts';
import { toEpochMs, toTimestamp, type EpochMs } from '../shared/domain/time.ts';

/** Objects were created then; heartbeats come later. */
export const CREATION_TIME = toEpochMs(Date.UTC(2026, 0, 5, 9, 0, 0));
const ZONES = ['us-west-2a', 'us-west-2b', 'us-west-2c'] as const;

export const nodeName = (index: number): string => {
  const [high, low] = [Math.floor(index / 250), index % 250];
  return `ip-10-${Math.floor(high / 250)}-${high % 250}-${low + 1}.us-west-2.compute.internal`;
};

export interface NodeState {
  readonly heartbeatTime: EpochMs;
  readonly ready: 'True' | 'Unknown';
  /** When `ready` became what it is. */
  readonly transitionTime: EpochMs;
}

/** `status.conditions` of a node as its kubelet posts them. */
export function nodeConditions({ heartbeatTime, ready, transitionTime }: NodeState): readonly JsonObject[] {
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: 'False',
    lastHeartbeatTime: toTimestamp(heartbeatTime),
    lastTransitionTime: toTimestamp(CREATION_TIME),
    reason,
    message,
  });
  return [
    condition('MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    condition('DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    condition('PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    {
      ...condition('Ready', 'KubeletReady', 'kubelet is posting ready status'),
      status: ready,
      lastTransitionTime: toTimestamp(transitionTime),
      ...(ready === 'Unknown' && { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' }),
    },
  ];
}

export function nodeManifest(index: number): KubernetesManifest {
  const zone = ZONES[index % ZONES.length] ?? ZONES[0];
  const name = nodeName(index);
  const resources = { cpu: '15890m', 'ephemeral-storage': '95551679124', memory: '60691624Ki', pods: '234' };
  const state: NodeState = { heartbeatTime: CREATION_TIME, ready: 'True', transitionTime: CREATION_TIME };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      // No illness is older than its Node.
      creationTimestamp: toTimestamp(CREATION_TIME),
      labels: {
        'beta.kubernetes.io/arch': 'arm64',
        'beta.kubernetes.io/os': 'linux',
        'failure-domain.beta.kubernetes.io/region': 'us-west-2',
        'failure-domain.beta.kubernetes.io/zone': zone,
        'k8s.io/cloud-provider-aws': 'cb9c33e8a4c2a2b8e1d2f1a4f2b7f1c9',
        'karpenter.k8s.aws/instance-category': 'm',
        'karpenter.k8s.aws/instance-cpu': '16',
        'karpenter.k8s.aws/instance-family': 'm7g',
        'karpenter.k8s.aws/instance-generation': '7',
        'karpenter.k8s.aws/instance-memory': '65536',
        'karpenter.k8s.aws/instance-size': '4xlarge',
        'karpenter.sh/capacity-type': 'on-demand',
        'karpenter.sh/nodepool': `pool-${index % 20}`,
        'kubernetes.io/arch': 'arm64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'node.kubernetes.io/instance-type': 'm7g.4xlarge',
        'topology.ebs.csi.aws.com/zone': zone,
        'topology.kubernetes.io/region': 'us-west-2',
        'topology.kubernetes.io/zone': zone,
      },
      annotations: {
        'alpha.kubernetes.io/provided-node-ip': `10.0.${index % 250}.${index % 199}`,
        'csi.volume.kubernetes.io/nodeid': `{"ebs.csi.aws.com":"${instanceId(index)}","efs.csi.aws.com":"${instanceId(index)}"}`,
        'karpenter.k8s.aws/ec2nodeclass-hash': '10478256913287400121',
        'karpenter.k8s.aws/ec2nodeclass-hash-version': 'v4',
        'node.alpha.kubernetes.io/ttl': '300',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
      ...managedBy(
        { manager: 'kubelet', fields: ['f:annotations', 'f:labels', 'f:providerID', 'f:volumesInUse', 'f:podCIDR'] },
        {
          manager: 'kubelet',
          fields: ['f:allocatable', 'f:capacity', 'f:conditions', 'f:images', 'f:nodeInfo'],
          subresource: 'status',
        },
      ),
    },
    spec: { providerID: `aws:///${zone}/${instanceId(index)}` },
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [...nodeConditions(state)],
      addresses: [
        { type: 'InternalIP', address: `10.0.${index % 250}.${index % 199}` },
        { type: 'InternalDNS', address: name },
        { type: 'Hostname', address: name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        machineID: `ec2${index.toString(16).padStart(29, '0')}`,
        systemUUID: `ec2${index.toString(16).padStart(5, '0')}-0000-4000-8000-000000000000`,
        bootID: '9d0a4f0e-5f6b-4a44-a0d5-4f6c0c7d2f10',
        kernelVersion: '6.1.141-155.222.amzn2023.aarch64',
        osImage: 'Bottlerocket OS 1.43.0 (aws-k8s-1.33)',
        containerRuntimeVersion: 'containerd://2.0.5+bottlerocket',
        kubeletVersion: 'v1.33.1-eks-b9364f6',
        kubeProxyVersion: 'v1.33.1-eks-b9364f6',
        operatingSystem: 'linux',
        architecture: 'arm64',
      },
      images: Array.from({ length: 15 }, (_unused, image) => ({
        names: [
          `602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/image-${image}@sha256:${digest(image)}`,
          `602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/image-${image}:v1.${image}.0-eksbuild.1`,
        ],
        sizeBytes: 70_000_000 + image,
      })),
    },
  };
}

/** What a kubelet and a program on the node make of an id: 17 hexadecimal digits. */
const instanceId = (index: number): string => `i-0${index.toString(16).padStart(16, '0')}`;
const digest = (index: number): string => index.toString(16).padStart(64, 'a');

interface FieldManager {
  readonly manager: string;
  readonly fields: readonly string[];
  readonly subresource?: string;
}

/** What the API server notes of who wrote which field, with as many leaves as such an object has. */
function managedBy(...managers: readonly FieldManager[]): { readonly managedFields: readonly JsonObject[] } {
  const leaves = Object.fromEntries(['f:key', 'f:name', 'f:value', 'f:status', 'f:type'].map(name => [name, {}]));
  return {
    managedFields: managers.map(({ manager, fields, subresource }) => ({
      manager,
      operation: 'Update',
      apiVersion: 'v1',
      time: toTimestamp(CREATION_TIME),
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:metadata': Object.fromEntries(fields.map(field => [field, { '.': {}, ...leaves }])) },
      ...(subresource !== undefined && { subresource }),
    })),
  };
}
