/**
 * Cache of the NodeClaims by providerID, as last seen. The API server cannot select by status, and listing all NodeClaims for each event of a
 * Node without an owner would cost n² in a cluster of n Nodes. The reader checks a hint against the live NodeClaim, and lists all of them if the
 * providerID differs or the Node is being deleted. That a Node has none holds for a few minutes: while it lives, it is given the same finalizer
 * either way, and a new NodeClaim comes in an event of its own.
 */
import { providerIDOf } from '../common/instances.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { addDuration, isDue, minutes, type EpochMs } from '../../../shared/domain/time.ts';

export interface ClaimCache {
  /** Name of the NodeClaim; undefined: none was seen, or several. */
  nameOf(providerID: string): string | undefined;
  /** Whether a list that is not old had none, and none was seen since. */
  hasNoClaim(providerID: string, now: EpochMs): boolean;
  note(claim: KubernetesObject): void;
  /** Notes all NodeClaims that there are. */
  rememberAll(claims: readonly KubernetesObject[], now: EpochMs): void;
}

/** Most providerIDs that are kept: an environment that lives long forgets everything now and then; it costs one list. */
const KEPT_MAX = 50_000;
const LIST_IS_OLD_AFTER = minutes(5);

/** Cache of one process: it forgets everything above `KEPT_MAX` providerIDs, and takes no absence for true until the next list. */
export function createClaimCache(): ClaimCache {
  const namesOf = new Map<string, Set<string>>();
  let listTime: EpochMs | undefined;
  const claimCache: ClaimCache = {
    nameOf(providerID) {
      const [name, ...others] = namesOf.get(providerID) ?? [];
      return others.length === 0 ? name : undefined;
    },
    hasNoClaim: (providerID, now) =>
      listTime !== undefined && !isDue(now, addDuration(listTime, LIST_IS_OLD_AFTER)) && !namesOf.has(providerID),
    note(claim) {
      const providerID = providerIDOf(claim);
      if (providerID === undefined) return;
      if (namesOf.size >= KEPT_MAX) {
        namesOf.clear();
        listTime = undefined;
      }
      namesOf.set(providerID, (namesOf.get(providerID) ?? new Set()).add(claim.metadata.name));
    },
    rememberAll(claims, now) {
      namesOf.clear();
      for (const claim of claims) claimCache.note(claim);
      listTime = now;
    },
  };
  return claimCache;
}
