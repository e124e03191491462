/** Tells the author of a NodePool or NodeLifecyclePolicy, on that object, what of its terminations cannot be used or loses a tie (I8). */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { loadPolicies } from '../../shared/cluster/node-pool.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import { tiesOf } from '../../shared/policies/policy-ties.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { terminationFault } from './termination/settings.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';

interface FaultContext {
  readonly deps: Pick<FunctionDeps, 'kubernetes'>;
  readonly reporter: Reporter;
}

/** Looks at the live object and reports what is wrong with it. @param isRepeated it is only published again */
export async function reportTerminationFaults(
  { deps, reporter }: FaultContext,
  { kind, name }: Subject,
  isRepeated: boolean,
): Promise<void> {
  const type = kind === 'NodePool' ? RESOURCES.NodePool : RESOURCES.NodeLifecyclePolicy;
  const object = objectOf(await deps.kubernetes.get({ type, name }), { notServed: 'none' });
  if (object === undefined) return;
  const report = (about: KubernetesObject, reason: string, message: string): Promise<void> =>
    reporter.report({ about, decision: 'refuse', reason, message, isRepeated, event: { type: 'Warning' } });

  const fault = terminationFault(object);
  if (fault !== undefined) {
    const effect =
      'the last version that could be read stays in force; without one no finalizer is put on or taken off where it applies until it is valid, and no termination begins there';
    await report(object, EVENT_REASONS.invalidTerminationConfiguration, `${fault}; ${effect}`);
  }
  if (kind === 'NodePool' || object.spec?.['termination'] === undefined) return;
  for (const { loser, message } of tiesOf(object, 'termination', await loadPolicies(deps))) {
    await report(loser, EVENT_REASONS.policyConflict, message);
  }
}
