/** What is in force for the nodes of a NodePool, whether it has any or not. */
import { effectiveTermination } from '../../functions/finalizer/settings.ts';
import { effectiveRepair } from '../../functions/repair/settings.ts';
import { policiesFor } from '../../shared/policies/policy-set.ts';
import { terminationText, type LifecycleCluster } from './lifecycle.ts';

export interface PoolRules {
  readonly repair: string;
  readonly termination: string;
  /** That apply, in order of precedence. */
  readonly policies: readonly { readonly name: string; readonly mode: 'Enforce' | 'Observe' }[];
}

/** For a name without a NodePool: what policies say of nodes that have none. */
export function rulesOfPool({ pools, policies, gateOpen }: LifecycleCluster, name: string): PoolRules {
  const pool = pools.get(name);
  const termination = effectiveTermination(pool, policies);
  const by = termination.kind === 'none' ? '' : `, by ${termination.source}`;
  return {
    repair: repairRule(effectiveRepair(pool, policies), gateOpen),
    termination: `${terminationText(termination)}${by}`,
    policies: policiesFor(pool, policies).map(({ object, mode }) => ({ name: object.metadata.name, mode })),
  };
}

function repairRule({ settings, source, mode }: ReturnType<typeof effectiveRepair>, gateOpen: boolean): string {
  if (settings === undefined || source === undefined)
    return 'none: neither the NodePool nor a policy has a repair block';
  if ('invalid' in settings) return `held until it is valid: ${settings.invalid}`;
  const off = gateOpen ? '' : '; off: featureGates.nodeRepair is off in ConfigMap curfew/curfew-config';
  return `by ${source}, mode ${mode}${off}`;
}
