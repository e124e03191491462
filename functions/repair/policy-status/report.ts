/** Reports about the status of a policy. */
import type { PolicyWarning } from './rule/policy-facts.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { reportWarning } from '../../../shared/lifecycle/refusals.ts';
import type { LastingReport, Reporter } from '../../../shared/lifecycle/reporter.ts';
import type { RejectedCall } from '../../../shared/ports/read-answer.ts';

/** Reports that Karpenter's finalizer keeps the terminations of a policy from being in force. */
export const reportNewWarning = (reporter: Reporter, policy: KubernetesObject, warning: PolicyWarning): Promise<void> =>
  reportWarning(reporter, policy, warning.reason, 'warn')(warning.message, false);

/**
 * Report about a status that the API server does not let us write, as admission policies can cause: in one audit line
 * until it changes, and once an hour in an Event.
 */
export function refusedReport(
  reporter: Reporter,
  policy: KubernetesObject,
  { message: text }: RejectedCall,
): LastingReport {
  const report = reportWarning(reporter, policy, EVENT_REASONS.changeRefused, 'refused');
  return { text, report: isRepeated => report(`${text}; it is tried again every five minutes`, isRepeated) };
}
