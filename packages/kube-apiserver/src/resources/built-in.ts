/** The built-in resources, as kube-apiserver 1.36 announces and treats them. */
import { apiVersionOf } from '../kubernetes-object.ts';
import type { JsonObject } from '../json.ts';
import type { NameRule } from '../names.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { ResourceInfo } from '../types.ts';
import { builtInFields } from './selectable-fields.ts';
import { builtInMergeSchema } from './built-in-merge-schemas.ts';
import { cleanBuiltIn } from './built-in-body.ts';
import { kindRules } from './kind-rules.ts';
import { VERBS } from './verbs.ts';
import type { ResourceRules, ServedResource } from './resource-rules.ts';

/** What sets a resource apart from the most common shape: namespaced, with a status, DNS subdomain names. */
interface Traits {
  readonly short?: readonly string[];
  readonly categories?: readonly string[];
  readonly cluster?: true;
  readonly noStatus?: true;
  readonly counted?: true;
  readonly createOnUpdate?: true;
  readonly lockedUpdate?: true;
  readonly nameRule?: NameRule;
  readonly subresources?: readonly string[];
  readonly keepsStatusOnCreate?: true;
  readonly statusWriteKeeps?: readonly string[];
  readonly noDeleteCollection?: true;
}

type Row = readonly [groupVersion: string, kind: string, resource: string, traits: Traits];

const ALL = ['all'];
const RBAC = 'rbac.authorization.k8s.io/v1';
const ADMISSION = 'admissionregistration.k8s.io/v1';
const OWNED_BY_USERS = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

const ROWS: readonly Row[] = [
  ['v1', 'ConfigMap', 'configmaps', { short: ['cm'], noStatus: true }],
  ['v1', 'Event', 'events', { short: ['ev'], noStatus: true, createOnUpdate: true }],
  ['v1', 'Namespace', 'namespaces', { short: ['ns'], cluster: true, nameRule: 'label', noDeleteCollection: true }],
  ['v1', 'Node', 'nodes', { short: ['no'], cluster: true, keepsStatusOnCreate: true }],
  ['v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', { short: ['pvc'] }],
  ['v1', 'PersistentVolume', 'persistentvolumes', { short: ['pv'], cluster: true }],
  [
    'v1',
    'Pod',
    'pods',
    {
      short: ['po'],
      categories: ALL,
      counted: true,
      subresources: ['eviction'],
      statusWriteKeeps: ['ownerReferences'],
    },
  ],
  ['v1', 'ReplicationController', 'replicationcontrollers', { short: ['rc'], categories: ALL, counted: true }],
  ['v1', 'Secret', 'secrets', { noStatus: true }],
  ['v1', 'ServiceAccount', 'serviceaccounts', { short: ['sa'], noStatus: true }],
  ['v1', 'Service', 'services', { short: ['svc'], categories: ALL, createOnUpdate: true, nameRule: 'label' }],
  ['apps/v1', 'DaemonSet', 'daemonsets', { short: ['ds'], categories: ALL, counted: true }],
  [
    'apps/v1',
    'Deployment',
    'deployments',
    { short: ['deploy'], categories: ALL, counted: true, statusWriteKeeps: ['labels'] },
  ],
  ['apps/v1', 'ReplicaSet', 'replicasets', { short: ['rs'], categories: ALL, counted: true }],
  ['apps/v1', 'StatefulSet', 'statefulsets', { short: ['sts'], categories: ALL, counted: true }],
  ['batch/v1', 'CronJob', 'cronjobs', { short: ['cj'], categories: ALL, counted: true }],
  ['batch/v1', 'Job', 'jobs', { categories: ALL, counted: true }],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', { short: ['pdb'], counted: true, lockedUpdate: true }],
  [
    'storage.k8s.io/v1',
    'VolumeAttachment',
    'volumeattachments',
    { cluster: true, lockedUpdate: true, statusWriteKeeps: OWNED_BY_USERS },
  ],
  ['storage.k8s.io/v1', 'StorageClass', 'storageclasses', { short: ['sc'], cluster: true, noStatus: true }],
  ['storage.k8s.io/v1', 'CSINode', 'csinodes', { cluster: true, noStatus: true, lockedUpdate: true }],
  ['coordination.k8s.io/v1', 'Lease', 'leases', { noStatus: true, createOnUpdate: true, lockedUpdate: true }],
  [RBAC, 'Role', 'roles', { noStatus: true, createOnUpdate: true, nameRule: 'path-segment' }],
  [RBAC, 'RoleBinding', 'rolebindings', { noStatus: true, createOnUpdate: true, nameRule: 'path-segment' }],
  [
    RBAC,
    'ClusterRole',
    'clusterroles',
    { cluster: true, noStatus: true, createOnUpdate: true, nameRule: 'path-segment' },
  ],
  [
    RBAC,
    'ClusterRoleBinding',
    'clusterrolebindings',
    { cluster: true, noStatus: true, createOnUpdate: true, nameRule: 'path-segment' },
  ],
  [
    'scheduling.k8s.io/v1',
    'PriorityClass',
    'priorityclasses',
    { short: ['pc'], cluster: true, noStatus: true, counted: true },
  ],
  [
    ADMISSION,
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
    {
      categories: ['api-extensions'],
      cluster: true,
      counted: true,
      lockedUpdate: true,
      statusWriteKeeps: OWNED_BY_USERS,
    },
  ],
  [
    ADMISSION,
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
    { categories: ['api-extensions'], cluster: true, noStatus: true, counted: true, lockedUpdate: true },
  ],
  [
    ADMISSION,
    'MutatingAdmissionPolicy',
    'mutatingadmissionpolicies',
    { categories: ['api-extensions'], cluster: true, noStatus: true, counted: true, lockedUpdate: true },
  ],
  [
    ADMISSION,
    'MutatingAdmissionPolicyBinding',
    'mutatingadmissionpolicybindings',
    { categories: ['api-extensions'], cluster: true, noStatus: true, counted: true, lockedUpdate: true },
  ],
  [
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
    { short: ['crd', 'crds'], categories: ['api-extensions'], cluster: true, counted: true, lockedUpdate: true },
  ],
];

