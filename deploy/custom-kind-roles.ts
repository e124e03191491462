/** The RBAC manifests that a user applies for kinds of theirs (`curfew rbac`). */
import {
  kubernetesGroupOf,
  permissionsOnHookKind,
  permissionsOnFinalizerRuleKind,
} from '../shared/contract/permissions.ts';
import { clusterRole, documents, FORWARDER_SUBJECT, groupSubject } from './manifests.ts';

/** What names kinds: FinalizerRules, or the hooks of terminations that are custom resources. */
export type KindUse = 'finalizerrules' | 'hooks';

const PERMISSIONS_ON = { finalizerrules: permissionsOnFinalizerRuleKind, hooks: permissionsOnHookKind } as const;

/** One ClusterRole with its binding for the forwarder, one for the finalizer function. */
export function kindManifests(
  use: KindUse,
  types: readonly { readonly group: string; readonly resource: string }[],
): string {
  const grantsOf = (part: 'forwarder' | 'finalizer') => types.flatMap(type => PERMISSIONS_ON[use](part, type));
  return documents([
    ...clusterRole(`curfew-forwarder-${use}`, grantsOf('forwarder'), FORWARDER_SUBJECT),
    ...clusterRole(`curfew-finalizer-${use}`, grantsOf('finalizer'), groupSubject(kubernetesGroupOf('finalizer'))),
  ]);
}
