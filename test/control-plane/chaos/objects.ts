/** What the cluster of a run is made of, as a real API server takes it. */
import type { KubernetesManifest } from '../../../shared/domain/kubernetes-object.ts';
import { CONFIG_MAP, KARPENTER } from '../../../shared/contract/names.ts';
import { toTimestamp, type EpochMs } from '../../../shared/domain/time.ts';
import { TOLERATION_SECONDS, type Machine, type Pool, type StoryPod } from './story.ts';

export const FINALIZER = 'example.com/custom';
export const WORKLOADS = 'prod';
/** Holds what is known of the run beside the cluster, so that the audit log has it: which instances have ended, what was restored. */
export const NOTES = 'chaos';

const claimSpec = {
  nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
  requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }],
};

export const namespace = (name: string): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});

export const config: KubernetesManifest = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: CONFIG_MAP.namespace, name: CONFIG_MAP.name },
  data: {
    [CONFIG_MAP.key]: '[featureGates]\nnodeRepair = true\n[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n',
  },
};

export const nodePool = (name: Pool): KubernetesManifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name, labels: { team: name } },
  spec: { template: { spec: claimSpec } },
});

export const policy = (name: Pool): KubernetesManifest => ({
  apiVersion: 'curfew.dev/v1alpha1',
  kind: 'NodeLifecyclePolicy',
  metadata: { name },
  spec: {
    nodePoolSelector: { matchLabels: { team: name } },
    mode: 'Enforce',
    ...(name === 'edge'
      ? { termination: { finalizerName: FINALIZER } }
      : { repair: { defaultTolerationDuration: `${TOLERATION_SECONDS}s`, maxUnhealthy: '100%' } }),
  },
});

/** Karpenter ends what repair deletes; those of the other pool are ours to end. */
const metadataOf = ({ name, pool }: Machine) => ({
  name,
  labels: { [KARPENTER.nodePoolLabel]: pool },
  ...(pool === 'general' && { finalizers: [KARPENTER.terminationFinalizer] }),
});

export const nodeClaim = (machine: Machine): KubernetesManifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: metadataOf(machine),
  spec: claimSpec,
});

export const nodeClaimStatus = ({ name, providerID }: Machine) => ({ providerID, nodeName: name });

export const node = (machine: Machine): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: metadataOf(machine),
  spec: { providerID: machine.providerID },
});

export const nodeStatus = (ready: boolean, now: EpochMs) => ({
  conditions: [
    {
      type: 'Ready',
      status: ready ? 'True' : 'False',
      reason: ready ? 'KubeletReady' : 'KubeletNotReady',
      lastTransitionTime: toTimestamp(now),
    },
  ],
});

export const pod = ({ name, node: nodeName, doNotDisrupt }: StoryPod): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: WORKLOADS,
    name,
    ...(doNotDisrupt !== undefined && { annotations: { [KARPENTER.doNotDisruptAnnotation]: doNotDisrupt } }),
  },
  spec: {
    nodeName,
    terminationGracePeriodSeconds: 2,
    containers: [{ name: 'main', image: 'registry.example.com/main:1' }],
  },
});

export const podStatus = (now: EpochMs) => ({
  phase: 'Running',
  startTime: toTimestamp(now),
  conditions: [{ type: 'Ready', status: 'True' }],
});