/** Fields that Go always writes: nobody sets them by creating an object. */
const BLANK: JsonObject = { spec: {}, status: {} };
const BLANK_POD: JsonObject = { spec: { containers: null }, status: {} };

/** Kinds whose deletion answers with the object. */
const RETURNED_WHEN_DELETED = new Set([
  'CSINode',
  'Namespace',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Pod',
  'Service',
  'ServiceAccount',
  'StorageClass',
  'VolumeAttachment',
]);

/**
 * All built-in resources with empty storages.
 * @param more further rules of a kind, for kinds that change the server itself
 */
export function builtInResources(store: ObjectStore, more: (kind: string) => Partial<ResourceRules>): ServedResource[] {
  return ROWS.map(([groupVersion, kind, resource, traits]) => {
    const slash = groupVersion.indexOf('/');
    const group = slash < 0 ? '' : groupVersion.slice(0, slash);
    const info = infoOf({ group, version: groupVersion.slice(slash + 1), resource }, kind, traits);
    return {
      info,
      apiVersion: apiVersionOf(info),
      rules: { ...rulesOf(info, traits), ...more(kind) },
      storage: store.newStorage(),
    };
  });
}

function infoOf(
  type: { group: string; version: string; resource: string },
  kind: string,
  traits: Traits,
): ResourceInfo {
  const hasStatus = traits.noStatus !== true;
  return {
    ...type,
    kind,
    listKind: `${kind}List`,
    singular: kind.toLowerCase(),
    shortNames: traits.short ?? [],
    categories: traits.categories ?? [],
    namespaced: traits.cluster !== true,
    hasStatus,
    verbs: traits.noDeleteCollection === true ? VERBS.filter(verb => verb !== 'deletecollection') : VERBS,
    subresources: [...(traits.subresources ?? []), ...(hasStatus ? ['status'] : [])],
  };
}

function rulesOf(info: ResourceInfo, traits: Traits): ResourceRules {
  return {
    nameRule: traits.nameRule ?? 'subdomain',
    counted: traits.counted === true,
    createOnUpdate: traits.createOnUpdate === true,
    unconditionalUpdate: traits.lockedUpdate !== true,
    keepsStatusOnCreate: traits.keepsStatusOnCreate === true,
    statusWriteKeeps: traits.statusWriteKeeps ?? [],
    qualifiedFinalizers: true,
    returnsDeleted: RETURNED_WHEN_DELETED.has(info.kind),
    graceful: info.kind === 'Pod',
    strategicMerge: true,
    mergeSchema: builtInMergeSchema(info.kind),
    fields: builtInFields(info.resource, info.namespaced),
    clean: cleanBuiltIn,
    blank: info.kind === 'Pod' ? BLANK_POD : BLANK,
    ...kindRules(info.kind),
  };
}
