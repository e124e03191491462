import type { KubernetesObject, ObjectMeta } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs } from '../../shared/domain/time.ts';
import type { ObjectChange } from '../../forwarder/tracker.ts';

type Fields = Readonly<Record<string, unknown>>;
type Overrides = { readonly metadata?: Partial<ObjectMeta>; readonly [field: string]: unknown };

const object = (apiVersion: string, kind: string, fields: Fields, overrides: Overrides): KubernetesObject => ({
  apiVersion,
  kind,
  ...fields,
  ...overrides,
  metadata: {
    name: 'unnamed',
    uid: `uid-of-${overrides.metadata?.name ?? 'unnamed'}`,
    resourceVersion: '1',
    creationTimestamp: '2024-11-01T14:00:00Z',
    ...overrides.metadata,
  },
});

export const READY_CONDITION = {
  type: 'Ready',
  status: 'True',
  reason: 'KubeletReady',
  message: 'kubelet is posting ready status',
  lastHeartbeatTime: '2024-11-01T14:55:00Z',
  lastTransitionTime: '2024-11-01T14:01:00Z',
} as const;

export function aNode(overrides: Overrides = {}): KubernetesObject {
  const fields = {
    spec: { providerID: 'aws:///us-west-2a/i-0abc', taints: [{ key: 'example.com/slow', effect: 'NoSchedule' }] },
    status: { conditions: [READY_CONDITION], images: [{ names: ['nginx'], sizeBytes: 1 }] },
  };
  const labels = { 'karpenter.sh/nodepool': 'default', 'kubernetes.io/hostname': 'n1' };
  return object('v1', 'Node', fields, { ...overrides, metadata: { name: 'n1', labels, ...overrides.metadata } });
}

export function aNodeClaim(overrides: Overrides = {}): KubernetesObject {
  const fields = {
    spec: { nodeClassRef: { name: 'default' }, terminationGracePeriod: '1h' },
    status: { nodeName: 'n1', providerID: 'aws:///us-west-2a/i-0abc', conditions: [READY_CONDITION] },
  };
  const labels = { 'karpenter.sh/nodepool': 'default' };
  return object('karpenter.sh/v1', 'NodeClaim', fields, {
    ...overrides,
    metadata: { name: 'nc1', labels, ...overrides.metadata },
  });
}

export function aNodePool(overrides: Overrides = {}): KubernetesObject {
  const fields = { spec: { disruption: { budgets: [] }, repair: {} }, status: { resources: { nodes: '3' } } };
  return object('karpenter.sh/v1', 'NodePool', fields, {
    ...overrides,
    metadata: { name: 'default', ...overrides.metadata },
  });
}

export function aPolicy(overrides: Overrides = {}): KubernetesObject {
  const fields = { spec: { mode: 'Observe' } };
  return object('curfew.dev/v1alpha1', 'NodeLifecyclePolicy', fields, {
    ...overrides,
    metadata: { name: 'all', ...overrides.metadata },
  });
}

export function aPod(overrides: Overrides = {}): KubernetesObject {
  const fields = {
    spec: { nodeName: 'n1', containers: [{ name: 'web', image: 'nginx' }] },
    status: { phase: 'Running', startTime: '2024-11-01T14:02:00Z', podIP: '10.0.0.1' },
  };
  const annotations = { 'karpenter.sh/do-not-disrupt': '1h' };
  return object('v1', 'Pod', fields, {
    ...overrides,
    metadata: { name: 'web-0', namespace: 'prod', annotations, ...overrides.metadata },
  });
}

export function aConfigMap(overrides: Overrides = {}): KubernetesObject {
  const fields = { data: { 'config.toml': '' } };
  return object('v1', 'ConfigMap', fields, {
    ...overrides,
    metadata: { name: 'curfew-config', namespace: 'curfew', ...overrides.metadata },
  });
}

export function aChange(overrides: Partial<ObjectChange> & { uid?: string } = {}): ObjectChange {
  const { uid = 'u1', ...rest } = overrides;
  return {
    change: 'Modified',
    detailType: 'NodeChanged',
    subject: { kind: 'Node', apiVersion: 'v1', name: `name-of-${uid}`, uid },
    resourceVersion: '1',
    changed: ['conditions'],
    hints: {},
    observedTime: toEpochMs(0),
    interest: 'itself',
    ...rest,
  };
}

export function aBudget(overrides: Overrides = {}): KubernetesObject {
  return object(
    'policy/v1',
    'PodDisruptionBudget',
    { status: { disruptionsAllowed: 0 } },
    {
      ...overrides,
      metadata: { name: 'web', namespace: 'prod', ...overrides.metadata },
    },
  );
}

export function anAttachment(overrides: Overrides = {}): KubernetesObject {
  return object(
    'storage.k8s.io/v1',
    'VolumeAttachment',
    { spec: { nodeName: 'n1' } },
    {
      ...overrides,
      metadata: { name: 'csi-1', ...overrides.metadata },
    },
  );
}

export function aFinalizerRule(overrides: Overrides = {}): KubernetesObject {
  const fields = { spec: { group: 'example.com', version: 'v1', kind: 'ManagedDatabase' } };
  return object('curfew.dev/v1alpha1', 'FinalizerRule', fields, {
    ...overrides,
    metadata: { name: 'managed-database', ...overrides.metadata },
  });
}

export function aDatabase(overrides: Overrides = {}): KubernetesObject {
  return object(
    'example.com/v1',
    'ManagedDatabase',
    { spec: { size: 1 } },
    {
      ...overrides,
      metadata: { name: 'orders', namespace: 'prod', finalizers: ['example.com/cleanup'], ...overrides.metadata },
    },
  );
}
