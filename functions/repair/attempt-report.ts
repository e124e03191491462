/**
 * Reports the outcome of attempts: acts that were carried out or refused, what is left of them, and how replacements
 * end.
 */
import type { FoundReplacement } from './actions/action.ts';
import type { End } from './actions/replace.ts';
import { attemptDetails, describeAct, describeFound, graceEnd, isUnbounded, nextActionsText } from './attempt-words.ts';
import type { ActResult, DecisionOrigin, PassDeps } from './context.ts';
import type { Attempt } from './node/attempt-record.ts';
import type { ObjectIdentity } from './node/rule/verdict.ts';
import type { ObservedPool } from './observe.ts';
import { protectedNames } from './pool-settings.ts';
import { poolDimension } from './record.ts';
import { aboutClaim, decisionDetails, metricOf, originOf, OUTCOME_UNKNOWN, rankDetails, warning } from './report.ts';
import type { GrantedRepair } from './rule/pool-decision.ts';
import { REPAIR_METRICS } from '../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { aboutNode } from '../../shared/domain/node.ts';
import type { PodView } from '../../shared/domain/pod.ts';
import type { RefusalReport } from '../../shared/domain/refusal.ts';
import { toTimestamp } from '../../shared/domain/time.ts';
import type { Report } from '../../shared/lifecycle/reporter.ts';

type Notice = Pick<Report, 'decision' | 'reason' | 'message' | 'event' | 'details' | 'isRepeated'>;

