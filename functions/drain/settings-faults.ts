/** Tells the author of a NodeLifecyclePolicy that its drain block cannot be used or loses a conflict (I8). */
import { loadPolicies } from '../../shared/cluster/node-pool.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { reportBlockFault } from '../../shared/policies/block-faults.ts';
import { faultIn, hasBlock } from '../../shared/policies/deciding-policy.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { DRAIN } from './settings.ts';

/** Says on the policy itself that its `drain` block cannot be used, or loses a conflict. */
export async function reportDrainFaults(
  { deps, reporter }: { readonly deps: Pick<FunctionDeps, 'kubernetes'>; readonly reporter: Reporter },
  { uid, name }: Subject,
  isRepeated: boolean,
): Promise<void> {
  const set = await loadPolicies(deps);
  const policy = [...set.policies, ...set.faults].find(({ object: { metadata } }) =>
    uid === undefined ? metadata.name === name : metadata.uid === uid,
  );
  if (policy === undefined) return;
  if (!hasBlock(policy.object, 'drain')) return;
  await reportBlockFault(reporter, policy.object, set, {
    block: 'drain',
    fault: faultIn(policy.object, [DRAIN]),
    reason: EVENT_REASONS.invalidDrainConfiguration,
    effect:
      'the last version that could be read stays in force; without one no drain begins where it may apply until it is valid, but those that repair, a termination or a person asks for',
    isRepeated,
  });
}
