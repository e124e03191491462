/**
 * Reports each decision: one audit line, one metric and one Event. A verdict is reported when it changes. Its Event is
 * repeated every hour, since the API server forgets Events.
 */
import { attemptDetails, conditionDetails, describeAct, nextActionsText } from './attempt-words.ts';
import type { DecisionOrigin, PassDeps } from './context.ts';
import { hasTrait, type NodeFinding, verdictOf } from './node/rule/finding.ts';
import type { ObservedPool } from './observe.ts';
import type { DueCondition } from './node/attempt-record.ts';
import { poolDimension } from './record.ts';
import type { PoolRecord } from './pool-record.ts';
import { missingNodesOf } from './rule/missing-nodes.ts';
import {
  AT_ONCE,
  type GuardSetting,
  type ObjectIdentity,
  type Rank,
  REPORT_CODES,
  type ReportedVerdict,
} from './node/rule/verdict.ts';
import { REPAIR_METRICS } from '../../shared/contract/metrics.ts';
import { aboutNode } from '../../shared/domain/node.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, earliest, type EpochMs, isDue, isReportDue, REPORT_EVERY } from '../../shared/domain/time.ts';
import type { About, Report } from '../../shared/lifecycle/reporter.ts';
import { settingPath } from '../../shared/policies/setting-path.ts';

/** The number of nodes about which one pass reports; the others have the next pass. */
const MAX_REPORTS = 200;

/**
 * Reports verdicts that are news. The record is written after that: a run that dies in between reports once more (I9).
 */
export async function reportVerdicts(
  deps: PassDeps,
  origin: DecisionOrigin,
  findings: readonly NodeFinding[],
  now: EpochMs,
): Promise<{ readonly findings: readonly NodeFinding[]; readonly nextLookTime: EpochMs | undefined }> {
  let reportsLeft = MAX_REPORTS;
  let nextLookTime: EpochMs | undefined;
  const next: NodeFinding[] = [];
  for (const finding of findings) {
    next.push(finding);
    const verdict = verdictOf(finding);
    if (verdict === undefined || verdict.kind === 'repair') continue;
    const { code } = wordingOf(verdict);
    if (code === undefined) {
      await reportVerdict(deps, verdict, origin);
      continue;
    }
    const { reported } = finding.record ?? {};
    const last = reported?.times[code];
    const isRepeated = reported?.code === code;
    const isRecent = last !== undefined && !isReportDue(now, last);
    const isNew = !(isRepeated && isRecent);
    const since = isRecent ? last : now;
    if (isNew && reportsLeft === 0) nextLookTime = earliest(nextLookTime, addDuration(now, AT_ONCE));
    else if (hasEvent(verdict)) nextLookTime = earliest(nextLookTime, addDuration(since, REPORT_EVERY));
    if (!isNew || reportsLeft === 0) continue;
    reportsLeft -= 1;
    await reportVerdict(deps, verdict, origin, { isRepeated, isSilent: isRecent });
    next.splice(-1, 1, withReported(finding, code, since, now));
  }
  return { findings: next, nextLookTime };
}

/** The finding with what was reported now. Reports older than an hour are dropped: they may be repeated. */
function withReported(finding: NodeFinding, code: string, time: EpochMs, now: EpochMs): NodeFinding {
  const { record } = finding;
  if (record === undefined) return finding;
  const isRecent = ([, each]: readonly [string, EpochMs]): boolean => !isReportDue(now, each);
  const times = { ...Object.fromEntries(Object.entries(record.reported?.times ?? {}).filter(isRecent)), [code]: time };
  return { ...finding, record: { ...record, reported: { code, time: now, times } } };
}

/** Whether the verdict has an Event that is repeated every hour. A toleration is announced once. */
const hasEvent = (verdict: ReportedVerdict): boolean =>
  verdict.kind !== 'tolerate' && wordingOf(verdict).event !== undefined;

interface Wording {
  readonly reason: string;
  readonly event?: NonNullable<Report['event']>;
  /**
   * Code of the report, as the node's record keeps it: each code stays as it is. Absent: reported in each pass that
   * finds it.
   */
  readonly code?: string;
}

export const warning = (reason: string) => ({ type: 'Warning', reason }) as const;
const normal = (reason: string) => ({ type: 'Normal', reason }) as const;
const BLOCKED = warning(EVENT_REASONS.nodeRepairBlocked);

