/** A pool as Karpenter keeps it: nodes of usual size with their NodeClaims, which hold on to a finalizer until the bench takes it off. Pure. */
import { CONFIG_MAP, KARPENTER } from '../../shared/contract/names.ts';
import type { JsonObject, KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { CREATION_TIME, nodeConditions, nodeManifest } from '../node-objects.ts';
import { CLAIM_SPEC, configMap } from '../objects.ts';

export const POOL = 'bench';
/** In place of Karpenter's own: a deletion is accepted, and the bench says when it ends. */
export const FINALIZER = 'bench.curfew.dev/hold';

export interface PoolRules {
  /** A Go duration. */
  readonly toleration: string;
  readonly maxUnhealthy: string;
}

/** The gate open and one pool with a repair block. */
export function settingsObjects({ toleration, maxUnhealthy }: PoolRules): KubernetesManifest[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONFIG_MAP.namespace } },
    configMap(),
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: POOL },
      spec: { template: { spec: CLAIM_SPEC } },
    },
    {
      apiVersion: 'curfew.dev/v1alpha1',
      kind: 'NodeLifecyclePolicy',
      metadata: { name: POOL },
      spec: { repair: { defaultTolerationDuration: toleration, maxUnhealthy } },
    },
  ];
}

export const nameOf = (index: number): string => `node-${index}`;

export function claimFor(index: number): KubernetesManifest {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: nameOf(index), labels: { [KARPENTER.nodePoolLabel]: POOL }, finalizers: [FINALIZER] },
    spec: CLAIM_SPEC,
    status: { nodeName: nameOf(index), providerID: providerIDOf(index) },
  };
}

/** @param claimUid owns the node, as Karpenter has it */
export function nodeFor(
  index: number,
  claimUid: string,
  ready: 'True' | 'Unknown' = 'True',
  since = CREATION_TIME,
): KubernetesManifest {
  const { metadata, status, ...node } = nodeManifest(index);
  const owner = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: nameOf(index), uid: claimUid };
  return {
    ...node,
    metadata: {
      ...metadata,
      name: nameOf(index),
      labels: { ...metadata.labels, [KARPENTER.nodePoolLabel]: POOL },
      ownerReferences: [{ ...owner, blockOwnerDeletion: true }],
    },
    spec: { providerID: providerIDOf(index) },
    status: { ...fieldsOf(status), ...statusOf(ready, since) },
  };
}

export function statusOf(ready: 'True' | 'Unknown', transitionTime: EpochMs): JsonObject {
  return { conditions: [...nodeConditions({ ready, heartbeatTime: CREATION_TIME, transitionTime })] };
}

const fieldsOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

const providerIDOf = (index: number): string => `aws:///us-west-2a/i-${index.toString(16).padStart(17, '0')}`;
