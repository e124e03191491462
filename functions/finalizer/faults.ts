/** Tells the author of a NodePool or NodeLifecyclePolicy, on that object, what of its terminations cannot be used (I8). */
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import type { Reporter } from '../../shared/lifecycle/reporter.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { terminationFault } from './settings.ts';

interface Parts {
  readonly deps: Pick<FunctionDeps, 'kubernetes'>;
  readonly reporter: Reporter;
}

/** Looks at the live object and reports what is wrong with it. @param isRepeated it is only published again */
export async function reportTerminationFaults(
  { deps, reporter }: Parts,
  { kind, name }: Subject,
  isRepeated: boolean,
): Promise<void> {
  const type = kind === 'NodePool' ? RESOURCES.NodePool : RESOURCES.NodeLifecyclePolicy;
  const object = await deps.kubernetes.get({ type, name });
  const fault = object && terminationFault(object);
  if (object === undefined || fault === undefined) return;
  await reporter.report({
    about: object,
    decision: 'refuse',
    reason: EVENT_REASONS.invalidTerminationConfiguration,
    message: `${fault}; no finalizer is put on or taken off where it applies until it is valid`,
    isRepeated,
    event: { type: 'Warning' },
  });
}