function wordingOf(verdict: ReportedVerdict): Wording {
  const { kind } = verdict;
  switch (kind) {
    case 'tolerate': {
      const { conditionType, conditionStatus, dueTime } = verdict.dueCondition;
      const code = `tolerate ${conditionType}=${conditionStatus} ${dueTime}`;
      return { reason: 'WithinToleration', event: normal(EVENT_REASONS.nodeRepairScheduled), code };
    }
    case 'ignore': {
      const { reason } = verdict;
      if (reason === 'Healthy') return { reason };
      return reason === 'NoTransitionTime'
        ? { reason, event: BLOCKED, code: REPORT_CODES.noTransitionTime }
        : { reason, code: `ignore ${reason}` };
    }
    case 'blockedByNode':
      return { reason: verdict.reason, event: BLOCKED, code: `blocked ${verdict.reason}` };
    case 'blockedByPool': {
      const { reason } = verdict.blocker;
      return { reason, event: BLOCKED, code: `blocked ${reason}` };
    }
    case 'exhausted':
      return { reason: 'ActionsExhausted', event: BLOCKED, code: `exhausted ${verdict.message}` };
    case 'retry':
      return { reason: 'ActionRefused', event: BLOCKED, code: kind };
    case 'unclaimed':
      return { reason: 'NoNodeClaim', event: BLOCKED, code: REPORT_CODES.unclaimed };
    case 'stuck':
    case 'stuckWithoutNode':
      return { reason: EVENT_REASONS.nodeRepairStuck, event: warning(EVENT_REASONS.nodeRepairStuck), code: 'stuck' };
    case 'vetoed': {
      const { nodeRepairVetoed } = EVENT_REASONS;
      const event = verdict.veto.invalid ? warning(nodeRepairVetoed) : normal(nodeRepairVetoed);
      return { reason: 'DoNotRepair', event, code: kind };
    }
    case 'wouldRepair': {
      const { attempt, laterActions } = verdict;
      const message = `in mode Enforce ${describeAct(attempt, true)}${nextActionsText(laterActions)}: ${verdict.message}`;
      const event = { ...normal(EVENT_REASONS.nodeRepairObserved), message };
      return { reason: 'TolerationElapsed', event, code: `wouldRepair ${attempt.key}` };
    }
    case 'underWay':
      return { reason: 'ActionUnderWay', code: kind };
    case 'finishing':
      return { reason: 'NodeClaimTerminating', code: kind };
    case 'outcomeUnknown':
      return { reason: OUTCOME_UNKNOWN, code: REPORT_CODES.outcomeUnknown };
    case 'refuse':
      return { reason: 'InvalidRepairConfiguration', code: kind };
    case 'repair':
      return { reason: 'TolerationElapsed' };
    case 'recovered':
      return { reason: 'Recovered', event: normal(EVENT_REASONS.nodeRepairSucceeded) };
    case 'gone':
      return { reason: 'NodeGone', code: kind };
  }
}

/** Reason for an attempt whose outcome nobody knows. */
export const OUTCOME_UNKNOWN = 'OutcomeUnknown';

/** Name of a verdict in audit lines and metrics, if it is another word. */
const DECISIONS: Partial<Record<ReportedVerdict['kind'], string>> = {
  unclaimed: 'ignore',
  blockedByNode: 'blocked',
  blockedByPool: 'blocked',
  outcomeUnknown: 'settle',
  stuckWithoutNode: 'stuck',
  gone: 'close',
};

async function reportVerdict(
  deps: PassDeps,
  verdict: ReportedVerdict,
  origin: DecisionOrigin,
  { isRepeated = false, isSilent = false }: { readonly isRepeated?: boolean; readonly isSilent?: boolean } = {},
): Promise<void> {
  if (isRepeated && !hasEvent(verdict)) return;
  const { kind, node, message } = verdict;
  if (kind === 'tolerate' && !isRepeated) await reportClockSkews(deps, origin, verdict);
  const { reason, event } = wordingOf(verdict);
  const decision = DECISIONS[kind] ?? kind;
  const about = kind === 'stuckWithoutNode' ? aboutClaim(verdict.claim) : aboutNode(node);
  const details = { ...originOf(origin), ...detailsOf(verdict, origin) };
  const line = { about, decision, reason, message, details, metric: metricOf(decision, origin) };
  await deps.reporter.report({ ...line, isRepeated, ...(event && !isSilent && { event }) });
  if (kind !== 'vetoed' || !verdict.veto.invalid || isRepeated) return;
  // The author of a veto that cannot be read is told where it stands.
  const { by, message: fault } = verdict.veto;
  const apiVersion = by.kind === 'Node' ? 'v1' : 'karpenter.sh/v1';
  const source = { apiVersion, kind: by.kind, metadata: { name: by.name, uid: by.uid } };
  await deps.events.record({ ...warning(EVENT_REASONS.invalidDoNotRepair), message: fault, about: source });
}

function detailsOf(verdict: ReportedVerdict, origin: DecisionOrigin): JsonObject {
  if ('blocker' in verdict) {
    const { blocker, rank } = verdict;
    return {
      ...decisionDetails(origin, undefined, 'setting' in blocker ? blocker.setting : undefined),
      rank: rankDetails(rank),
    };
  }
  if ('attempt' in verdict)
    return { ...attemptDetails(verdict.attempt), ...decisionDetails(origin, verdict.attempt.dueCondition) };
  if (verdict.kind === 'unclaimed') return decisionDetails(origin, verdict.dueCondition);
  if (verdict.kind !== 'tolerate' && verdict.kind !== 'vetoed') return {};
  return { ...conditionDetails(verdict.dueCondition), ...decisionDetails(origin, verdict.dueCondition) };
}

