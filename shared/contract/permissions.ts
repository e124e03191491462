/**
 * The permissions of each part of Curfew, in one table: nothing else is granted, and nothing else works. `deploy/rbac`,
 * the forwarder's role and the IAM statements are made of it; the in-process runtime, the embedded API server and the
 * local AWS endpoints enforce it. Not in it, because all functions have it alike: receiving from the own inbox, parking
 * in the own dead-letter queue, writing logs.
 */
import { CONFIG_MAP, SOURCES, FUNCTION_NAMES, type FunctionName } from './names.ts';
import { NODE_REQUESTS, RESOURCES, type KnownKind } from './resources.ts';

export type KubernetesVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** Verbs on one resource, as a rule of a ClusterRole; of a Role where there is a namespace. */
export interface KubernetesGrant {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verbs: readonly KubernetesVerb[];
  /** Only in this namespace. */
  readonly namespace?: string;
  /** Only these objects (`resourceNames`): a list or watch must select one of them by `metadata.name`. */
  readonly names?: readonly string[];
}

export type InstanceAction =
  | 'ec2:DescribeInstances'
  | 'ec2:DescribeInstanceStatus'
  | 'ec2:RebootInstances'
  | 'ec2:TerminateInstances'
  | 'autoscaling:TerminateInstanceInAutoScalingGroup';

export interface Permissions {
  readonly kubernetes: readonly KubernetesGrant[];
  /** The functions whose records it reads and writes: its own, or none, since each record type has one writer. */
  readonly records: readonly FunctionName[];
  /** Reads what the finalizer function remembers of NodePools. */
  readonly readsKnownPools: boolean;
  /** Queries the due index of all records. */
  readonly readsDueIndex: boolean;
  /** To whose inboxes it sends wake-ups. */
  readonly wakes: readonly FunctionName[];
  /** Under which `source` it publishes on the bus. */
  readonly publishesAs: readonly string[];
  /** On the instances of the cluster. */
  readonly ec2: readonly InstanceAction[];
  /** Calls the Lambda functions that hooks of terminations name. */
  readonly invokesHooks: boolean;
}

/** A part that has an identity of its own. */
export type Component = FunctionName | 'forwarder';

/** The forwarder's service account: `deploy/` makes it, and the Pod Identity association knows it by this name. */
export const FORWARDER_ACCOUNT = { namespace: CONFIG_MAP.namespace, name: 'curfew-forwarder' } as const;
export const FORWARDER_LEASE = { namespace: CONFIG_MAP.namespace, name: 'curfew-forwarder' } as const;

/** Kubernetes Events about an object: found, created, or counted once more. */
const EVENTS = on('Event', ['get', 'create', 'patch']);
const NOTHING: Permissions = {
  kubernetes: [],
  records: [],
  readsKnownPools: false,
  readsDueIndex: false,
  wakes: [],
  publishesAs: [],
  ec2: [],
  invokesHooks: false,
};

