/** Tells the author of a NodePool or NodeLifecyclePolicy, on that object, that its termination settings cannot be used or lose a tie (I8). */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { loadPolicies } from '../../../shared/cluster/node-pool.ts';
import type { Subject } from '../../../shared/contract/subject.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import { reportBlockFault } from '../../../shared/policies/block-faults.ts';
import { hasBlock } from '../../../shared/policies/deciding-policy.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import { terminationFault } from './settings.ts';
import { objectOf } from '../../../shared/ports/read-answer.ts';

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
  const object = objectOf(await deps.kubernetes.get({ type, name }), { ifNotServed: 'empty' });
  if (object === undefined) return;
  const mayConflict = kind !== 'NodePool' && hasBlock(object, 'termination');
  await reportBlockFault(reporter, object, mayConflict ? await loadPolicies(deps) : undefined, {
    block: 'termination',
    fault: terminationFault(object),
    reason: EVENT_REASONS.invalidTerminationConfiguration,
    effect:
      'the last version that could be read stays in force; without one no finalizer is put on or taken off where it applies until it is valid, and no termination begins there',
    isRepeated,
  });
}
