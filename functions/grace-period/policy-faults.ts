/** Tells the author of a NodeLifecyclePolicy, on that object, that its protection block cannot be used or loses a tie (I8). */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { createReporter } from '../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { OWNER } from './record.ts';
import { faultIn, keepPolicy } from '../../shared/cluster/kept-policies.ts';
import type { UsedWakeUp } from '../../shared/lifecycle/timed-record.ts';
import { loadPolicies } from '../../shared/cluster/node-pool.ts';
import { PROTECTION } from '../../shared/policies/protection-settings.ts';
import { tiesOf } from '../../shared/policies/policy-ties.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';

type KeepDeps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;
type Deps = KeepDeps & Pick<FunctionDeps, 'events' | 'audit' | 'metrics'>;

/** Keeps what can be read of the policy, for the time when it cannot be. */
export function keepProtection(deps: KeepDeps, { name, uid }: Subject, wakeUp?: UsedWakeUp): Promise<void> {
  return keepPolicy(deps, OWNER, [PROTECTION], { name, uid }, wakeUp);
}

/**
 * Looks at the live policy, keeps it as far as it can be read, and reports what is wrong with it: Warning Event and audit line.
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

  await keepProtection(deps, subject);
  const object = objectOf(await deps.kubernetes.get({ type: RESOURCES.NodeLifecyclePolicy, name: subject.name }), {
    notServed: 'none',
  });
  if (object?.spec?.['protection'] === undefined) return;
  const fault = faultIn(object, PROTECTION);
  if (fault !== undefined) {
    const effect =
      'the last version that could be read stays in force; without one no cap holds until it is valid, and what any rule set protects is protected';
    await report(object, EVENT_REASONS.invalidProtectionConfiguration, `${fault}; ${effect}`);
  }
  for (const { loser, message } of tiesOf(object, 'protection', await loadPolicies(deps))) {
    await report(loser, EVENT_REASONS.policyConflict, message);
  }
}