export const PERMISSIONS: Readonly<Record<Component, Permissions>> = {
  finalizer: {
    ...NOTHING,
    kubernetes: [
      on('Node', ['get', 'list', 'patch', 'delete']),
      on('Node', ['patch'], { subresource: 'status' }),
      on('Pod', ['list', 'delete']),
      on('Pod', ['create'], { subresource: 'eviction' }),
      // The condition `DisruptionTarget`, before a pod is deleted by force.
      on('Pod', ['patch'], { subresource: 'status' }),
      on('PersistentVolumeClaim', ['get']),
      on('VolumeAttachment', ['list']),
      on('NodePool', ['get']),
      on('NodeClaim', ['get', 'list', 'patch', 'delete']),
      on('NodeClaim', ['patch'], { subresource: 'status' }),
      on('NodeLifecyclePolicy', ['get', 'list']),
      on('FinalizerRule', ['get', 'list', 'patch']),
      on('FinalizerRule', ['patch'], { subresource: 'status' }),
      // Whether a kind of a rule that is not served is there all the same, with its objects.
      on('CustomResourceDefinition', ['get']),
      // Templates of hooks; their kinds are granted by the user, with `get` and `create`.
      on('ConfigMap', ['get'], { namespace: CONFIG_MAP.namespace, names: [CONFIG_MAP.name] }),
      EVENTS,
    ],
    records: ['finalizer'],
    wakes: ['finalizer'],
    publishesAs: [SOURCES.finalizer],
    ec2: ['ec2:DescribeInstances', 'ec2:TerminateInstances'],
    invokesHooks: true,
  },
  // Beside these, the verbs `get`, `create` and `delete` on the custom resource of a custom drain, which its owner grants.
  drain: {
    ...NOTHING,
    kubernetes: [
      on('Node', ['get', 'list', 'patch']),
      // `DrainInProgress` and `Drained`.
      on('Node', ['patch'], { subresource: 'status' }),
      on('Pod', ['list', 'delete']),
      on('Pod', ['create'], { subresource: 'eviction' }),
      // The condition `DisruptionTarget`, before a pod is deleted by force.
      on('Pod', ['patch'], { subresource: 'status' }),
      on('NodePool', ['get']),
      // Whether protection has ended with a forceful termination.
      on('NodeClaim', ['list']),
      on('NodeLifecyclePolicy', ['list']),
      on('ConfigMap', ['get'], { namespace: CONFIG_MAP.namespace, names: [CONFIG_MAP.name] }),
      EVENTS,
    ],
    records: ['drain'],
    readsKnownPools: true,
    wakes: ['drain'],
    publishesAs: [SOURCES.drain],
  },
  // Beside these, the verbs `get`, `create`, `patch` and `delete` on the custom resources of `repair.actions`, which their owner grants.
  repair: {
    ...NOTHING,
    kubernetes: [
      // A reboot cordons the Node, and its allowance stands there.
      on('Node', ['get', 'list', 'patch']),
      on('Node', ['patch'], { subresource: 'status' }),
      // Which protected pods a forceful repair takes.
      on('Pod', ['list']),
      // Of one namespace, but by a ClusterRole: that namespace is there only beside medik8s, and a Role in none is refused.
      on('Lease', ['list']),
      ...NODE_REQUESTS.map(({ group, resource }) => ({ group, resource, verbs: ['list'] as const })),
      on('NodePool', ['get', 'list']),
      // `get` reads it before an act, and on the way back: an attempt that was not carried out takes its annotation off.
      // `create` is for a replacement that is launched before the unhealthy one goes.
      on('NodeClaim', ['get', 'list', 'create', 'patch', 'delete']),
      on('NodeLifecyclePolicy', ['list']),
      on('NodeLifecyclePolicy', ['patch'], { subresource: 'status' }),
      // Whether the kind of a custom resource that is not served is there all the same, with its objects.
      on('CustomResourceDefinition', ['get']),
      on('ConfigMap', ['get'], { namespace: CONFIG_MAP.namespace, names: [CONFIG_MAP.name] }),
      EVENTS,
    ],
    records: ['repair'],
    readsKnownPools: true,
    wakes: ['repair'],
    publishesAs: [SOURCES.repair],
    ec2: [
      'ec2:DescribeInstances',
      // `confirm` of an entry.
      'ec2:DescribeInstanceStatus',
      'ec2:RebootInstances',
      'autoscaling:TerminateInstanceInAutoScalingGroup',
    ],
  },
  'grace-period': {
    ...NOTHING,
    kubernetes: [
      on('Node', ['get', 'list', 'patch']),
      on('Pod', ['list']),
      on('NodePool', ['get']),
      on('NodeLifecyclePolicy', ['get', 'list']),
      EVENTS,
    ],
    records: ['grace-period'],
    readsKnownPools: true,
    wakes: ['grace-period'],
  },
  timer: {
    ...NOTHING,
    readsDueIndex: true,
    // Which unreadable entries of the index were parked.
    records: ['timer'],
    wakes: FUNCTION_NAMES.filter(name => name !== 'timer'),
  },
  forwarder: {
    ...NOTHING,
    kubernetes: [
      on('Node', ['list', 'watch']),
      on('Pod', ['list', 'watch']),
      on('NodeClaim', ['list', 'watch']),
      on('NodePool', ['list', 'watch']),
      on('NodeLifecyclePolicy', ['list', 'watch']),
      on('FinalizerRule', ['list', 'watch']),
      // Watched only while the pods of some node are.
      on('PodDisruptionBudget', ['list', 'watch']),
      on('VolumeAttachment', ['list', 'watch']),
      on('ConfigMap', ['list', 'watch'], { namespace: CONFIG_MAP.namespace, names: [CONFIG_MAP.name] }),
      // The Lease of the one that works. RBAC cannot limit a create to a name.
      on('Lease', ['create'], { namespace: FORWARDER_LEASE.namespace }),
      on('Lease', ['get', 'patch'], { namespace: FORWARDER_LEASE.namespace, names: [FORWARDER_LEASE.name] }),
    ],
    publishesAs: [SOURCES.forwarder],
  },
};

/**
 * The permissions of a part on the objects of a kind that a FinalizerRule names; the user grants them kind by kind
 * (`curfew rbac`).
 */
export function permissionsOnFinalizerRuleKind(
  part: Component,
  { group, resource }: { group: string; resource: string },
): Permissions['kubernetes'] {
  if (part === 'forwarder') return [{ group, resource, verbs: ['list', 'watch'] }];
  if (part !== 'finalizer') return [];
  return [
    { group, resource, verbs: ['get', 'list', 'patch'] },
    { group, resource, subresource: 'status', verbs: ['patch'] },
  ];
}

/** The permissions of a part on the custom resources of a termination's hooks (`curfew rbac hooks`). */
export function permissionsOnHookKind(
  part: Component,
  { group, resource }: { group: string; resource: string },
): Permissions['kubernetes'] {
  if (part === 'forwarder') return [{ group, resource, verbs: ['list', 'watch'] }];
  return part === 'finalizer' ? [{ group, resource, verbs: ['get', 'create'] }] : [];
}

/** The Kubernetes group of a function: its EKS access entry names it, and `deploy/rbac` binds it. */
export function kubernetesGroupOf(name: FunctionName): string {
  return `curfew:${name}`;
}

function on(
  kind: KnownKind,
  verbs: readonly KubernetesVerb[],
  limits: Pick<KubernetesGrant, 'subresource' | 'namespace' | 'names'> = {},
): KubernetesGrant {
  const { group, resource } = RESOURCES[kind];
  return { group, resource, verbs, ...limits };
}
