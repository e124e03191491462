/** Permissions that somebody takes for unused. */
import type { Mutant } from './mutant.ts';
import {
  PERMISSIONS,
  type KubernetesVerb,
  type Component,
  type Permissions,
} from '../../shared/contract/permissions.ts';
import { RESOURCES, type KnownKind } from '../../shared/contract/resources.ts';
import type { Mutation } from '../../simulator/swarm/seed.ts';

/** The table without one verb on one kind. */
function without(part: Component, verb: KubernetesVerb, kind: KnownKind): Mutation {
  const { group, resource } = RESOURCES[kind];
  const row: Permissions = PERMISSIONS[part];
  const kubernetes = row.kubernetes.map(grant =>
    grant.group === group && grant.resource === resource
      ? { ...grant, verbs: grant.verbs.filter(granted => granted !== verb) }
      : grant,
  );
  return { permissions: { [part]: { ...row, kubernetes } } };
}

export const PERMISSION_MUTANTS: readonly Mutant[] = [
  {
    name: 'repair-without-get-nodeclaims',
    mistake: 'may not read the NodeClaim whose annotation it must take back',
    breaks: ['I8'],
    seed: 9,
    mutation: without('repair', 'get', 'NodeClaim'),
  },
];
