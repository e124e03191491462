/** Policies with equally many requirements that can select one NodePool: the first by name wins, the others get a warning. Pure. */
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import { canBothSelect, specificity } from '../domain/label-selector.ts';
import type { PolicySet, ReadPolicy } from './policy-set.ts';

/** A policy that loses a tie, and why. */
export interface Tie {
  readonly loser: KubernetesObject;
  readonly winner: KubernetesObject;
  readonly message: string;
}

/** Blocks of which one policy alone has the say. */
export const TIED_BLOCKS = ['repair', 'drain', 'protection', 'termination'] as const;
export type TiedBlock = (typeof TIED_BLOCKS)[number];

/** All that lose a tie over this block: each with the first policy that comes before it. */
export function tiesOver(block: TiedBlock, { policies }: PolicySet): readonly Tie[] {
  const stating = policies.filter(policy => policy.object.spec?.[block] !== undefined);
  return stating.flatMap((own, index) => {
    // A protection that is only observed takes nothing from one that is enforced.
    const isShadow = (other: ReadPolicy): boolean =>
      block === 'protection' && other.mode === 'Observe' && own.mode === 'Enforce';
    const earlierPolicy = stating
      .slice(0, index)
      .find(
        other =>
          !isShadow(other) &&
          specificity(other.selector) === specificity(own.selector) &&
          canBothSelect(other.selector, own.selector),
      );
    if (earlierPolicy === undefined) return [];
    const message = `NodeLifecyclePolicy ${earlierPolicy.object.metadata.name} has equally many requirements and comes first by name: where both select a NodePool, spec.${block} of this one has no effect`;
    return [{ loser: own.object, winner: earlierPolicy.object, message }];
  });
}

/** The ties that a change of this policy makes: its own, and those of the policies that it comes before. */
export function tiesOf(object: KubernetesObject, block: TiedBlock, set: PolicySet): readonly Tie[] {
  const { uid } = object.metadata;
  return tiesOver(block, set).filter(({ loser, winner }) => loser.metadata.uid === uid || winner.metadata.uid === uid);
}
