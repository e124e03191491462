/**
 * Which repair block is in force for a pool: the NodePool's own wins over a NodeLifecyclePolicy, a more specific policy over a
 * general one, ties by name. Pure.
 */
import type { Mode } from '../../shared/contract/policy-schema.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { RepairSettings } from '../../shared/domain/repair-policy.ts';
import { policiesFor, unreadableFor, type PolicySet } from '../../shared/policies/policy-set.ts';

export interface EffectiveRepair {
  /** undefined: no block applies; `invalid`: one applies that cannot be read. */
  readonly settings: RepairSettings | { readonly invalid: string } | undefined;
  readonly mode: Mode;
  /** Where the block stands, e.g. `NodePool default`. */
  readonly source: string | undefined;
}

const hasBlock = (object: KubernetesObject): boolean => object.spec?.['repair'] !== undefined;
const nameOf = ({ kind, metadata }: KubernetesObject): string => `${kind} ${metadata.name}`;

/**
 * The repair settings for the nodes of a pool. A node without a NodePool is reached only by a policy whose selector is empty.
 * A policy that selects the pool and cannot be read might forbid what the others allow, so nothing is repaired until it can be
 * (I6). One whose very selector cannot be read selects nothing. Both are reported on their own object.
 */
export function effectiveRepair(pool: KubernetesObject | undefined, policySet: PolicySet): EffectiveRepair {
  const applying = policiesFor(pool, policySet);
  const mode = applying[0]?.mode ?? 'Enforce';
  const unreadable = unreadableFor(pool, policySet);
  const holders = [...(pool ? [pool] : []), ...[...applying, ...unreadable].map(({ object }) => object)];
  const holder = holders.find(hasBlock);
  if (holder === undefined) return { settings: undefined, mode, source: undefined };
  const [fault] = unreadable;
  if (fault !== undefined) {
    const source = nameOf(fault.object);
    return { settings: { invalid: `${source}: ${fault.message}` }, mode, source };
  }
  const block = parseRepairBlock(holder.spec?.['repair'], 'spec.repair');
  const source = nameOf(holder);
  return { settings: block.ok ? block.value : { invalid: `${source}: ${block.message}` }, mode, source };
}

/** What is wrong with the repair block of one NodePool or policy, as a message for its author; undefined when it can be used. */
export function repairFault(object: KubernetesObject): string | undefined {
  const block = object.spec?.['repair'];
  if (block === undefined) return undefined;
  const parsed = parseRepairBlock(block, 'spec.repair');
  return parsed.ok ? undefined : parsed.message;
}
