/** How repair says what it decided: one audit line, one metric and one Event for each decision. */
import { REPAIR_METRICS } from '../../shared/contract/metrics.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { RepairSettings } from '../../shared/domain/repair-policy.ts';
import { toIsoText, toTimestamp } from '../../shared/domain/time.ts';
import type { About, Report } from '../../shared/lifecycle/reporter.ts';
import type { ObjectEvent } from '../../shared/ports/event-recorder.ts';
import { settingPlace } from '../../shared/policies/setting-place.ts';
import type { End } from './actions/replace.ts';
import { graceEnd, podsText, replacementOf } from './rule/attempt.ts';
import type { Rung } from './rule/ladder.ts';
import type { Attempt, RepairIncident } from './rule/record.ts';
import type { GuardSetting, NodeName, Rank, Verdict } from './rule/verdict.ts';

const aboutNode = ({ name, uid }: NodeName): About => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, uid } });

const aboutClaim = ({ name, uid }: NodeName): About => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name, uid },
});

/** Where a decision was made. */
export interface DecisionScope {
  readonly pool: string | undefined;
  /** Where the repair block stands. */
  readonly source: string | undefined;
  /** What it says. */
  readonly settings?: RepairSettings | { readonly invalid: string } | undefined;
}

/** Nodes without a NodePool have no `nodePool`. */
const scopeOf = ({ pool, source }: DecisionScope): JsonObject => ({
  ...(pool !== undefined && { nodePool: pool }),
  ...(source !== undefined && { policy: source }),
});

const incidentOf = (incident: RepairIncident): JsonObject => ({
  conditionType: incident.conditionType,
  conditionStatus: incident.conditionStatus,
  dueTime: toIsoText(incident.dueTime),
  lastTransitionTime: toIsoText(incident.lastTransitionTime),
  ...(incident.priority !== undefined && { priority: incident.priority }),
});

/** `guard` with the numbers, and `decidedBy` with a place for each setting: `{ kind, name, field }`. Empty where only defaults decided. */
function decidedBy(scope: DecisionScope, incident: RepairIncident | undefined, setting?: GuardSetting): JsonObject {
  const places = [
    ...(incident?.field === undefined ? [] : [settingPlace(scope.source, incident.field.replace(/\[\d+\]$/, ''))]),
    ...(setting === undefined ? [] : [settingPlace(setting.source ?? scope.source, setting.field)]),
  ].filter(each => each !== undefined);
  return {
    ...(setting !== undefined && { guard: { ...setting.numbers } }),
    ...(places.length > 0 && { decidedBy: places }),
  };
}

/** Two dimensions, decision and pool (`none` without one): never the node, of which there are too many. */
const metricOf = (decision: string, { pool }: DecisionScope): NonNullable<Report['metric']> => ({
  name: REPAIR_METRICS.decision,
  dimensions: { decision, nodePool: pool ?? 'none' },
});

const REASONS = {
  refuse: 'InvalidRepairConfiguration',
  tolerate: 'WithinToleration',
  vetoed: 'DoNotRepair',
  unclaimed: 'NoNodeClaim',
  underWay: 'ActionUnderWay',
  finishing: 'NodeClaimTerminating',
  exhausted: 'ActionsExhausted',
  settle: 'OutcomeUnknown',
  retry: 'ActionRefused',
  recovered: 'Recovered',
  repair: 'TolerationElapsed',
  wouldRepair: 'TolerationElapsed',
  stuck: EVENT_REASONS.nodeRepairStuck,
  gone: 'NodeGone',
} as const;

/** What a pass says about a node. */
export function reportOfVerdict(verdict: Verdict, scope: DecisionScope): Report {
  const { kind, node, message } = verdict;
  const decision = kind === 'unclaimed' ? 'ignore' : kind === 'gone' ? 'close' : kind;
  const reason = kind === 'blocked' || kind === 'ignore' ? verdict.reason : REASONS[kind];
  const incident = incidentIn(verdict);
  const attempt = 'attempt' in verdict ? attemptOf(verdict.attempt) : {};
  const details = {
    ...scopeOf(scope),
    ...(incident !== undefined && kind !== 'blocked' && kind !== 'unclaimed' && incidentOf(incident)),
    ...attempt,
    ...(kind === 'blocked' ? decidedBy(scope, undefined, verdict.setting) : decidedBy(scope, incident)),
    ...(kind === 'blocked' && verdict.rank && { rank: { ...verdict.rank } }),
  };
  const event = eventOf(verdict);
  const about = kind === 'stuck' && verdict.claim !== undefined ? aboutClaim(verdict.claim) : aboutNode(node);
  return { about, decision, reason, message, details, metric: metricOf(decision, scope), ...(event && { event }) };
}

function incidentIn(verdict: Verdict): RepairIncident | undefined {
  if ('attempt' in verdict) return verdict.attempt.incident;
  if (verdict.kind === 'vetoed') return verdict.decision.incident;
  return 'incident' in verdict ? verdict.incident : undefined;
}

