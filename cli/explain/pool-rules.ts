/** The rules in force for the nodes of a NodePool, whether it has any nodes or not. */
import { effectiveTermination } from '../../functions/finalizer/explain.ts';
import { repairBlockInForce } from '../../functions/repair/explain.ts';
import { terminationText, type LifecycleCluster } from './lifecycle.ts';
import { effectiveProtection } from '../../shared/policies/protection-settings.ts';
import { drainsHeld, observedBy } from './modes.ts';
import { protectionRules, protectionText, type ProtectionLimits } from './protection-rules.ts';
import { unreadFor, withUnread } from './settings-in-force.ts';
import { statedPolicies, type StatedPolicy } from './stated-policies.ts';

export interface PoolRules {
  readonly repair: string;
  readonly termination: string;
  readonly drain: string;
  readonly protection: string;
  /** The longest that a protection lasts. */
  readonly protectionLimits: ProtectionLimits;
  /** Policies that apply, in order of precedence. */
  readonly policies: readonly StatedPolicy[];
}

/** For a name without a NodePool: what policies say of nodes that have none. */
export function rulesOfPool(cluster: LifecycleCluster, name: string): PoolRules {
  const { pools, inForce, gateOpen } = cluster;
  const pool = pools.get(name);
  const terminations = inForce.termination.set;
  const termination = effectiveTermination(pool, terminations);
  const protection = effectiveProtection(pool, inForce.protection.set);
  const repairs = inForce.repair.set;
  const repair = repairRule(repairBlockInForce(pool, repairs), gateOpen, observedBy(pool, 'repair', repairs));
  const observed = termination.kind === 'custom' ? observedBy(pool, 'termination', terminations) : '';
  const by = termination.kind === 'none' ? '' : `, by ${termination.source}`;
  return {
    repair: withUnread(repair, unreadFor(pool, inForce.repair)),
    termination: withUnread(`${terminationText(termination)}${by}${observed}`, unreadFor(pool, inForce.termination)),
    drain: withUnread(drainsHeld(pool, inForce.drain.set) ?? 'enforced', unreadFor(pool, inForce.drain)),
    protection: withUnread(protectionText(protection), unreadFor(pool, inForce.protection)),
    protectionLimits: protectionRules(protection.policy).limits,
    policies: statedPolicies(cluster, pool),
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
