/**
 * Finds the `protection` block that is in force for a pool: that of the most specific policy that states one in mode
 * `Enforce`, ties by name. One that is only observed changes no protection. A block that cannot be read never takes
 * protection away: what either rule set protects is protected, without caps. Pure.
 */
import { parseProtectionBlock } from '../contract/protection-schema.ts';
import { kindAndName, type KubernetesObject } from '../domain/kubernetes-object.ts';
import { DEFAULT_PROTECTION_POLICY, type ProtectionPolicy } from '../domain/protection.ts';
import { protectionDecisions, hasBlock, selective, type BlockReader } from './deciding-policy.ts';
import { isForgotten, unreadablePoliciesFor, type PolicySet } from './policy-set.ts';

/** Rules of protection, and whose they are. */
export interface SourcedProtection {
  readonly policy: ProtectionPolicy;
  /** The object with the block, e.g. `NodeLifecyclePolicy batch`; undefined: the defaults apply. */
  readonly source: string | undefined;
}

export interface EffectiveProtection extends SourcedProtection {
  /** The settings that would be in force if the most specific block, which is only observed, were enforced. */
  readonly observed: SourcedProtection | undefined;
}

export const PROTECTION: BlockReader = { block: 'protection', parse: parseProtectionBlock };

const UNREADABLE: ProtectionPolicy = { ...DEFAULT_PROTECTION_POLICY, compatibility: 'Unknown' };

const hasProtection = (object: KubernetesObject): boolean => hasBlock(object, 'protection');
/** Whether the mode is `Observe`, asked of a policy that cannot be read as a whole. */
const isObserved = ({ spec }: KubernetesObject): boolean => spec?.['mode'] === 'Observe';

/** The protection policy for the nodes of a pool; `undefined` stands for nodes without a NodePool. */
export function effectiveProtection(pool: KubernetesObject | undefined, policySet: PolicySet): EffectiveProtection {
  const { enforced, observed } = protectionDecisions(pool, policySet);
  return { ...inForce(pool, policySet, enforced?.object), observed: observed && blockOf(observed.object) };
}

function inForce(
  pool: KubernetesObject | undefined,
  policySet: PolicySet,
  object: KubernetesObject | undefined,
): SourcedProtection {
  const isMeant = (object: KubernetesObject): boolean => hasProtection(object) && !isObserved(object);
  // One that selects the pool, and does not say all that it means, comes before what another one grants less.
  const unreadable = unreadablePoliciesFor(pool, policySet).find(({ object }) => isMeant(object));
  if (unreadable !== undefined) return { policy: UNREADABLE, source: kindAndName(unreadable.object) };
  // Of a NodePool that is forgotten nobody knows which it was.
  if (pool !== undefined && isForgotten(pool) && selective(policySet).some(({ object }) => isMeant(object)))
    return { policy: UNREADABLE, source: kindAndName(pool) };
  if (object !== undefined) return blockOf(object);
  // A policy whose selector cannot be read might be meant for this pool.
  const isUnknown = policySet.faults.some(({ object, selector }) => selector === undefined && isMeant(object));
  return { policy: isUnknown ? UNREADABLE : DEFAULT_PROTECTION_POLICY, source: undefined };
}

function blockOf(object: KubernetesObject): SourcedProtection {
  const block = parseProtectionBlock(object.spec?.['protection'], 'spec.protection');
  return { policy: block.ok ? block.value : UNREADABLE, source: kindAndName(object) };
}
