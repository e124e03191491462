/** How repair says what it decided: one audit line, one metric, one Event for each decision. Failed acts: `report-failures.ts`. */
import { REPAIR_METRICS } from '../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { statementsOf, type RepairSettings } from '../../shared/domain/repair-policy.ts';
import { addDuration, toIsoText, toTimestamp } from '../../shared/domain/time.ts';
import type { About, Report } from '../../shared/lifecycle/reporter.ts';
import type { ObjectEvent } from '../../shared/ports/event-recorder.ts';
import { settingPlace } from '../../shared/policies/setting-place.ts';
import type { NodeDecision } from './decide.ts';
import type { RepairIncident } from './incident.ts';
import type { Basis } from './pass/guards.ts';
import type { Verdict } from './pass/verdict.ts';
import type { RepairAttempt } from './pass/pool.ts';

export const aboutNode = ({ name, uid }: { readonly name: string; readonly uid: string }): About => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid },
});

const aboutClaim = ({ name, uid }: { readonly name: string; readonly uid: string }): About => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name, uid },
});

/** Where a decision was made. */
export interface Place {
  readonly pool: string | undefined;
  /** Where the repair block stands. */
  readonly source: string | undefined;
  /** What it says. */
  readonly settings?: RepairSettings | { readonly invalid: string } | undefined;
}

/** Nodes without a NodePool have no `nodePool`. */
export const placeOf = ({ pool, source }: Place): JsonObject => ({
  ...(pool !== undefined && { nodePool: pool }),
  ...(source !== undefined && { policy: source }),
});

const incidentOf = (incident: RepairIncident): JsonObject => ({
  conditionType: incident.conditionType,
  conditionStatus: incident.conditionStatus,
  dueTime: toIsoText(incident.dueTime),
  lastTransitionTime: toIsoText(incident.lastTransitionTime),
});

/** `guard` with the numbers, and `decidedBy` with a place for each setting: `{ kind, name, field }`. Empty where only defaults decided. */
function decidedBy(place: Place, incident: RepairIncident | undefined, basis?: Basis): JsonObject {
  const toleration = incident && tolerationField(place, incident);
  const places = [
    ...(toleration === undefined ? [] : [settingPlace(place.source, toleration)]),
    ...(basis === undefined ? [] : [settingPlace(basis.source ?? place.source, basis.field)]),
  ].filter(each => each !== undefined);
  return {
    ...(basis !== undefined && { guard: { ...basis.numbers } }),
    ...(places.length > 0 && { decidedBy: places }),
  };
}

/** The field that the due time comes from; undefined: the provider's default. */
function tolerationField({ settings }: Place, incident: RepairIncident): string | undefined {
  if (settings === undefined || 'invalid' in settings) return undefined;
  const { conditionType: type, conditionStatus: status, lastTransitionTime, dueTime } = incident;
  const isMeant = (statement: { readonly type: string; readonly status: string }): boolean =>
    statement.type === type && statement.status === status;
  const tolerated = statementsOf(settings).filter(isMeant);
  // Earlier than every toleration allows: the unhealthy times of the past count, too.
  if (
    tolerated.every(({ toleration }) => dueTime < addDuration(lastTransitionTime, toleration)) &&
    settings.flapping !== undefined
  )
    return 'spec.repair.flapping';
  if (settings.conditions.some(isMeant)) return 'spec.repair.conditions';
  if (settings.tolerations.has(type)) return 'spec.repair.policies';
  return settings.defaultToleration === undefined ? undefined : 'spec.repair.defaultTolerationDuration';
}

/** Two dimensions, decision and pool (`none` without one): never the node, of which there are too many. */
export const metricOf = (decision: string, { pool }: Place): NonNullable<Report['metric']> => ({
  name: REPAIR_METRICS.decision,
  dimensions: { decision, nodePool: pool ?? 'none' },
});

const REASONS = {
  refuse: 'InvalidRepairConfiguration',
  tolerate: 'WithinToleration',
  vetoed: 'DoNotRepair',
  unclaimed: 'NoNodeClaim',
  finishing: 'NodeClaimTerminating',
  exhausted: 'ActionsExhausted',
  settle: 'OutcomeUnknown',
  retry: 'ActionRefused',
  recovered: 'Recovered',
  repair: 'TolerationElapsed',
  wouldRepair: 'TolerationElapsed',
} as const;

/** What the function says about a node that is not due, or no longer. */
export function reportOfNode(
  decision: Extract<NodeDecision, { kind: 'ignore' | 'refuse' | 'tolerate' }>,
  node: About,
  place: Place,
): Report {
  const { kind, message } = decision;
  const reason = kind === 'ignore' ? decision.reason : REASONS[kind];
  const incident =
    'incident' in decision ? { ...incidentOf(decision.incident), ...decidedBy(place, decision.incident) } : {};
  const base = { about: node, decision: kind, reason, message, details: { ...placeOf(place), ...incident } };
  const report: Report = { ...base, metric: metricOf(kind, place) };
  if (kind === 'tolerate') return { ...report, event: { type: 'Normal', reason: EVENT_REASONS.nodeRepairScheduled } };
  if (reason === 'NoTransitionTime') {
    return { ...report, event: { type: 'Warning', reason: EVENT_REASONS.nodeRepairBlocked } };
  }
  return report;
}

