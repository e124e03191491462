/** The rules in force for the nodes of a NodePool, whether it has any nodes or not. */
import { effectiveTermination } from '../../functions/finalizer/explain.ts';
import { repairBlockInForce } from '../../functions/repair/explain.ts';
import { policiesFor } from '../../shared/policies/policy-set.ts';
import { terminationText, type LifecycleCluster } from './lifecycle.ts';
import { effectiveProtection } from '../../shared/policies/protection-settings.ts';
import { drainsHeld, observedBy } from './modes.ts';
import { protectionRules, protectionText, type ProtectionLimits } from './protection-rules.ts';

export interface PoolRules {
  readonly repair: string;
  readonly termination: string;
  readonly drain: string;
  readonly protection: string;
  /** The longest that a protection lasts. */
  readonly protectionLimits: ProtectionLimits;
  /** Policies that apply, in order of precedence. */
  readonly policies: readonly { readonly name: string; readonly mode: 'Enforce' | 'Observe' }[];
}

/** For a name without a NodePool: what policies say of nodes that have none. */
export function rulesOfPool({ pools, policies, gateOpen }: LifecycleCluster, name: string): PoolRules {
  const pool = pools.get(name);
  const termination = effectiveTermination(pool, policies);
  const protection = effectiveProtection(pool, policies);
  const by = termination.kind === 'none' ? '' : `, by ${termination.source}`;
  return {
    repair: repairRule(repairBlockInForce(pool, policies), gateOpen, observedBy(pool, 'repair', policies)),
    termination: `${terminationText(termination)}${by}${termination.kind === 'custom' ? observedBy(pool, 'termination', policies) : ''}`,
    drain: drainsHeld(pool, policies) ?? 'enforced',
    protection: protectionText(protection),
    protectionLimits: protectionRules(protection.policy).limits,
    policies: policiesFor(pool, policies).map(({ object, mode }) => ({ name: object.metadata.name, mode })),
  };
}

function repairRule(
  { settings, source, mode }: ReturnType<typeof repairBlockInForce>,
  gateOpen: boolean,
  observed: string,
): string {
  if (settings === undefined || source === undefined)
    return 'none: neither the NodePool nor a policy has a repair block';
  if ('invalid' in settings) return `held until it is valid: ${settings.invalid}`;
  const off = gateOpen ? '' : '; off: featureGates.nodeRepair is off in ConfigMap curfew/curfew-config';
  return `by ${source}, mode ${mode}${observed}${off}`;
}
