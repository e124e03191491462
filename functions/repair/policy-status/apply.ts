/** Writes the status of a policy. */
import type { PolicyStatusDeps } from './context.ts';
import type { StatusDecision } from './decide.ts';
import { refusedReport, reportNewWarning } from './report.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { LastingReport } from '../../../shared/lifecycle/reporter.ts';
import { changeStatus } from '../../../shared/ports/exact-change.ts';
import { orRejected } from '../../../shared/ports/read-answer.ts';

/** Applies the decision on one policy. Answers what to report if the API server refuses the status. */
export async function apply(
  { kubernetes, reporter }: Pick<PolicyStatusDeps, 'kubernetes' | 'reporter'>,
  object: KubernetesObject,
  decision: StatusDecision,
): Promise<LastingReport | undefined> {
  switch (decision.kind) {
    case 'same':
    case 'later':
      return undefined;
    case 'write': {
      const { status, warning } = decision;
      // Said first: a run that dies in between says it again (I9).
      if (warning !== undefined) await reportNewWarning(reporter, object, warning);
      const { uid, name } = object.metadata;
      const ref = { type: RESOURCES.NodeLifecyclePolicy, name };
      // One that was replaced by another of its name has an event of its own.
      const outcome = await orRejected(changeStatus(kubernetes, ref, { uid }, status));
      return outcome.kind === 'rejected' ? refusedReport(reporter, object, outcome) : undefined;
    }
  }
}
