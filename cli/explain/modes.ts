/** In which mode each block is in force, and who says so, as text. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { decisionFor, type Block } from '../../shared/policies/deciding-policy.ts';
import type { PolicySet } from '../../shared/policies/policy-set.ts';

/** The reason why nothing begins under this block; undefined: the block is enforced. */
export function heldByMode(
  pool: KubernetesObject | undefined,
  block: Exclude<Block, 'protection'>,
  policies: PolicySet,
): string | undefined {
  const { mode, modePolicy } = decisionFor(pool, block, policies);
  if (mode === 'Enforce' || modePolicy === undefined) return undefined;
  return `mode is Observe, by ${modePolicy.object.kind} ${modePolicy.object.metadata.name}`;
}

/** Names the policy in mode `Observe`, to follow a text that gives the mode; empty in mode `Enforce`. */
export function observedBy(
  pool: KubernetesObject | undefined,
  block: Exclude<Block, 'protection'>,
  policies: PolicySet,
): string {
  const { mode, modePolicy } = decisionFor(pool, block, policies);
  return mode === 'Enforce' || modePolicy === undefined
    ? ''
    : ` (of ${modePolicy.object.kind} ${modePolicy.object.metadata.name})`;
}

/** The reason why no drain begins. */
export function drainsHeld(pool: KubernetesObject | undefined, policies: PolicySet): string | undefined {
  const held = heldByMode(pool, 'drain', policies);
  return held === undefined ? undefined : `${held}: nothing is drained`;
}
