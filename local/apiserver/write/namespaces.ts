/** Namespaces: what may be created in them, and how they end. There is no namespace controller: deletion empties them at once. */
import { objectAt, textAt } from '../json.ts';
import { metadataOf } from '../objects.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { resourceOf } from '../server-context.ts';
import { forbidden, notFound } from '../status-errors.ts';
import { CLUSTER } from '../store/collection.ts';

export const NAMESPACES = { group: '', name: 'namespaces' };

/** Namespaces that exist from the start. */
export const INITIAL_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** Namespaces that cannot be deleted. */
export const PERMANENT_NAMESPACES: ReadonlySet<string> = new Set(['default', 'kube-public', 'kube-system']);

/**
 * Objects can be created in a namespace that exists and is not on its way out.
 * @throws ApiStatusError 404, 403
 */
export function checkNamespaceAcceptsContent(server: ServerContext, { served, namespace, name }: Target): void {
  const stored = server.registry.find('', 'namespaces')?.storage.collection.get(CLUSTER, namespace);
  if (stored === undefined) throw notFound(NAMESPACES, namespace);
  const terminating =
    textAt(objectAt(stored, 'status'), 'phase') === 'Terminating' || metadataOf(stored).deletionTimestamp !== undefined;
  if (!terminating) return;
  throw forbidden(
    resourceOf(served),
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

/** True when no resource has an object in the namespace. */
export function isEmptyNamespace(server: ServerContext, namespace: string): boolean {
  for (const { info, storage } of server.registry.preferred()) {
    if (info.namespaced && storage.collection.hasNamespace(namespace)) return false;
  }
  return true;
}
