/** The resource types that Curfew reads or writes, as they stand in URLs, and their kinds. */
import type { ResourceType } from '../domain/kubernetes-object.ts';

const resource = (group: string, version: string, plural: string): ResourceType => ({
  group,
  version,
  resource: plural,
});

export const RESOURCES = {
  Node: resource('', 'v1', 'nodes'),
  Pod: resource('', 'v1', 'pods'),
  ConfigMap: resource('', 'v1', 'configmaps'),
  Event: resource('', 'v1', 'events'),
  Lease: resource('coordination.k8s.io', 'v1', 'leases'),
  PodDisruptionBudget: resource('policy', 'v1', 'poddisruptionbudgets'),
  PersistentVolumeClaim: resource('', 'v1', 'persistentvolumeclaims'),
  VolumeAttachment: resource('storage.k8s.io', 'v1', 'volumeattachments'),
  NodeClaim: resource('karpenter.sh', 'v1', 'nodeclaims'),
  NodePool: resource('karpenter.sh', 'v1', 'nodepools'),
  NodeLifecyclePolicy: resource('curfew.dev', 'v1alpha1', 'nodelifecyclepolicies'),
  FinalizerRule: resource('curfew.dev', 'v1alpha1', 'finalizerrules'),
  CustomResourceDefinition: resource('apiextensions.k8s.io', 'v1', 'customresourcedefinitions'),
} as const;
export type KnownKind = keyof typeof RESOURCES;

/** Requests of NVSentinel that others should leave a node alone. */
export const NODE_REQUESTS = [
  { ...resource('nvsentinel.dgxc.nvidia.com', 'v1', 'maintenancerequests'), kind: 'MaintenanceRequest' },
  {
    ...resource('nvsentinel.nvidia.com', 'v1alpha1', 'externalremediationrequests'),
    kind: 'ExternalRemediationRequest',
  },
] as const;
/** Namespace in which the operators of medik8s keep their Leases on nodes. */
export const MEDIK8S_LEASES = 'medik8s-leases';

/** The kinds whose changes the forwarder publishes under their own names. A switch over them is exhaustive: none is dropped unsaid. */
export const WATCHED_KINDS = [
  'Node',
  'NodeClaim',
  'NodePool',
  'NodeLifecyclePolicy',
  'FinalizerRule',
  'Pod',
  'PodDisruptionBudget',
  'VolumeAttachment',
  'ConfigMap',
] as const satisfies readonly KnownKind[];
export type WatchedKind = (typeof WATCHED_KINDS)[number];
