/** The RBAC manifests that a user applies for the kinds of FinalizerRules (`curfew rbac finalizerrules`). */
import { kubernetesGroupOf, permissionsOnRuleKind } from '../shared/contract/permissions.ts';
import { clusterRole, documents, FORWARDER_SUBJECT, groupSubject } from './manifests.ts';

/** One ClusterRole with its binding for the forwarder, one for the finalizer function. */
export function ruleKindManifests(types: readonly { readonly group: string; readonly resource: string }[]): string {
  const grantsOf = (part: 'forwarder' | 'finalizer') => types.flatMap(type => permissionsOnRuleKind(part, type));
  return documents([
    ...clusterRole('curfew-forwarder-finalizerrules', grantsOf('forwarder'), FORWARDER_SUBJECT),
    ...clusterRole(
      'curfew-finalizer-finalizerrules',
      grantsOf('finalizer'),
      groupSubject(kubernetesGroupOf('finalizer')),
    ),
  ]);
}
