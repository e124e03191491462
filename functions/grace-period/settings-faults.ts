/** Tells the author of a NodeLifecyclePolicy that its protection block cannot be used or loses a conflict (I8). */
import { loadPolicies } from '../../shared/cluster/node-pool.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { reportBlockFault } from '../../shared/policies/block-faults.ts';
import { faultIn, hasBlock } from '../../shared/policies/deciding-policy.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { PROTECTION } from '../../shared/policies/protection-settings.ts';

/**
 * Looks at the live policy, and reports what is wrong with it.
 * @param isRepeated it is only published again: the Event alone is recorded once more
 */
export async function reportProtectionFaults(
  { deps, reporter }: { readonly deps: Pick<FunctionDeps, 'kubernetes'>; readonly reporter: Reporter },
  subject: Subject,
  isRepeated: boolean,
): Promise<void> {
  const answer = await deps.kubernetes.get({ type: RESOURCES.NodeLifecyclePolicy, name: subject.name });
  const object = objectOf(answer, { ifNotServed: 'empty' });
  if (object === undefined || !hasBlock(object, 'protection')) return;
  await reportBlockFault(reporter, object, await loadPolicies(deps), {
    block: 'protection',
    fault: faultIn(object, [PROTECTION]),
    reason: EVENT_REASONS.invalidProtectionConfiguration,
    effect:
      'the last version that could be read stays in force; without one no cap holds until it is valid, and what any rule set protects is protected',
    isRepeated,
  });
}
