/** `kubectl get` of namespaces, configmaps, secrets, service accounts, services, endpoints and RBAC objects. */
import type { KubernetesObject } from '../../kubernetes-object.ts';
import { listAt, numberAt, objectAt, textAt } from '../json-fields.ts';
import { ageColumn, column, nameColumn, orNone, pairsOf, wide, type Column } from './columns.ts';

function entries(object: KubernetesObject, ...fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + Object.keys(objectAt(object, field)).length, 0);
}

export const namespaceColumns: readonly Column[] = [
  nameColumn,
  column('Status', 'Phase of the namespace.', object => textAt(object.status, 'phase')),
  ageColumn,
];

export const configMapColumns: readonly Column[] = [
  nameColumn,
  column('Data', 'Number of keys.', object => entries(object, 'data', 'binaryData'), 'string'),
  ageColumn,
];

export const secretColumns: readonly Column[] = [
  nameColumn,
  column('Type', 'What the secret is for.', object => textAt(object, 'type')),
  column('Data', 'Number of keys.', object => entries(object, 'data'), 'string'),
  ageColumn,
];

function externalAddresses(service: KubernetesObject): string {
  if (textAt(service.spec, 'type') === 'ExternalName') return textAt(service.spec, 'externalName');
  const balancers = listAt(service.status, 'loadBalancer', 'ingress').map(
    each => textAt(each, 'ip') || textAt(each, 'hostname'),
  );
  const addresses = [...balancers, ...listAt(service.spec, 'externalIPs').map(String)];
  if (addresses.length > 0) return addresses.join(',');
  return textAt(service.spec, 'type') === 'LoadBalancer' ? '<pending>' : '<none>';
}

function servicePorts(service: KubernetesObject): string {
  const ports = listAt(service.spec, 'ports').map(port => {
    const nodePort = numberAt(port, 'nodePort');
    const protocol = textAt(port, 'protocol') || 'TCP';
    return `${numberAt(port, 'port')}${nodePort === 0 ? '' : `:${nodePort}`}/${protocol}`;
  });
  return orNone(ports.join(','));
}

export const serviceColumns: readonly Column[] = [
  nameColumn,
  column('Type', 'How the service is reached.', service => textAt(service.spec, 'type') || 'ClusterIP'),
  column('Cluster-IP', 'Address inside the cluster.', service => orNone(textAt(service.spec, 'clusterIP'))),
  column('External-IP', 'Addresses outside the cluster.', externalAddresses),
  column('Port(s)', 'Ports and protocols.', servicePorts),
  ageColumn,
  wide('Selector', 'Selector of the pods.', service => pairsOf(objectAt(service.spec, 'selector'))),
];

function subjects(binding: KubernetesObject, kind: string): string {
  return listAt(binding, 'subjects')
    .filter(subject => textAt(subject, 'kind') === kind)
    .map(subject =>
      kind === 'ServiceAccount'
        ? `${textAt(subject, 'namespace')}/${textAt(subject, 'name')}`
        : textAt(subject, 'name'),
    )
    .join(', ');
}

/** RoleBindings and ClusterRoleBindings. */
export const roleBindingColumns: readonly Column[] = [
  nameColumn,
  column(
    'Role',
    'Role that is granted.',
    binding => `${textAt(binding, 'roleRef', 'kind')}/${textAt(binding, 'roleRef', 'name')}`,
  ),
  ageColumn,
  wide('Users', 'Users it is granted to.', binding => subjects(binding, 'User')),
  wide('Groups', 'Groups it is granted to.', binding => subjects(binding, 'Group')),
  wide('ServiceAccounts', 'Service accounts it is granted to.', binding => subjects(binding, 'ServiceAccount')),
];

/** Tables whose second column is the time of creation itself, as kube-apiserver prints kinds without a printer. */
export const createdAtColumns: readonly Column[] = [
  nameColumn,
  column('Created At', 'When the object was created.', object => object.metadata.creationTimestamp, 'date'),
];

/** Kinds that show nothing but their name and age. */
export const plainColumns: readonly Column[] = [nameColumn, ageColumn];
