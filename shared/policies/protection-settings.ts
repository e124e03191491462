/**
 * Which `protection` block is in force for a pool: of the policies that apply, that of the most specific one, ties by name. Pure.
 * A block that cannot be read never takes protection away: what either rule set protects is protected, without caps.
 */
import type { Mode } from '../contract/policy-schema.ts';
import { parseProtectionBlock } from '../contract/protection-schema.ts';
import type { KubernetesObject } from '../domain/kubernetes-object.ts';
import { DEFAULT_PROTECTION_POLICY, type ProtectionPolicy } from '../domain/protection.ts';
import { policiesFor, unreadableFor, type PolicySet } from './policy-set.ts';

export interface EffectiveProtection {
  readonly policy: ProtectionPolicy;
  readonly mode: Mode;
  /** Where the block stands, e.g. `NodeLifecyclePolicy batch`; undefined: the defaults hold. */
  readonly source: string | undefined;
}

const UNREADABLE: ProtectionPolicy = { ...DEFAULT_PROTECTION_POLICY, compatibility: 'Unknown' };

const nameOf = ({ kind, metadata }: KubernetesObject): string => `${kind} ${metadata.name}`;
const hasBlock = (object: KubernetesObject): boolean => object.spec?.['protection'] !== undefined;

/** The protection policy for the nodes of a pool; `undefined` stands for nodes without a NodePool. */
export function effectiveProtection(pool: KubernetesObject | undefined, policySet: PolicySet): EffectiveProtection {
  const applying = policiesFor(pool, policySet);
  const mode = applying[0]?.mode ?? 'Enforce';
  // One that selects the pool, and does not say all that it means, comes before what another one grants less.
  const unreadable = unreadableFor(pool, policySet).find(({ object }) => hasBlock(object));
  if (unreadable !== undefined) return { policy: UNREADABLE, mode, source: nameOf(unreadable.object) };
  const holder = applying.find(({ object }) => hasBlock(object))?.object;
  if (holder === undefined) {
    // A policy whose selector cannot be read might be meant for this pool.
    const isMeant = policySet.faults.some(({ object, selector }) => selector === undefined && hasBlock(object));
    return { policy: isMeant ? UNREADABLE : DEFAULT_PROTECTION_POLICY, mode, source: undefined };
  }
  const block = parseProtectionBlock(holder.spec?.['protection'], 'spec.protection');
  return { policy: block.ok ? block.value : UNREADABLE, mode, source: nameOf(holder) };
}
