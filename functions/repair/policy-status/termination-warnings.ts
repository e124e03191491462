/**
 * What of a policy's `termination` block cannot do what its author expects, because Karpenter's finalizer is on NodeClaims of its pools:
 * Karpenter drains these and ends their instances by itself. Pure.
 */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { parseTerminationBlock } from '../../../shared/contract/termination-schema.ts';
import { HOOKS_HOLD_NOTHING, idleHooks } from '../../../shared/domain/termination.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';

export interface TerminationWarning {
  readonly reason: string;
  readonly message: string;
}

/** @param pools of those for which this block is in force, where NodeClaims carry Karpenter's finalizer */
export function terminationWarnings(
  { spec }: KubernetesObject,
  pools: readonly string[],
): readonly TerminationWarning[] {
  const block = parseTerminationBlock(spec?.['termination'] ?? {}, 'spec.termination');
  if (spec?.['termination'] === undefined || !block.ok || pools.length === 0) return [];
  const where = `NodePool ${pools.toSorted().join(', ')}`;
  if (block.value.builtin === 'Replace') {
    const message = `spec.termination.builtin: Replace is not in force in ${where}: NodeClaims there carry karpenter.sh/termination, and Karpenter terminates them; apply what "curfew policies admission" prints (Kubernetes 1.36), and NodeClaims change with their next update`;
    return [{ reason: EVENT_REASONS.replaceNotInForce, message }];
  }
  const idle = idleHooks(block.value.hooks, 'spec.termination.hooks');
  if (idle === undefined) return [];
  return [{ reason: EVENT_REASONS.hooksDoNotHold, message: `${idle} ${HOOKS_HOLD_NOTHING} (${where})` }];
}
