/** Policies with equally many requirements that can select one NodePool: the first by name wins, the others get a warning. Pure. */
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import { canBothSelect, specificity } from '../domain/label-selector.ts';
import type { PolicySet, ReadPolicy } from './policy-set.ts';

/** A policy that loses a conflict, and why. */
export interface PolicyConflict {
  readonly loser: KubernetesObject;
  readonly winner: KubernetesObject;
  readonly message: string;
}

/** Blocks of which one policy alone has the say. */
export const CONFLICT_BLOCKS = ['repair', 'drain', 'protection', 'termination'] as const;
export type ConflictBlock = (typeof CONFLICT_BLOCKS)[number];

/** All conflicts over this block: each with the first policy that comes before it. */
export function conflictsOver(block: ConflictBlock, { policies }: PolicySet): readonly PolicyConflict[] {
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

/** The conflicts that a change of this policy makes: its own, and those of the policies that it comes before. */
export function conflictsOf(object: KubernetesObject, block: ConflictBlock, set: PolicySet): readonly PolicyConflict[] {
  const { uid } = object.metadata;
  return conflictsOver(block, set).filter(
    ({ loser, winner }) => loser.metadata.uid === uid || winner.metadata.uid === uid,
  );
}
