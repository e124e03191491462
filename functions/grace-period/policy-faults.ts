/** Tells the author of a NodeLifecyclePolicy, on that object, that its protection block cannot be used or loses a tie (I8). */
import { parsePolicyFrame } from '../../shared/contract/policy-schema.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { createReporter } from '../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { OWNER } from './record.ts';
import { loadPolicies } from '../../shared/cluster/node-pool.ts';
import { protectionFault } from '../../shared/policies/protection-settings.ts';
import { tiesOf } from '../../shared/policies/policy-ties.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'events' | 'audit' | 'metrics'>;

/**
 * Looks at the live policy and reports what is wrong with it: Warning Event and audit line.
 * @param isRepeated it is only published again: the Event alone is recorded once more
 */
export async function reportProtectionFaults(deps: Deps, subject: Subject, isRepeated: boolean): Promise<void> {
  const report = (about: KubernetesObject, reason: string, message: string): Promise<void> =>
    createReporter(OWNER, deps).report({
      about,
      decision: 'refuse',
      reason,
      message,
      isRepeated,
      event: { type: 'Warning' },
    });

  const object = objectOf(await deps.kubernetes.get({ type: RESOURCES.NodeLifecyclePolicy, name: subject.name }), {
    notServed: 'none',
  });
  if (object?.spec?.['protection'] === undefined) return;
  const frame = parsePolicyFrame(object.spec);
  const faults = [frame.ok ? undefined : frame.message, protectionFault(object)].filter(fault => fault !== undefined);
  if (faults.length > 0) {
    const effect = 'until it is valid no cap holds, and what any rule set protects is protected';
    await report(object, EVENT_REASONS.invalidProtectionConfiguration, `${faults.join('; ')}; ${effect}`);
  }
  for (const { loser, message } of tiesOf(object, 'protection', await loadPolicies(deps))) {
    await report(loser, EVENT_REASONS.policyConflict, message);
  }
}