/** Reports on the Node, counted by the decision. */
function report(
  deps: PassDeps,
  origin: DecisionOrigin,
  node: ObjectIdentity,
  { details, ...notice }: Notice,
): Promise<void> {
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
interface RefusedAttempt {
  readonly node: ObjectIdentity;
  readonly attempt: Attempt;
  readonly reason: string;
  readonly text: string;
}

export function reportRefusal(
  deps: PassDeps,
  origin: DecisionOrigin,
  { node, attempt, reason, text }: RefusedAttempt,
  saying: RefusalReport = 'news',
): Promise<void> {
  const message = `${attempt.action} could not be carried out: ${text}`;
  const details = attemptDetails(attempt);
  const event = saying === 'elsewhere' ? {} : { event: FAILED };
  const notice = { decision: 'refused', reason, message, details, isRepeated: saying === 'again', ...event };
  return report(deps, origin, node, notice);
}

const REFUSED = { decision: 'refused', reason: 'ActionRefused', event: FAILED } as const;

/** Reports that what a repair has left cannot be taken back. */
export function reportLeft(
  deps: PassDeps,
  origin: DecisionOrigin,
  node: ObjectIdentity,
  { text, isRepeated }: { readonly text: string; readonly isRepeated: boolean },
): Promise<void> {
  const message = `what the repair has left cannot be taken back: ${text}`;
  return report(deps, origin, node, { ...REFUSED, message, isRepeated });
}

/** Reports that the remediators of an action before this one were not told that their time is over. */
export function reportNotAnnotated(
  deps: PassDeps,
  origin: DecisionOrigin,
  node: ObjectIdentity,
  text: string,
): Promise<void> {
  const message = `the custom resource is not marked as timed out: ${text}`;
  return report(deps, origin, node, { ...REFUSED, message });
}

const ENDS = {
  deleted: { reason: 'ReplacementDeleted', text: 'is deleted: nothing is to be replaced by it' },
  kept: { reason: 'ReplacementKept', text: 'is a node as any other from now on' },
  gone: { reason: 'ReplacementGone', text: 'is gone' },
} as const;

/** Reports that a replacement is deleted, is gone, or stays for good. */
export function reportEnd(
  deps: PassDeps,
  origin: DecisionOrigin,
  node: ObjectIdentity,
  { name, end }: { readonly name: string; readonly end: End },
): Promise<void> {
  const { reason, text } = ENDS[end];
  const message = `NodeClaim ${name} ${text}`;
  return report(deps, origin, node, { decision: 'release', reason, message, details: { replacement: name } });
}

/** Reports that the run of an act ended without saying so, and that its Node is gone by now. */
export function reportLost(
  deps: PassDeps,
  origin: DecisionOrigin,
  node: ObjectIdentity,
  attempt: Attempt,
): Promise<void> {
  const message = `the run of attempt ${attempt.number} ended before its outcome was recorded, and the Node is gone since`;
  return report(deps, origin, node, {
    decision: 'settle',
    reason: OUTCOME_UNKNOWN,
    message,
    details: attemptDetails(attempt),
  });
}

interface Acted {
  readonly node: ObjectIdentity;
  readonly attempt: Attempt;
  readonly pods: readonly PodView[];
  readonly message: string;
  /** The actions that follow, and the rank of the node in its pool; absent: another run decided that. */
  readonly granted?: GrantedRepair;
  /** The replacement was there already: nothing was launched. */
  readonly foundReplacement?: FoundReplacement | undefined;
}

/** Reports an act of this run that was carried out. */
export async function reportAct(deps: PassDeps, observed: ObservedPool, result: ActResult): Promise<void> {
  const { granted, outcome } = result;
  if (outcome.kind !== 'accepted') return;
  const { attempt, pods, foundReplacement } = outcome;
  const { node, verdict } = granted.finding;
  await reportCarriedOut(deps, observed, { node, attempt, pods, message: verdict.message, granted, foundReplacement });
}

/** The number of pods that are named in one audit line, which must stay under 8 KB. */
const PODS_IN_LINE = 20;

/** Reports that an act was carried out (I9), with the name of each protected pod that it takes (I2). */
export async function reportCarriedOut(deps: PassDeps, observed: ObservedPool, acted: Acted): Promise<void> {
  const { reporter, events, metrics, clock } = deps;
  const { origin } = observed;
  const { node, attempt, pods, message, granted, foundReplacement } = acted;
  const { laterActions = [] } = granted?.finding.verdict ?? {};
  const rank = granted?.rank;
  const { action, dueCondition, number, claim } = attempt;
  // A drain, and the controller of a custom resource, respect protected pods.
  const isForceful = (action === 'Terminate' || action === 'Reboot') && !isUnbounded(attempt);
  const doomed = isForceful ? protectedNames(observed.poolSettings, pods, clock.now()) : [];
  const end = graceEnd(attempt);
  const last = end === undefined ? '' : `, at ${toTimestamp(end)} at the latest`;
  const takes =
    doomed.length === 0 ? '' : `; it takes ${doomed.length} protected pod${doomed.length === 1 ? '' : 's'}${last}`;
  const about = aboutNode(node);
  const details = {
    ...originOf(origin),
    ...attemptDetails(attempt),
    ...(laterActions.length > 0 && { follows: laterActions.map(({ type }) => type) }),
    ...(rank && { rank: rankDetails(rank) }),
    ...decisionDetails(origin, dueCondition),
  };
  const protectedPods = doomed.slice(0, PODS_IN_LINE);
  await reporter.report({
    about,
    decision: 'repair',
    reason: 'TolerationElapsed',
    message: `${message}${takes}`,
    details: { ...details, ...(doomed.length > 0 && { protectedPods }) },
    metric: metricOf('repair', origin),
  });
  for (let start = PODS_IN_LINE; start < doomed.length; start += PODS_IN_LINE) {
    await reporter.report({
      about,
      decision: 'repair',
      reason: 'ProtectedPodsTaken',
      message: `further protected pods that attempt ${number} takes`,
      details: { ...details, protectedPods: doomed.slice(start, start + PODS_IN_LINE) },
    });
  }
  const dimensions = { nodePool: poolDimension(observed.pool), condition: dueCondition.conditionType, action };
  metrics.count(REPAIR_METRICS.started, 1, dimensions);
  const isStated = dueCondition.field !== undefined && origin.source !== undefined;
  const by = isStated ? `; by ${dueCondition.field} of ${origin.source}` : '';
  const what =
    foundReplacement === undefined
      ? `${describeAct(attempt)}${nextActionsText(laterActions)}`
      : describeFound(attempt, foundReplacement, laterActions);
  // If this run did not see the act carried out, the message that says so comes first.
  const text = `${granted === undefined ? `${message}: ${what}` : `${what}: ${message}`}${by}${takes}`;
  const event = { ...warning(EVENT_REASONS.nodeRepairStarted), message: text };
  await events.record({ ...event, about });
  if (claim !== undefined) await events.record({ ...event, about: aboutClaim(claim) });
}