/** The Event of a verdict; undefined: there is none. */
export function eventOf(verdict: Verdict): Report['event'] {
  switch (verdict.kind) {
    case 'tolerate':
      return { type: 'Normal', reason: EVENT_REASONS.nodeRepairScheduled };
    case 'ignore':
      return verdict.reason === 'NoTransitionTime'
        ? { type: 'Warning', reason: EVENT_REASONS.nodeRepairBlocked }
        : undefined;
    case 'blocked':
    case 'exhausted':
    case 'retry':
    case 'unclaimed':
      return { type: 'Warning', reason: EVENT_REASONS.nodeRepairBlocked };
    case 'stuck':
      return { type: 'Warning', reason: EVENT_REASONS.nodeRepairStuck };
    case 'vetoed':
      return { type: verdict.decision.veto.invalid ? 'Warning' : 'Normal', reason: EVENT_REASONS.nodeRepairVetoed };
    case 'wouldRepair': {
      const { attempt, rest } = verdict;
      const message = `in mode Enforce ${describeObserved(attempt)}${followedBy(rest)}: ${verdict.message}`;
      return { type: 'Normal', reason: EVENT_REASONS.nodeRepairObserved, message };
    }
    case 'recovered':
      return { type: 'Normal', reason: EVENT_REASONS.nodeRepairSucceeded };
    case 'repair':
    case 'underWay':
    case 'finishing':
    case 'settle':
    case 'refuse':
    case 'gone':
      return undefined;
  }
}

const followedBy = (rest: readonly Rung[]): string =>
  rest.length === 0 ? '' : `; after it, while the node is ill: ${rest.map(({ type }) => type).join(', ')}`;

/** The Event on the object that carries a veto whose value cannot be read; undefined for any other verdict. */
export function vetoFault(verdict: Verdict): ObjectEvent | undefined {
  if (verdict.kind !== 'vetoed' || !verdict.decision.veto.invalid) return undefined;
  const { by, message } = verdict.decision.veto;
  const apiVersion = by.kind === 'Node' ? 'v1' : 'karpenter.sh/v1';
  const about = { apiVersion, kind: by.kind, metadata: { name: by.name, uid: by.uid } };
  return { type: 'Warning', reason: EVENT_REASONS.invalidDoNotRepair, message, about };
}

/** The numbers that an act rests on, times in RFC 3339. */
function attemptOf(attempt: Attempt): JsonObject {
  const { number, claim, action, incident, until } = attempt;
  const replacement = replacementOf(attempt);
  const podsUntil = action === 'Terminate' ? attempt.podsUntil : undefined;
  return {
    ...incidentOf(incident),
    attempt: number,
    action,
    ...(claim && { nodeClaim: claim.name }),
    ...(action !== 'Terminate' && { until: toIsoText(until) }),
    ...(replacement !== undefined && { replacement: replacement.name }),
    ...(podsUntil !== undefined && { podsUntil: toIsoText(podsUntil) }),
  };
}

/** So many pods are named in one audit line, which must stay under 8 KB. */
const PODS_IN_LINE = 20;

