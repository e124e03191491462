/** What repair says beside its verdicts and acts. */
import { attemptDetails } from './rule/attempt.ts';
import type { DecisionOrigin, PassDeps } from './context.ts';
import type { Attempt } from './attempt-record.ts';
import type { End } from './replace.ts';
import { aboutNode, metricOf, OUTCOME_UNKNOWN, originOf } from './report.ts';
import type { NodeName } from './rule/verdict.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { RefusalReport } from '../../shared/domain/refusal.ts';
import type { Report } from '../../shared/lifecycle/reporter.ts';

type Notice = Pick<Report, 'decision' | 'reason' | 'message' | 'event' | 'details' | 'isRepeated'>;

/** On the Node, counted by its decision. */
function report(deps: PassDeps, origin: DecisionOrigin, node: NodeName, { details, ...notice }: Notice): Promise<void> {
  const metric = metricOf(notice.decision, origin);
  return deps.reporter.report({
    about: aboutNode(node),
    ...notice,
    details: { ...originOf(origin), ...details },
    metric,
  });
}

const FAILED = { type: 'Warning', reason: EVENT_REASONS.nodeRepairActionFailed } as const;

/** An act that was refused, or cannot be carried out. */
interface Refused {
  readonly node: NodeName;
  readonly attempt: Attempt;
  readonly reason: string;
  readonly text: string;
}

export function reportRefusal(
  deps: PassDeps,
  origin: DecisionOrigin,
  { node, attempt, reason, text }: Refused,
  saying: RefusalReport = 'news',
): Promise<void> {
  const message = `${attempt.action} could not be carried out: ${text}`;
  const details = attemptDetails(attempt);
  const event = saying === 'elsewhere' ? {} : { event: FAILED };
  const notice = { decision: 'refused', reason, message, details, isRepeated: saying === 'again', ...event };
  return report(deps, origin, node, notice);
}

/** What a repair has left cannot be taken back. */
export function reportLeft(
  deps: PassDeps,
  origin: DecisionOrigin,
  node: NodeName,
  { text, isRepeated }: { readonly text: string; readonly isRepeated: boolean },
): Promise<void> {
  const message = `what the repair has left cannot be taken back: ${text}`;
  return report(deps, origin, node, {
    decision: 'refused',
    reason: 'ActionRefused',
    message,
    isRepeated,
    event: FAILED,
  });
}

const ENDS = {
  deleted: { reason: 'ReplacementDeleted', text: 'is deleted: nothing is to be replaced by it' },
  kept: { reason: 'ReplacementKept', text: 'is a node as any other from now on' },
  gone: { reason: 'ReplacementGone', text: 'is gone' },
} as const;

/** A replacement is deleted, or stays for good. */
export function reportEnd(
  deps: PassDeps,
  origin: DecisionOrigin,
  node: NodeName,
  { name, end }: { readonly name: string; readonly end: End },
): Promise<void> {
  const { reason, text } = ENDS[end];
  const message = `NodeClaim ${name} ${text}`;
  return report(deps, origin, node, { decision: 'release', reason, message, details: { replacement: name } });
}

/** The run of an act ended without saying so, and its Node is gone by now. */
export function reportLost(deps: PassDeps, origin: DecisionOrigin, node: NodeName, attempt: Attempt): Promise<void> {
  const message = `the run of attempt ${attempt.number} ended before its outcome was recorded, and the Node is gone since`;
  return report(deps, origin, node, {
    decision: 'settle',
    reason: OUTCOME_UNKNOWN,
    message,
    details: attemptDetails(attempt),
  });
}
