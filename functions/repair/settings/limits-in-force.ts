/** The `repairLimits` of policies that bind a pool. */
import type { Mode } from '../../../shared/contract/policy-schema.ts';
import { parseRepairLimits } from '../../../shared/contract/repair-limits-schema.ts';
import type { PolicySet } from '../../../shared/policies/policy-set.ts';
import type { LimitsInForce, StatedLimits } from '../rule/node-verdict.ts';

type Policies = PolicySet['policies'];

/**
 * Those of every policy that selects the pool, whichever of them its repair block comes from: a limit of a zone or of the cluster that a more
 * specific block could lift would be none. What a policy in mode `Observe` says limits no repair that is enforced.
 *
 * @param applying the policies that select the pool
 */
export function limitsInForce(applying: Policies, { policies }: PolicySet, mode: Mode): LimitsInForce {
  const stating = policies.filter(({ object }) => object.spec?.['repairLimits'] !== undefined);
  const basis = stating.map(({ object: { metadata } }) => `${metadata.uid}@${metadata.generation ?? 0}`).toSorted();
  const binding: StatedLimits[] = [];
  let fault: string | undefined;
  for (const policy of stating) {
    if (!applying.includes(policy) || (policy.mode === 'Observe' && mode === 'Enforce')) continue;
    const { kind, metadata, spec } = policy.object;
    const source = `${kind} ${metadata.name}`;
    const read = parseRepairLimits(spec?.['repairLimits'], 'spec.repairLimits');
    if (read.ok) binding.push({ source, ...read.value });
    else fault ??= `${source}: ${read.message}`;
  }
  return { basis: basis.join(' '), binding, ...(fault !== undefined && { fault }) };
}