/** An act that was carried out (I2: each protected pod that it takes is named). */
export function reportsOfAct(
  {
    node,
    attempt,
    message,
    rest = [],
    rank,
  }: {
    readonly node: NodeName;
    readonly attempt: Attempt;
    readonly message: string;
    readonly rest?: readonly Rung[];
    readonly rank?: Rank;
  },
  scope: DecisionScope,
  protectedPods: readonly string[],
): { readonly reports: readonly Report[]; readonly events: readonly ObjectEvent[] } {
  const { claim } = attempt;
  const what = `${describeAct(attempt)}${followedBy(rest)}`;
  const { length } = protectedPods;
  const end = graceEnd(attempt);
  const last = end === undefined ? '' : `, at ${toTimestamp(end)} at the latest`;
  const taken = length === 0 ? '' : `; it takes ${length} protected pod${length === 1 ? '' : 's'}${last}`;
  const event = {
    type: 'Warning',
    reason: EVENT_REASONS.nodeRepairStarted,
    message: `${what}: ${message}${decidedText(scope, attempt)}${taken}`,
  } as const;
  const details = {
    ...scopeOf(scope),
    ...attemptOf(attempt),
    ...(rest.length > 0 && { follows: rest.map(({ type }) => type) }),
    ...(rank && { rank: { ...rank } }),
    ...decidedBy(scope, attempt.incident),
  };
  const about = aboutNode(node);
  const first: Report = {
    about,
    decision: 'repair',
    reason: REASONS.repair,
    message: `${message}${taken}`,
    details: { ...details, ...(protectedPods.length > 0 && { protectedPods: protectedPods.slice(0, PODS_IN_LINE) }) },
    metric: metricOf('repair', scope),
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

/** Which entry decided. */
const decidedText = ({ source }: DecisionScope, { incident: { field } }: Attempt): string =>
  field === undefined || source === undefined ? '' : `; by ${field} of ${source}`;

/** The same of an act that mode `Observe` leaves out. */
function describeObserved(attempt: Attempt): string {
  const { action, claim, until } = attempt;
  const replacement = replacementOf(attempt);
  if (action === 'Replace')
    return `a replacement, NodeClaim ${replacement?.name ?? ''}, would be launched, and have time until ${toTimestamp(until)}`;
  if (action !== 'Terminate') return `${action} would begin, and have time until ${toTimestamp(until)}`;
  return claim === undefined
    ? 'the Auto Scaling group of the instance would replace it'
    : `NodeClaim ${claim.name} would be terminated${podsText(attempt)}`;
}

function describeAct(attempt: Attempt): string {
  const { action, claim, until } = attempt;
  const replacement = replacementOf(attempt);
  if (action === 'Replace')
    return `a replacement, NodeClaim ${replacement?.name ?? ''}, is launched, and has time until ${toTimestamp(until)}`;
  if (action !== 'Terminate') return `${action} has begun, and has time until ${toTimestamp(until)}`;
  return claim === undefined
    ? 'the instance is terminated in its Auto Scaling group, which replaces it'
    : `NodeClaim ${claim.name} is terminated${podsText(attempt)}${replacement === undefined ? '' : `; NodeClaim ${replacement.name} takes its place`}`;
}

/** An act that was refused, or cannot be carried out. */
export interface Refused {
  readonly node: NodeName;
  readonly attempt: Attempt;
  readonly reason: string;
  readonly text: string;
}

/** On the Node, counted by its decision. */
function reportOn(
  node: NodeName,
  scope: DecisionScope,
  { details, ...said }: Pick<Report, 'decision' | 'reason' | 'message' | 'event' | 'details'>,
): Report {
  const metric = metricOf(said.decision, scope);
  return { about: aboutNode(node), ...said, details: { ...scopeOf(scope), ...details }, metric };
}

const FAILED = { type: 'Warning', reason: EVENT_REASONS.nodeRepairActionFailed } as const;

export function reportOfRefusal({ node, attempt, reason, text }: Refused, scope: DecisionScope): Report {
  const message = `${attempt.action} could not be carried out: ${text}`;
  return reportOn(node, scope, { decision: 'refused', reason, message, details: attemptOf(attempt), event: FAILED });
}

/** What a repair has left that cannot be taken back. */
export function reportOfLeft(node: NodeName, scope: DecisionScope, text: string): Report {
  const message = `what the repair has left cannot be taken back: ${text}`;
  return reportOn(node, scope, { decision: 'refused', reason: 'ActionRefused', message, event: FAILED });
}

const ENDS = {
  deleted: { reason: 'ReplacementDeleted', text: 'is deleted: nothing is to be replaced by it' },
  kept: { reason: 'ReplacementKept', text: 'is a node as any other from now on' },
  gone: { reason: 'ReplacementGone', text: 'is gone' },
} as const;

/** What becomes of a replacement at the end of a repair. */
export function reportOfReplacement(node: NodeName, scope: DecisionScope, replacement: string, end: End): Report {
  const { reason, text } = ENDS[end];
  const message = `NodeClaim ${replacement} ${text}`;
  return reportOn(node, scope, { decision: 'release', reason, message, details: { replacement } });
}

/** A clock of the machine that cannot be right. */
export function reportOfDoubt(node: NodeName, doubt: string, scope: DecisionScope): Report {
  return {
    about: aboutNode(node),
    decision: 'warn',
    reason: EVENT_REASONS.transitionTimeDoubted,
    message: `${doubt}; the illness counts from the first look`,
    details: scopeOf(scope),
    event: { type: 'Warning' },
  };
}

/** Repairs after which no node came. */
export function reportOfMissing(pool: KubernetesObject, missing: number, scope: DecisionScope): Report {
  const message = `${missing} ${missing === 1 ? 'node that was' : 'nodes that were'} terminated by repairs ${missing === 1 ? 'has' : 'have'} not been replaced: no node of the pool was made since`;
  return {
    about: pool,
    decision: 'warn',
    reason: EVENT_REASONS.nodesNotReplaced,
    message,
    details: { ...scopeOf(scope), missing },
    event: { type: 'Warning' },
  };
}

/** An act whose run ended without saying so: its Node is gone by now. */
export function reportOfLost(node: NodeName, attempt: Attempt, scope: DecisionScope): Report {
  const message = `the run of attempt ${attempt.number} ended before its outcome was recorded, and the Node is gone since`;
  return reportOn(node, scope, {
    decision: 'settle',
    reason: REASONS.settle,
    message,
    details: attemptOf(attempt),
  });
}
