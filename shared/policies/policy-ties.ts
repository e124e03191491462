/** Two policies with equally many requirements: the first by name wins, and the other one's author is told. Pure. */
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import { specificity } from '../domain/label-selector.ts';
import type { PolicySet } from './policy-set.ts';

/** Says which policy comes before `object` where both select a NodePool and have this block; undefined when none does. */
export function tieOf(
  object: KubernetesObject,
  block: 'repair' | 'protection',
  { policies }: PolicySet,
): string | undefined {
  const holders = policies.filter(policy => policy.object.spec?.[block] !== undefined);
  const own = holders.find(policy => policy.object.metadata.uid === object.metadata.uid);
  if (own === undefined) return undefined;
  const winner = holders.find(policy => specificity(policy.selector) === specificity(own.selector));
  if (winner === undefined || winner === own) return undefined;
  return `NodeLifecyclePolicy ${winner.object.metadata.name} has equally many requirements and comes first by name: where both select a NodePool, spec.${block} of this one has no effect`;
}
