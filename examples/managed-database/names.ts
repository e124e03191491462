/** What controller, clean-up and manifests have in common. */
import type { ResourceType } from '../../shared/domain/kubernetes-object.ts';

export const MANAGED_DATABASES: ResourceType = {
  group: 'database.example.com',
  version: 'v1',
  resource: 'manageddatabases',
};
/** As in `manifests/rule.yaml`. */
export const FINALIZER = 'database.example.com/finalizer';
export const CLEANUP_FUNCTION = 'managed-database-cleanup';
/** As in `manifests/rbac.yaml`. */
export const CONTROLLER_USER = 'system:serviceaccount:databases:managed-database';
