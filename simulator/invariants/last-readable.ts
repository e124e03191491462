/**
 * Policies as they are in force: one that cannot be read goes on as it was when it could be. An answer of its own, told from
 * what was stored: a function has certainly seen what stood undisturbed for as long as I5 allows.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { LONGEST_DELAY, type CheckContext, type PoliciesInForce } from './invariant.ts';
import type { Mirror } from './mirror.ts';

/** The versions of which one is in force: the policy itself where it can be read. */
export type VersionsInForce = (policy: KubernetesObject) => readonly KubernetesObject[];

interface Known {
  /** Those that can be read, from the last one on that was certainly seen. */
  readonly versions: readonly KubernetesObject[];
  /** One of them was certainly seen. */
  readonly isCertain: boolean;
  /** Since when the newest stands, or what replaced it. */
  readonly since: number;
  readonly isStanding: boolean;
}

interface Readable {
  readonly versions: VersionsInForce;
  readonly policiesInForce: PoliciesInForce;
  /** Since when the policy cannot be read, where it could be before; ms. */
  readonly unreadableSince: (policy: KubernetesObject) => number | undefined;
}

/** What it follows, and by which time. */
export interface Followed extends Pick<CheckContext, 'now' | 'quietSince'> {
  readonly mirror: Pick<Mirror, 'follow'>;
}

/** Follows the versions of each policy from now on. @param isReadable what of a policy matters can be read */
export function followReadable(
  { mirror, now, quietSince }: Followed,
  isReadable: (policy: KubernetesObject) => boolean,
): Readable {
  const known = new Map<string, Known>();
  /** Whether the function has certainly seen the version by now. */
  const isSeen = ({ since, isStanding }: Known): boolean =>
    isStanding && Math.max(since, quietSince() ?? Infinity) + LONGEST_DELAY <= now();
  const settled = (before: Known): Pick<Known, 'versions' | 'isCertain'> =>
    isSeen(before) ? { versions: before.versions.slice(-1), isCertain: true } : before;
  mirror.follow((resource, uid, object) => {
    // What is known of one that went stays: a run may have listed it before.
    if (resource !== 'nodelifecyclepolicies' || object === undefined) return;
    const before = known.get(uid);
    if (isReadable(object)) {
      const newest = before?.versions.at(-1)?.metadata.generation;
      if (before?.isStanding === true && newest === object.metadata.generation) return;
      const { versions, isCertain } = before === undefined ? { versions: [], isCertain: false } : settled(before);
      known.set(uid, { versions: [...versions, object], isCertain, since: now(), isStanding: true });
    } else if (before?.isStanding === true) {
      const { versions, isCertain } = settled(before);
      known.set(uid, { versions, isCertain, since: now(), isStanding: false });
    }
  });
  const knownOf = (policy: KubernetesObject): Known | undefined => {
    const found = isReadable(policy) ? undefined : known.get(policy.metadata.uid);
    return found?.isStanding === true ? undefined : found;
  };
  return {
    versions: policy => knownOf(policy)?.versions ?? [policy],
    unreadableSince: policy => knownOf(policy)?.since,
    policiesInForce: policies =>
      policies.map(policy => {
        const { versions: [only, ...others] = [], isCertain = false } = knownOf(policy) ?? {};
        const isKnown = isCertain && others.length === 0;
        return only === undefined || !isKnown ? policy : { ...policy, spec: only.spec ?? {} };
      }),
  };
}
