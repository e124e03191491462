/** Until when a termination may take, read apart from the rule that is watched. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { Mirror } from './mirror.ts';
import { annotationOf, dig, instantOf, millisecondsOf, textOf, TERMINATION_TIMESTAMP } from './reading.ts';
import { poolNameOf } from './repair-oracle.ts';

export const providerIDOf = (object: KubernetesObject): string | undefined =>
  textOf(dig(object, 'spec', 'providerID')) ?? textOf(dig(object, 'status', 'providerID'));

/** Epoch milliseconds: what was declared, else the deletion and the period of NodeClaim, NodePool or the shortest of any policy. */
export function deadlineOf(object: KubernetesObject, mirror: Mirror): number | undefined {
  const providerID = providerIDOf(object);
  const claim =
    object.kind === 'NodeClaim'
      ? object
      : [...mirror.all('nodeclaims').values()].find(other => providerIDOf(other) === providerID);
  const declared = claim && instantOf(annotationOf(claim, TERMINATION_TIMESTAMP));
  if (declared !== undefined) return declared;
  const deletion = instantOf(claim?.metadata.deletionTimestamp ?? object.metadata.deletionTimestamp);
  const poolName = poolNameOf(claim ?? object);
  const pool = [...mirror.all('nodepools').values()].find(({ metadata }) => metadata.name === poolName);
  const ofPool = dig(pool, 'spec', 'disruption', 'terminationGracePeriodSeconds');
  const ofPolicies = [...mirror.all('nodelifecyclepolicies').values()].flatMap(
    policy => millisecondsOf(dig(policy, 'spec', 'termination', 'terminationGracePeriod')) ?? [],
  );
  const period =
    millisecondsOf(dig(claim, 'spec', 'terminationGracePeriod')) ??
    (typeof ofPool === 'number' ? ofPool * 1000 : undefined) ??
    (ofPolicies.length > 0 ? Math.min(...ofPolicies) : undefined);
  return deletion === undefined || period === undefined ? undefined : deletion + period;
}
