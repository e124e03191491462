/** Until when a termination may take, read apart from the rule that is watched. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { Mirror } from './mirror.ts';
import { annotationOf, dig, instantOf, listOf, millisecondsOf, textOf, TERMINATION_TIMESTAMP } from './reading.ts';
import { poolNameOf } from './repair-oracle.ts';

export const providerIDOf = (object: KubernetesObject): string | undefined =>
  textOf(dig(object, 'spec', 'providerID')) ?? textOf(dig(object, 'status', 'providerID'));

/** What each object's deadline was when it was last known, by UID. */
const known = new WeakMap<Mirror, Map<string, number>>();

/**
 * Epoch milliseconds: what is declared now; for an object that is being deleted and whose deadline's source has gone, what it was. Asked
 * at every run, so that none is missed.
 */
export function deadlineOf(object: KubernetesObject, mirror: Mirror): number | undefined {
  const memory = known.get(mirror) ?? new Map<string, number>();
  known.set(mirror, memory);
  const current = currentDeadline(object, mirror);
  if (object.metadata.deletionTimestamp === undefined) return current;
  if (current !== undefined) memory.set(object.metadata.uid, current);
  return memory.get(object.metadata.uid);
}

/** Whether the cluster holds a NodeClaim for the object's instance, and only one: then the instance ends with it. */
export function hasOneClaim(object: KubernetesObject, mirror: Mirror): boolean {
  const providerID = providerIDOf(object);
  const others = [...mirror.all('nodeclaims').values()].filter(
    claim => providerIDOf(claim) === providerID && claim.metadata.uid !== object.metadata.uid,
  );
  // A NodeClaim counts itself, also in the write that ends it.
  return others.length === (object.kind === 'NodeClaim' ? 0 : 1);
}

/** The annotation; else the deletion and the period of NodeClaim, NodePool or the shortest of any policy, or of a hook that escalates. */
function currentDeadline(object: KubernetesObject, mirror: Mirror): number | undefined {
  const providerID = providerIDOf(object);
  const claim =
    object.kind === 'NodeClaim'
      ? object
      : [...mirror.all('nodeclaims').values()].find(
          other => providerID !== undefined && providerIDOf(other) === providerID,
        );
  const declared = claim && instantOf(annotationOf(claim, TERMINATION_TIMESTAMP));
  if (declared !== undefined) return declared;
  const deletion = instantOf(claim?.metadata.deletionTimestamp ?? object.metadata.deletionTimestamp);
  const poolName = poolNameOf(claim ?? object);
  const pool = mirror.lastPools().get(poolName ?? '');
  const ofPool = dig(pool, 'spec', 'disruption', 'terminationGracePeriodSeconds');
  const ofPolicies = [...mirror.all('nodelifecyclepolicies').values()].flatMap(
    policy => millisecondsOf(dig(policy, 'spec', 'termination', 'terminationGracePeriod')) ?? [],
  );
  const period =
    millisecondsOf(dig(claim, 'spec', 'terminationGracePeriod')) ??
    (typeof ofPool === 'number' ? ofPool * 1000 : undefined) ??
    (ofPolicies.length > 0 ? Math.min(...ofPolicies) : undefined);
  const ofHooks = [...mirror.all('nodelifecyclepolicies').values()].flatMap(policy =>
    listOf(dig(policy, 'spec', 'termination', 'hooks'))
      .filter(hook => dig(hook, 'onTimeout') === 'Escalate')
      .map(hook => millisecondsOf(dig(hook, 'heartbeat') ?? dig(hook, 'deadline') ?? '10m') ?? 0),
  );
  const least = Math.min(period ?? Infinity, ...ofHooks);
  return deletion === undefined || least === Infinity ? undefined : deletion + least;
}