/** What a pass says about a node that is due. */
export function reportOfVerdict(verdict: Verdict, place: Place): Report {
  const { kind, node, message } = verdict;
  const decision = kind === 'unclaimed' ? 'ignore' : kind;
  const reason = kind === 'blocked' ? verdict.reason : REASONS[kind];
  const attempt = 'attempt' in verdict ? attemptOf(verdict.attempt) : {};
  const incident = kind === 'vetoed' ? incidentOf(verdict.decision.incident) : {};
  const of =
    'attempt' in verdict ? verdict.attempt.incident : verdict.kind === 'vetoed' ? verdict.decision.incident : undefined;
  const basis = verdict.kind === 'blocked' ? verdict.basis : undefined;
  const details = { ...placeOf(place), ...incident, ...attempt, ...decidedBy(place, of, basis) };
  const event = eventOf(verdict);
  const report = { about: aboutNode(node), decision, reason, message, details, metric: metricOf(decision, place) };
  return { ...report, ...(event && { event }) };
}

function eventOf(verdict: Verdict): Report['event'] {
  switch (verdict.kind) {
    case 'blocked':
    case 'exhausted':
    case 'retry':
    case 'unclaimed':
      return { type: 'Warning', reason: EVENT_REASONS.nodeRepairBlocked };
    case 'vetoed':
      return { type: verdict.decision.veto.invalid ? 'Warning' : 'Normal', reason: EVENT_REASONS.nodeRepairVetoed };
    case 'wouldRepair': {
      const message = `in mode Enforce ${describeObserved(verdict.attempt)}: ${verdict.message}`;
      return { type: 'Normal', reason: EVENT_REASONS.nodeRepairObserved, message };
    }
    case 'recovered':
      return { type: 'Normal', reason: EVENT_REASONS.nodeRepairSucceeded };
    case 'repair':
    case 'finishing':
    case 'settle':
      return undefined;
  }
}

/** The Event on the object that carries a veto whose value cannot be read; undefined for any other verdict. */
export function vetoFault(verdict: Verdict): ObjectEvent | undefined {
  if (verdict.kind !== 'vetoed' || !verdict.decision.veto.invalid) return undefined;
  const { by, message } = verdict.decision.veto;
  const apiVersion = by.kind === 'Node' ? 'v1' : 'karpenter.sh/v1';
  const about = { apiVersion, kind: by.kind, metadata: { name: by.name, uid: by.uid } };
  return { type: 'Warning', reason: EVENT_REASONS.invalidDoNotRepair, message, about };
}

/** The numbers that an act rests on, times in RFC 3339. */
export const attemptOf = ({ number, claim, action, incident, until }: RepairAttempt): JsonObject => ({
  ...incidentOf(incident),
  attempt: number,
  action,
  ...(claim && { nodeClaim: claim.name }),
  ...(until !== undefined && { until: toIsoText(until) }),
});

/** So many pods are named in one audit line, which must stay under 8 KB. */
const PODS_IN_LINE = 20;

/** An act that was carried out (I2: each protected pod that it takes is named). */
export function reportsOfAct(
  attempt: RepairAttempt,
  message: string,
  place: Place,
  protectedPods: readonly string[],
): { readonly reports: readonly Report[]; readonly events: readonly ObjectEvent[] } {
  const { node, claim } = attempt;
  const what = describeAct(attempt);
  const { length } = protectedPods;
  const taken = length === 0 ? '' : `; it takes ${length} protected pod${length === 1 ? '' : 's'}`;
  const event = {
    type: 'Warning',
    reason: EVENT_REASONS.nodeRepairStarted,
    message: `${what}: ${message}${taken}`,
  } as const;
  const details = { ...placeOf(place), ...attemptOf(attempt), ...decidedBy(place, attempt.incident) };
  const about = aboutNode(node);
  const first: Report = {
    about,
    decision: 'repair',
    reason: REASONS.repair,
    message: `${message}${taken}`,
    details: { ...details, ...(protectedPods.length > 0 && { protectedPods: protectedPods.slice(0, PODS_IN_LINE) }) },
    metric: metricOf('repair', place),
  };
  const more: Report[] = [];
  for (let start = PODS_IN_LINE; start < protectedPods.length; start += PODS_IN_LINE) {
    const pods = protectedPods.slice(start, start + PODS_IN_LINE);
    more.push({
      about,
      decision: 'repair',
      reason: 'ProtectedPodsTaken',
      message: `further protected pods that attempt ${attempt.number} takes`,
      details: { ...details, protectedPods: pods },
    });
  }
  const events = [{ ...event, about }, ...(claim ? [{ ...event, about: aboutClaim(claim) }] : [])];
  return { reports: [first, ...more], events };
}

/** The same of an act that mode `Observe` leaves out. */
function describeObserved({ action, claim, until }: RepairAttempt): string {
  if (action !== 'Terminate') {
    return `${action} would begin${until === undefined ? '' : `, and have time until ${toTimestamp(until)}`}`;
  }
  return claim === undefined
    ? 'the Auto Scaling group of the instance would replace it'
    : `NodeClaim ${claim.name} would be terminated forcefully`;
}

function describeAct({ action, claim, until }: RepairAttempt): string {
  if (action !== 'Terminate') {
    const end = until === undefined ? '' : `, and has time until ${toTimestamp(until)}`;
    return `${action} has begun${end}`;
  }
  return claim === undefined
    ? 'the instance is terminated in its Auto Scaling group, which replaces it'
    : `NodeClaim ${claim.name} is terminated forcefully`;
}
