/** Namespaces: which exist from the start, and when something may be created in one. */
import { objectAt, textAt } from '../json.ts';
import { metadataOf } from '../objects.ts';
import type { ServerContext, Target } from '../server-context.ts';
import { resourceOf } from '../server-context.ts';
import { forbidden, notFound } from '../status-errors.ts';
import { CLUSTER } from '../store/collection.ts';

export const NAMESPACES = { group: '', name: 'namespaces' };

/** Namespaces that exist from the start. */
export const INITIAL_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

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
