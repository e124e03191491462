/**
 * Policies as they are in force for terminations: one that cannot be read goes on as it was when it could be. An answer of its own, told from
 * what was stored: the function has certainly seen what stood undisturbed for as long as I5 allows.
 */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { LONGEST_DELAY, type PoliciesInForce } from './invariant.ts';
import type { Mirror } from './mirror.ts';
import { isTerminationReadable } from './termination-oracle.ts';

interface Known {
  /** The last version that can be read, since when it stands; undefined: it has not been seen for long enough to be known. */
  readonly good: KubernetesObject | undefined;
  readonly since: number;
  readonly isStanding: boolean;
}

export function createPoliciesInForce(
  mirror: Pick<Mirror, 'follow'>,
  now: () => number,
  quietSince: () => number | undefined,
): PoliciesInForce {
  const known = new Map<string, Known>();
  /** Whether the function has certainly seen the version by now. */
  const isSeen = ({ since }: Known): boolean => Math.max(since, quietSince() ?? Infinity) + LONGEST_DELAY <= now();
  mirror.follow((resource, uid, object) => {
    if (resource !== 'nodelifecyclepolicies') return;
    if (object === undefined) return void known.delete(uid);
    const before = known.get(uid);
    if (isTerminationReadable(object)) {
      const isSame = before?.isStanding === true && before.good?.metadata.generation === object.metadata.generation;
      if (!isSame) known.set(uid, { good: object, since: now(), isStanding: true });
    } else if (before?.isStanding === true) {
      known.set(uid, { good: isSeen(before) ? before.good : undefined, since: now(), isStanding: false });
    }
  });
  return policies =>
    policies.map(policy => {
      const good = isTerminationReadable(policy) ? undefined : known.get(policy.metadata.uid);
      return good?.good === undefined || good.isStanding ? policy : { ...policy, spec: good.good.spec ?? {} };
    });
}
