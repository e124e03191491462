/** Reports about instances that may have been left behind, and about entries of the ledger. */
import { TERMINATION_METRICS } from '../../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { aboutSubject, type Subject } from '../../../shared/contract/subject.ts';
import { toTimestamp } from '../../../shared/domain/time.ts';
import type { About, Reporter } from '../../../shared/lifecycle/reporter.ts';
import type { OrphanDecision } from './decide.ts';
import type { ObservedInstance } from './observe.ts';
import { instanceSubject } from './record.ts';

const aboutOf = ({ object, providerID }: ObservedInstance): About =>
  aboutSubject(object ?? instanceSubject(providerID));

type DecisionOf<Kind extends OrphanDecision['kind']> = Extract<OrphanDecision, { kind: Kind }>;

export async function reportOrphan(
  reporter: Reporter,
  observed: ObservedInstance,
  { since, instanceState }: DecisionOf<'report'>,
): Promise<void> {
  const { object, providerID } = observed;
  await reporter.report({
    about: aboutOf(observed),
    decision: 'orphan',
    reason: EVENT_REASONS.possibleOrphan,
    message:
      object === undefined
        ? `instance ${providerID} is ${instanceState}, and neither a NodeClaim nor a Node has it`
        : `${object.kind} ${object.name} went before its termination was over, and instance ${providerID} is ${instanceState}: no finalizer of Curfew's was on it, or somebody else took that off`,
    details: { providerID, state: instanceState, since: toTimestamp(since) },
    metric: { name: TERMINATION_METRICS.possibleOrphan },
    // No object of the cluster could carry an Event about an instance alone.
    ...(object !== undefined && { event: { type: 'Warning' } }),
  });
}

export async function reportClosed(
  reporter: Reporter,
  observed: ObservedInstance,
  decision: DecisionOf<'close'>,
): Promise<void> {
  const { providerID } = observed;
  await reporter.report({
    about: aboutOf(observed),
    decision: 'close',
    reason: decision.because,
    message: `instance ${providerID} ${endOf(decision)}: it is no possible orphan any more`,
    details: { providerID },
  });
}

function endOf(decision: DecisionOf<'close'>): string {
  if (decision.because === 'InstanceHeld') return `has a ${decision.owner}`;
  return decision.instanceState === undefined ? 'is gone' : `is ${decision.instanceState}`;
}

/** Reports the request to forget an entry. @param forgotten what the entry was about; undefined: there is no such entry */
export async function reportForgotten(reporter: Reporter, id: string, forgotten: Subject | undefined): Promise<void> {
  const subject = forgotten ?? { apiVersion: '', kind: 'Orphan', name: id };
  await reporter.report({
    about: aboutSubject(subject),
    decision: forgotten === undefined ? 'ignore' : 'forget',
    reason: forgotten === undefined ? 'NotInLedger' : 'OrphanForgotten',
    message:
      forgotten === undefined
        ? `the ledger has no possible orphan ${id}: there is nothing to forget`
        : `a person has seen to ${subject.kind} ${subject.name}: it is no possible orphan any more`,
    details: { id },
  });
}
