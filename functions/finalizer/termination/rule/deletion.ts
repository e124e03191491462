/** The deletion of NodeClaim and Nodes that follow the one that was deleted (I1, I2). Pure. */
import { KARPENTER_FINALIZER, type TerminationSettings } from '../../../../shared/domain/termination.ts';
import type { TerminatedClaim, TerminatedObject } from './objects.ts';

export interface DeletionObservation {
  readonly claim: TerminatedClaim | undefined;
  /** The Nodes that go with it. */
  readonly nodes: readonly TerminatedObject[];
  /** Another NodeClaim has the instance, too. */
  readonly isShared: boolean;
  /** The names of our finalizer on these objects. */
  readonly finalizerNames: readonly string[];
  readonly settings: Pick<TerminationSettings, 'scope' | 'finalizerName'> | undefined;
}

export type NextDeletion =
  | { readonly kind: 'done' }
  | { readonly kind: 'delete'; readonly object: TerminatedObject }
  /** The Node gets our finalizer first: without one it would be gone with its pods before anybody drains it. */
  | { readonly kind: 'addFinalizer'; readonly object: TerminatedObject; readonly finalizerName: string };

/** The next deletion of NodeClaim and Nodes, which follow the one that was deleted, one at a time. */
export function nextDeletion(observation: DeletionObservation): NextDeletion {
  const { claim, nodes, isShared, finalizerNames } = observation;
  const isOurs = ({ finalizers }: TerminatedObject): boolean => finalizers.some(name => finalizerNames.includes(name));
  if (claim === undefined || isShared) return { kind: 'done' };
  if (claim.deletionTime === undefined) {
    const hasFinalizer = isOurs(claim) || claim.finalizers.includes(KARPENTER_FINALIZER);
    return hasFinalizer ? { kind: 'delete', object: claim } : { kind: 'done' };
  }
  const node = nodes.find(({ deletionTime }) => deletionTime === undefined);
  if (node === undefined) return { kind: 'done' };
  const finalizerName = isOurs(node) ? undefined : finalizerToAdd(observation, node, claim);
  return finalizerName === undefined
    ? { kind: 'delete', object: node }
    : { kind: 'addFinalizer', object: node, finalizerName };
}

/**
 * The finalizer for a Node that is to be deleted: the one in force. Where nothing asks for it any more, it is the one that still keeps the
 * NodeClaim, for a deletion runs our steps then too (I1, I2). A Node that Karpenter's keeps does not go before it is drained.
 */
function finalizerToAdd(
  { settings, finalizerNames }: DeletionObservation,
  node: TerminatedObject,
  claim: TerminatedObject,
): string | undefined {
  if (settings !== undefined && settings.scope !== 'None') return settings.finalizerName;
  if (node.finalizers.includes(KARPENTER_FINALIZER)) return undefined;
  return claim.finalizers.find(name => finalizerNames.includes(name));
}
