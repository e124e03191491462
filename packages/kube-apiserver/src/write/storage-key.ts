/** Where kube-apiserver keeps an object in etcd: some refusals quote it. */
import type { Target } from '../server-context.ts';

const RENAMED: Readonly<Record<string, string>> = {
  nodes: 'minions',
  services: 'services/specs',
  replicationcontrollers: 'controllers',
};

/** `/registry/FOLDER/NAMESPACE/NAME`, where the folder of some built-in resources is an older name. */
export function storageKey({ served, namespace, name }: Target): string {
  const { group, resource, schema } = served.info;
  const folder = schema === undefined ? (RENAMED[resource] ?? resource) : `${group}/${resource}`;
  return ['', 'registry', folder, ...(namespace === '' ? [] : [namespace]), name].join('/');
}
