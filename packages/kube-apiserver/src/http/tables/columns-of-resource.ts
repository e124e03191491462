/** Which columns the table of a resource has. */
import type { ResourceInfo } from '../../types.ts';
import * as admission from './admission.ts';
import type { Column } from './columns.ts';
import { customColumns } from './custom-columns.ts';
import { eventColumns } from './event.ts';
import * as data from './namespaced-data.ts';
import * as node from './node.ts';
import * as pod from './pod.ts';
import * as storage from './storage.ts';
import * as workload from './workload.ts';

/** By `resource.group`, `resource` alone for the core group. Versions of a group print alike. */
const builtIn: ReadonlyMap<string, readonly Column[]> = new Map([
  ['nodes', node.nodeColumns],
  ['pods', pod.podColumns],
  ['events', eventColumns],
  ['events.events.k8s.io', eventColumns],
  ['namespaces', data.namespaceColumns],
  ['configmaps', data.configMapColumns],
  ['secrets', data.secretColumns],
  ['services', data.serviceColumns],
  ['serviceaccounts', data.plainColumns],
  ['replicationcontrollers', workload.replicationControllerColumns],
  ['persistentvolumes', storage.persistentVolumeColumns],
  ['persistentvolumeclaims', storage.persistentVolumeClaimColumns],
  ['poddisruptionbudgets.policy', pod.podDisruptionBudgetColumns],
  ['leases.coordination.k8s.io', node.leaseColumns],
  ['priorityclasses.scheduling.k8s.io', node.priorityClassColumns],
  ['deployments.apps', workload.deploymentColumns],
  ['replicasets.apps', workload.replicaSetColumns],
  ['statefulsets.apps', workload.statefulSetColumns],
  ['daemonsets.apps', workload.daemonSetColumns],
  ['jobs.batch', workload.jobColumns],
  ['cronjobs.batch', workload.cronJobColumns],
  ['storageclasses.storage.k8s.io', storage.storageClassColumns],
  ['volumeattachments.storage.k8s.io', storage.volumeAttachmentColumns],
  ['csinodes.storage.k8s.io', node.csiNodeColumns],
  ['roles.rbac.authorization.k8s.io', data.createdAtColumns],
  ['clusterroles.rbac.authorization.k8s.io', data.createdAtColumns],
  ['rolebindings.rbac.authorization.k8s.io', data.roleBindingColumns],
  ['clusterrolebindings.rbac.authorization.k8s.io', data.roleBindingColumns],
  ['validatingadmissionpolicies.admissionregistration.k8s.io', admission.validatingPolicyColumns],
  ['validatingadmissionpolicybindings.admissionregistration.k8s.io', admission.policyBindingColumns],
  ['mutatingadmissionpolicies.admissionregistration.k8s.io', admission.mutatingPolicyColumns],
  ['mutatingadmissionpolicybindings.admissionregistration.k8s.io', admission.policyBindingColumns],
  ['customresourcedefinitions.apiextensions.k8s.io', data.createdAtColumns],
]);

const custom = new WeakMap<ResourceInfo, readonly Column[]>();

/** The columns of a resource. A built-in kind that is not listed prints its name and when it was created. */
export function columnsOf(resource: ResourceInfo): readonly Column[] {
  const known = builtIn.get(resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`);
  if (known !== undefined) return known;
  if (resource.schema === undefined) return data.createdAtColumns;
  const cached = custom.get(resource);
  if (cached !== undefined) return cached;
  const columns = customColumns(resource.printerColumns);
  custom.set(resource, columns);
  return columns;
}
