/** What the soak puts into the cluster. Pure. */
import { ANNOTATIONS, CONFIG_MAP, KARPENTER } from '../../shared/contract/names.ts';
import type { JsonObject, KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import { toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import { CLAIM_SPEC } from '../objects.ts';

export const POOL = 'soak';
export const NAMESPACE = 'default';
const FINALIZER = 'soak.curfew.dev/terminate';

/** Tolerations in seconds, so that each node that stays ill is repaired; nodes end under a finalizer of Curfew's. */
export const SETTINGS: readonly KubernetesManifest[] = [
  {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: POOL, labels: { soak: POOL } },
    spec: { template: { spec: CLAIM_SPEC } },
  },
  {
    apiVersion: 'curfew.dev/v1alpha1',
    kind: 'NodeLifecyclePolicy',
    metadata: { name: POOL },
    spec: {
      nodePoolSelector: { matchLabels: { soak: POOL } },
      repair: { defaultTolerationDuration: '10s', maxUnhealthy: '50%' },
      termination: { finalizerName: FINALIZER },
    },
  },
];

/** A merge patch of Curfew's configuration: the gate is open, and every drain evicts at once. */
export const CONFIGURATION: JsonObject = {
  data: {
    [CONFIG_MAP.key]: '[featureGates]\nnodeRepair = true\n\n[[userNamespaces]]\nname = "*"\nmode = "Immediate"\n',
  },
};
type WithStatus = KubernetesManifest & { readonly status: JsonObject };

const providerIdOf = (index: number): string => `aws:///us-west-2a/i-0${index.toString(16).padStart(16, '0')}`;
const labels = { [KARPENTER.nodePoolLabel]: POOL };
export const nodeNameOf = (index: number): string => `soak-${index}`;

export const claimFor = (index: number): WithStatus => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: nodeNameOf(index), labels, finalizers: [KARPENTER.terminationFinalizer] },
  spec: CLAIM_SPEC,
  status: { nodeName: nodeNameOf(index), providerID: providerIdOf(index) },
});

export const nodeFor = (index: number, now: EpochMs): WithStatus => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: nodeNameOf(index), labels, finalizers: [KARPENTER.terminationFinalizer] },
  spec: { providerID: providerIdOf(index) },
  ...readyIs('True', now),
});

/** The scheduler binds it to a node of the pool. @param protectedFor a Go duration; undefined: not at all */
export const podFor = (name: string, protectedFor: string | undefined): KubernetesManifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: NAMESPACE,
    name,
    labels: { soak: POOL },
    ...(protectedFor !== undefined && { annotations: { [KARPENTER.doNotDisruptAnnotation]: protectedFor } }),
  },
  spec: {
    nodeSelector: { [KARPENTER.nodePoolLabel]: POOL },
    containers: [{ name: 'main', image: 'main' }],
    terminationGracePeriodSeconds: 5,
  },
});

/** A strategic patch of the status. */
export const readyIs = (status: 'True' | 'False', now: EpochMs): { readonly status: JsonObject } => ({
  status: {
    conditions: [
      {
        type: 'Ready',
        status,
        reason: 'Soak',
        lastTransitionTime: toTimestamp(now),
        lastHeartbeatTime: toTimestamp(now),
      },
    ],
  },
});

/** A merge patch. @param id undefined takes the request back */
export const drainRequested = (id: string | undefined): JsonObject => ({
  metadata: { annotations: { [ANNOTATIONS.drainRequested]: id ?? null } },
});
