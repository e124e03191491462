/** `kubectl get nodes`. */
import type { KubernetesObject } from '../../kubernetes-object.ts';
import { listAt, numberAt, objectAt, textAt } from '../json-fields.ts';
import { ageColumn, column, nameColumn, orNone, wide, type Column } from './columns.ts';

const rolePrefix = 'node-role.kubernetes.io/';
const roleLabel = 'kubernetes.io/role';

function statusOf(node: KubernetesObject): string {
  const ready = listAt(node.status, 'conditions').findLast(condition => textAt(condition, 'type') === 'Ready');
  const states = [ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady'];
  if (objectAt(node.spec)['unschedulable'] === true) states.push('SchedulingDisabled');
  return states.join(',');
}

function rolesOf(node: KubernetesObject): string {
  const roles = new Set<string>();
  for (const [label, value] of Object.entries(node.metadata.labels ?? {})) {
    const role = label.startsWith(rolePrefix) ? label.slice(rolePrefix.length) : label === roleLabel ? value : '';
    if (role !== '') roles.add(role);
  }
  return orNone([...roles].toSorted().join(','));
}

function addressOf(node: KubernetesObject, type: string): string {
  const address = listAt(node.status, 'addresses').find(each => textAt(each, 'type') === type);
  return orNone(textAt(address, 'address'));
}

function nodeInfo(node: KubernetesObject, field: string): string {
  return textAt(node.status, 'nodeInfo', field);
}

function kernelOf(node: KubernetesObject): string {
  const architecture = nodeInfo(node, 'architecture');
  const kernel = nodeInfo(node, 'kernelVersion') || '<unknown>';
  return architecture === '' ? kernel : `${kernel} (${architecture})`;
}

export const nodeColumns: readonly Column[] = [
  nameColumn,
  column('Status', 'Whether the node is ready and takes pods.', statusOf),
  column('Roles', 'Roles of the node.', rolesOf),
  ageColumn,
  column('Version', 'Version that the kubelet reports.', node => nodeInfo(node, 'kubeletVersion')),
  wide('Internal-IP', 'Address inside the cluster.', node => addressOf(node, 'InternalIP')),
  wide('External-IP', 'Address outside the cluster.', node => addressOf(node, 'ExternalIP')),
  wide('OS-Image', 'Operating system that the node reports.', node => nodeInfo(node, 'osImage') || '<unknown>'),
  wide('Kernel-Version', 'Kernel that the node reports.', kernelOf),
  wide(
    'Container-Runtime',
    'Container runtime and version.',
    node => nodeInfo(node, 'containerRuntimeVersion') || '<unknown>',
  ),
];

export const csiNodeColumns: readonly Column[] = [
  nameColumn,
  column('Drivers', 'Number of CSI drivers on the node.', object => listAt(object.spec, 'drivers').length, 'integer'),
  ageColumn,
];

export const leaseColumns: readonly Column[] = [
  nameColumn,
  column('Holder', 'Who holds the lease.', lease => textAt(lease.spec, 'holderIdentity')),
  ageColumn,
];

export const priorityClassColumns: readonly Column[] = [
  nameColumn,
  column('Value', 'Priority that pods of the class receive.', object => numberAt(object, 'value'), 'integer'),
  column(
    'Global-Default',
    'Whether pods without a class receive it.',
    object => object['globalDefault'] === true,
    'boolean',
  ),
  ageColumn,
  column('PreemptionPolicy', 'Whether pods of the class preempt others.', object => textAt(object, 'preemptionPolicy')),
];