/** The rank in the details of an audit line. */
export const rankDetails = ({ order, of, score }: Rank): JsonObject => ({ place: order, of, score });

/** Reports clocks of the machine that cannot be right. */
async function reportClockSkews(
  { reporter }: PassDeps,
  origin: DecisionOrigin,
  { node, clockSkews }: Extract<ReportedVerdict, { kind: 'tolerate' }>,
): Promise<void> {
  const reason = EVENT_REASONS.transitionTimeDoubted;
  const shared = { about: aboutNode(node), decision: 'warn', reason, details: originOf(origin), event: WARNING };
  for (const clockSkew of clockSkews) {
    await reporter.report({ ...shared, message: `${clockSkew}; the incident counts from the first look` });
  }
}

const WARNING = { type: 'Warning' } as const;

/** Reports hourly, on the NodePool, how many of the nodes that were terminated have no node in their place. */
export async function reportMissing(
  { reporter }: PassDeps,
  { nodes, poolSettings: { nodePool: pool }, origin }: ObservedPool,
  poolRecord: PoolRecord,
  now: EpochMs,
): Promise<{ readonly change: Partial<PoolRecord>; readonly nextLookTime: EpochMs | undefined }> {
  const { nextMissingTime, missing } = missingNodesOf(poolRecord, nodes, now);
  if (pool === undefined || missing === 0) return { change: {}, nextLookTime: nextMissingTime };
  const next = poolRecord.missingTime && addDuration(poolRecord.missingTime, REPORT_EVERY);
  if (next !== undefined && !isDue(now, next)) return { change: {}, nextLookTime: earliest(nextMissingTime, next) };
  const [were, have] = missing === 1 ? ['node that was', 'has'] : ['nodes that were', 'have'];
  const message = `${missing} ${were} terminated by repairs ${have} not been replaced: no node of the pool was made since`;
  const details = { ...originOf(origin), missing };
  const line = { about: pool, decision: 'warn', reason: EVENT_REASONS.nodesNotReplaced, message, details };
  await reporter.report({ ...line, event: WARNING, isRepeated: next !== undefined });
  return { change: { missingTime: now }, nextLookTime: earliest(nextMissingTime, addDuration(now, REPORT_EVERY)) };
}

/** Counts how the pool stands, once that is recorded. */
export async function countRepairs(
  { metrics, repairsChanged }: PassDeps,
  { pool, poolSettings: { policies }, poolRecord: { counts: countsBefore } }: ObservedPool,
  { counts: countsAfter }: PoolRecord,
  findings: readonly NodeFinding[],
): Promise<void> {
  const verdicts = findings.flatMap(finding => verdictOf(finding) ?? []);
  const blocked = verdicts.filter(each => hasTrait(each, 'blocked')).map(each => wordingOf(each).reason);
  for (const [reason, { length }] of Map.groupBy(blocked, each => each))
    metrics.count(REPAIR_METRICS.held, length, { nodePool: poolDimension(pool), reason });
  metrics.count(REPAIR_METRICS.underWay, countsAfter.repairing, { nodePool: poolDimension(pool) });
  const changed = (['blocked', 'repairing'] as const).filter(key => countsBefore[key] !== countsAfter[key]);
  // Without a policy there is no status that says so.
  if (changed.length === 0 || policies.policies.length + policies.faults.length === 0) return;
  const becameZero = (key: 'blocked' | 'repairing'): boolean =>
    changed.includes(key) && (countsBefore[key] === 0 || countsAfter[key] === 0);
  await repairsChanged(becameZero('blocked') || becameZero('repairing') ? 'zero' : 'count');
}

export const aboutClaim = ({ name, uid }: ObjectIdentity): About => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name, uid },
});

/** Details about the origin of a decision. Nodes without a NodePool have no `nodePool`. */
export const originOf = ({ pool, source }: DecisionOrigin): JsonObject => ({
  ...(pool !== undefined && { nodePool: pool }),
  ...(source !== undefined && { policy: source }),
});

/**
 * Details with `guard`, the numbers, and `decidedBy`, the path of each setting: `{ kind, name, field }`. Empty if only
 * defaults decided.
 */
export function decisionDetails(
  origin: DecisionOrigin,
  dueCondition: DueCondition | undefined,
  setting?: GuardSetting,
): JsonObject {
  const decidedBy = [
    ...(dueCondition?.field === undefined
      ? []
      : [settingPath(origin.source, dueCondition.field.replace(/\[\d+\]$/, ''))]),
    ...(setting === undefined ? [] : [settingPath(setting.source ?? origin.source, setting.field)]),
  ].filter(each => each !== undefined);
  return {
    ...(setting !== undefined && { guard: { ...setting.numbers } }),
    ...(decidedBy.length > 0 && { decidedBy }),
  };
}

/**
 * The metric of a decision. It has two dimensions, decision and pool (`none` without one): never the node, of which
 * there are too many.
 */
export const metricOf = (decision: string, { pool }: DecisionOrigin): NonNullable<Report['metric']> => ({
  name: REPAIR_METRICS.decision,
  dimensions: { decision, nodePool: poolDimension(pool) },
});
