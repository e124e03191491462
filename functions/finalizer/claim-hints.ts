/**
 * Which NodeClaim has a providerID, as last seen. The API server cannot select by status, and listing all NodeClaims for each event of a
 * Node without an owner would cost n² in a cluster of n Nodes. This is a hint: the reader checks it against the live NodeClaim, and lists
 * all of them if the providerID differs or the Node is being deleted.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { providerIDOf } from './objects.ts';

export interface ClaimHints {
  /** Its name; undefined: none was seen, or several. */
  nameOf(providerID: string): string | undefined;
  seen(claim: KubernetesObject): void;
  /** All that there are. */
  seenAll(claims: readonly KubernetesObject[]): void;
}

/** An environment that lives long forgets everything now and then; it costs one list. */
const KEPT_MAX = 50_000;

export function createClaimHints(): ClaimHints {
  const namesOf = new Map<string, Set<string>>();
  const hints: ClaimHints = {
    nameOf(providerID) {
      const [name, ...others] = namesOf.get(providerID) ?? [];
      return others.length === 0 ? name : undefined;
    },
    seen(claim) {
      const providerID = providerIDOf(claim);
      if (providerID === undefined) return;
      if (namesOf.size >= KEPT_MAX) namesOf.clear();
      namesOf.set(providerID, (namesOf.get(providerID) ?? new Set()).add(claim.metadata.name));
    },
    seenAll(claims) {
      namesOf.clear();
      for (const claim of claims) hints.seen(claim);
    },
  };
  return hints;
}
