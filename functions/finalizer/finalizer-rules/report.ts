/** Reports about a FinalizerRule. */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import type { Condition } from '../common/set-condition.ts';

/** Reports why the FinalizerRule cannot be used. */
export async function reportInvalidFinalizerRule(
  reporter: Reporter,
  about: KubernetesObject,
  { message, reason }: Condition,
): Promise<void> {
  await reporter.report({
    about,
    decision: 'refuse',
    reason: EVENT_REASONS.invalidFinalizerRule,
    message: `${reason}: ${message}; it puts its finalizer on nothing new`,
    event: { type: 'Warning' },
  });
}
