/** Protections by policies as they are in force: of one that cannot be read the last version that could be. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext } from './invariant.ts';
import { followReadable, type Followed } from './last-readable.ts';
import { isProtectionReadable, protectionEnd, type ProtectionFacts } from './protection-oracle.ts';
import { dig, isFrameReadable } from './reading.ts';

/** What is in force where a policy cannot be read. */
export type ProtectionInForce = (facts: ProtectionFacts) => ProtectionFacts;

export const isReadable = (policy: KubernetesObject): boolean => {
  const block = dig(policy, 'spec', 'protection');
  return isFrameReadable(policy) && (block === undefined || isProtectionReadable(block));
};

/** One that only observes, and of which no version could be read, neither shortens nor lengthens. */
const isMeant = (policy: KubernetesObject): boolean => isReadable(policy) || dig(policy, 'spec', 'mode') !== 'Observe';

/** Follows the policies from now on. `isForgotten`: the table that had the last version of one may be lost. */
export function protectionInForce(followed: Followed & Pick<CheckContext, 'memoryOf'>): {
  readonly inForce: ProtectionInForce;
  readonly isForgotten: (facts: ProtectionFacts) => boolean;
} {
  const { versions, unreadableSince } = followReadable(followed, isReadable);
  return {
    inForce: facts => ({
      ...facts,
      policies: facts.policies.map(policy => versions(policy).at(-1) ?? policy).filter(isMeant),
    }),
    isForgotten: ({ policies }) =>
      policies.some(policy => {
        const since = unreadableSince(policy);
        return since !== undefined && followed.memoryOf(since) !== 'whole';
      }),
  };
}

/** Until when the pod is protected: by the rules as they stand, or by those that were readable last, whichever ends first. */
export function protectionEndOf(
  pod: KubernetesObject,
  facts: ProtectionFacts,
  inForce: ProtectionInForce,
): number | undefined {
  const [one, other] = [protectionEnd(pod, facts), protectionEnd(pod, inForce(facts))];
  return one === undefined || other === undefined ? undefined : Math.min(one, other);
}
