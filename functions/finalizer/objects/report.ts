/** Reports about an object of a FinalizerRule: audit line, metric, and an Event where somebody should look. */
import { EVENT_REASONS } from '../../../shared/contract/reasons.ts';
import { aboutSubject } from '../../../shared/contract/subject.ts';
import type { Reporter } from '../../../shared/lifecycle/reporter.ts';
import type { ObservedObject } from './observe.ts';

export interface ObjectReport {
  readonly decision: string;
  readonly reason: string;
  /** Reason of the Event, and name of the metric, where that is not `reason`. */
  readonly eventReason?: string;
  readonly message: string;
  /** The type of the Event; absent: no Event is recorded. */
  readonly type?: 'Normal' | 'Warning';
  readonly attempts?: number;
  /** The text was reported before: the Event alone is recorded again. */
  readonly isRepeated?: boolean;
}

/** Reports about the object by its UID, whether it is still there or not. With `type` also as an Event. */
export async function reportObject(
  reporter: Reporter,
  { subject, inForce }: ObservedObject,
  { decision, reason, eventReason = reason, message, type, attempts, isRepeated }: ObjectReport,
): Promise<void> {
  await reporter.report({
    about: aboutSubject(subject),
    decision,
    reason,
    message,
    details: { rule: inForce.object.metadata.name, ...(attempts !== undefined && { attempts }) },
    metric: { name: eventReason },
    isRepeated,
    ...(type !== undefined && { event: { type, reason: eventReason } }),
  });
}

/** Reports a clean-up that succeeded late, before the entry is closed (I9). */
export function reportLateSuccess(reporter: Reporter, observed: ObservedObject): Promise<void> {
  const message = 'its clean-up is done after all: it is no possible orphan any more';
  return reportObject(reporter, observed, { decision: 'close', reason: 'FinalizationSucceeded', message });
}

/** @param because the reason in its entry */
export function reportOrphan(reporter: Reporter, observed: ObservedObject, because = ''): Promise<void> {
  const { kind, name } = observed.subject;
  return reportObject(reporter, observed, {
    decision: 'orphan',
    reason: EVENT_REASONS.possibleOrphan,
    message: `what ${kind} ${name} stood for may be left behind: ${because}`,
    type: 'Warning',
  });
}

export function reportOverdue(reporter: Reporter, observed: ObservedObject): Promise<void> {
  const { deadline, onDeadline } = observed.observation.rule;
  return reportObject(reporter, observed, {
    decision: 'overdue',
    reason: EVENT_REASONS.finalizationOverdue,
    message:
      deadline === undefined
        ? 'its clean-up has not succeeded for a day, and its rule has no deadline'
        : `its deadline passed, and ${onDeadline === 'Keep' ? 'its rule says Keep' : 'it is released after one more call of its clean-up'}`,
    type: 'Warning',
  });
}
