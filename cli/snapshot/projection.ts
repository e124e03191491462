/**
 * The fields of a cluster that a snapshot contains. All others are left out, so that no Secret, environment value,
 * command line or annotation of somebody else can be among them.
 */
import { ANNOTATIONS } from '../../shared/contract/names.ts';
import { fieldsOf, objectIn } from '../../shared/domain/json.ts';
import type { JsonObject, JsonValue, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { isObject } from '../../packages/kube-apiserver/src/json.ts';

/** Annotations that rules read. Others may hold anything, whole manifests with their environment included. */
const ANNOTATION_GROUPS = /^([a-z0-9-]+\.)*(karpenter\.sh|karpenter\.k8s\.aws|curfew\.dev)\//;

const METADATA = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'labels',
  'finalizers',
] as const;
const CONDITION = ['type', 'status', 'reason', 'lastTransitionTime'] as const;
const TOLERATION = ['key', 'operator', 'value', 'effect', 'tolerationSeconds'] as const;

/** Fields of a NodePool's template and of a NodeClaim by which a node and its replacement are made and ended. */
const TEMPLATE = [
  'nodeClassRef',
  'requirements',
  'taints',
  'startupTaints',
  'terminationGracePeriod',
  'expireAfter',
] as const;

/** Fields of `spec` and `status` that are kept as they are, by kind. */
const KEPT: Readonly<Record<string, { readonly spec: readonly string[]; readonly status: readonly string[] }>> = {
  Node: { spec: ['providerID', 'taints', 'unschedulable'], status: [] },
  NodeClaim: { spec: [...TEMPLATE, 'resources'], status: ['providerID', 'nodeName', 'capacity'] },
  NodePool: { spec: ['repair', 'disruption', 'replicas', 'limits'], status: ['resources'] },
  NodeLifecyclePolicy: {
    spec: ['nodePoolSelector', 'mode', 'repair', 'repairLimits', 'drain', 'protection', 'termination'],
    status: [],
  },
  Pod: {
    spec: ['nodeName', 'terminationGracePeriodSeconds', 'priorityClassName'],
    status: ['phase', 'startTime'],
  },
  PodDisruptionBudget: {
    spec: ['minAvailable', 'maxUnavailable', 'selector', 'unhealthyPodEvictionPolicy'],
    status: ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'],
  },
};

/** The object as it stands in a snapshot. Throws for a kind that snapshots do not hold. */
export function toSnapshotObject(object: KubernetesObject): JsonObject {
  const kept = KEPT[object.kind];
  if (kept === undefined) throw new Error(`a snapshot holds no ${object.kind}`);
  const { spec = {}, status = {} } = object;
  // Of a pod's conditions only Ready is read, and a snapshot may hold tens of thousands of pods.
  const conditions = list(status['conditions'], CONDITION).filter(
    ({ type }) => object.kind !== 'Pod' || type === 'Ready',
  );
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: metadataOf(object),
    spec: { ...pick(spec, kept.spec), ...ofKind(object.kind, spec) },
    status: { ...pick(status, kept.status), ...(conditions.length > 0 && { conditions }) },
  };
}

function ofKind(kind: string, spec: JsonObject): JsonObject {
  switch (kind) {
    case 'Pod':
      // Tolerations decide what a drain does; nothing reads containers, and images and commands may be confidential.
      return withoutEmpty('tolerations', list(spec['tolerations'], TOLERATION).filter(isOfSomebody));
    case 'NodePool': {
      const template = objectIn(spec, 'template');
      const { labels = {}, annotations } = objectIn(template, 'metadata');
      const metadata = pick({ labels, annotations: ofGroups(fieldsOf(annotations)) }, ['labels', 'annotations']);
      return { template: { ...pick({ metadata }, ['metadata']), spec: pick(objectIn(template, 'spec'), TEMPLATE) } };
    }
    default:
      return {};
  }
}

function metadataOf({ metadata }: KubernetesObject): JsonObject {
  const annotations = ofGroups(withoutDrains(metadata.annotations ?? {}));
  const owners = (metadata.ownerReferences ?? []).map(({ apiVersion, kind, name, uid, controller }) => ({
    apiVersion,
    kind,
    name,
    uid,
    ...(controller !== undefined && { controller }),
  }));
  return {
    ...pick(
      { ...metadata, labels: { ...metadata.labels }, finalizers: metadata.finalizers, ownerReferences: [] },
      METADATA,
    ),
    ...pick({ annotations }, ['annotations']),
    ...(owners.length > 0 && { ownerReferences: owners }),
  };
}

const ofGroups = (annotations: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(annotations).filter(([key]) => ANNOTATION_GROUPS.test(key)));

/**
 * A drain's record is not in the cluster. So one under way begins again, with the request that stands on the Node; one that was answered is
 * over, and would begin again if its request stayed.
 */
function withoutDrains(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { drainRequested, drainAnswer, drainUnderWay, watchPods } = ANNOTATIONS;
  const requested = annotations[drainRequested];
  const isAnswered =
    requested !== undefined && annotations[drainAnswer]?.includes(JSON.stringify(requested.trim())) === true;
  const left = new Set<string>([drainAnswer, drainUnderWay, watchPods, ...(isAnswered ? [drainRequested] : [])]);
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !left.has(key)));
}

/** Kubernetes gives every pod two of its own; nothing here reads them. */
function isOfSomebody({ key }: JsonObject): boolean {
  return !(typeof key === 'string' && key.startsWith('node.kubernetes.io/'));
}

function withoutEmpty(field: string, entries: readonly JsonObject[]): JsonObject {
  return entries.length === 0 ? {} : { [field]: [...entries] };
}

/** The objects of a list, each with these fields only. */
function list(value: JsonValue | undefined, fields: readonly string[]): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject).map(entry => pick(entry, fields)) : [];
}

function pick(object: JsonObject, fields: readonly string[]): JsonObject {
  const entries = fields.flatMap(field => {
    const value = object[field];
    const isEmpty = value === undefined || (isObject(value) && Object.keys(value).length === 0);
    return isEmpty ? [] : [[field, value] as const];
  });
  return Object.fromEntries(entries);
}
