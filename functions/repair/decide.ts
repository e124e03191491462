/**
 * The rule of node repair (design "Node auto repair"; DESIGN I3, I4, I6): tolerate an unhealthy condition until
 * `lastTransitionTime + toleration`, then repair unless too much of the pool is unhealthy. Pure: no I/O, no clock.
 */
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { formatDuration } from '../../shared/domain/go-duration.ts';
import {
  earliestUnhealthy,
  matchStatements,
  resolveNodeCount,
  type RepairSettings,
  type UnhealthyCondition,
} from '../../shared/domain/repair-policy.ts';
import {
  sameIncident,
  type RepairAttempt,
  type RepairIncident,
  type RepairRecord,
} from '../../shared/domain/repair-record.ts';
import {
  addDuration,
  isDue,
  minutes,
  parseTimestamp,
  seconds,
  toTimestamp,
  type EpochMs,
} from '../../shared/domain/time.ts';

/** Blocked repairs are looked at again after this long, or when the pool changes (Karpenter's value). */
export const BLOCKED_RETRY = minutes(5);
/**
 * How long the attempt of another run may still act: a function runs for at most 30 s, its last request for 10 s more, and the two
 * clocks may differ by some seconds.
 */
export const OUTCOME_SETTLES_AFTER = seconds(60);
/** A repaired node that is still there is looked at this often, so that an incident never goes out of sight. */
export const FINISHING_CHECK = minutes(5);

export interface RepairObservation {
  readonly now: EpochMs;
  readonly node: NodeView;
  readonly gateOpen: boolean;
  /** `undefined`: no repair block applies to the node's pool. */
  readonly settings: RepairSettings | { readonly invalid: string } | undefined;
  readonly observeOnly: boolean;
  readonly record: RepairRecord | undefined;
  /** This very run wrote the intended attempt that stands in the record. */
  readonly ownsAttempt: boolean;
  /** What surrounds the node; loaded only once a condition is due. */
  readonly surroundings:
    | { readonly nodeClaims: readonly NodeClaimView[]; readonly poolNodes: readonly NodeView[]; readonly scope: string }
    | undefined;
  readonly terminationTimestampAnnotation: string;
}

export type IgnoreReason = 'GateOff' | 'NotConfigured' | 'Healthy' | 'NoTransitionTime' | 'NoNodeClaim';
export type BlockedReason = 'UnhealthyThreshold' | 'AmbiguousNodeClaim' | 'NotObserved';

export type RepairDecision =
  /** Nothing to do: drop the record and take back what an unfinished attempt set. */
  | { readonly kind: 'ignore'; readonly reason: IgnoreReason; readonly message: string }
  /** The repair block is not valid: no repair on a guess. */
  | { readonly kind: 'refuse'; readonly message: string }
  | { readonly kind: 'tolerate'; readonly incident: RepairIncident; readonly until: EpochMs; readonly message: string }
  | {
      readonly kind: 'blocked';
      readonly reason: BlockedReason;
      readonly incident: RepairIncident;
      readonly retryTime: EpochMs;
      readonly message: string;
    }
  /** An attempt of another run has no known outcome yet. */
  | { readonly kind: 'settle'; readonly until: EpochMs; readonly message: string }
  /** The NodeClaim is going away forcefully; the node has yet to disappear. */
  | {
      readonly kind: 'finishing';
      readonly incident: RepairIncident;
      readonly checkTime: EpochMs;
      readonly message: string;
    }
  | {
      readonly kind: 'wouldRepair';
      readonly incident: RepairIncident;
      readonly alreadyReported: boolean;
      readonly message: string;
    }
  | {
      readonly kind: 'repair';
      readonly incident: RepairIncident;
      readonly attempt: RepairAttempt;
      /** False when the NodeClaim is already being deleted: the repair only makes its termination forceful. */
      readonly deleteNodeClaim: boolean;
      /** False when the annotation already holds a past instant, which is kept. */
      readonly annotate: boolean;
      readonly message: string;
    };

/** Whether the surroundings must be loaded: a condition is due, or an attempt is to be resolved. */
export function needsSurroundings(
  observation: Pick<RepairObservation, 'now' | 'node' | 'gateOpen' | 'settings'>,
): boolean {
  const { settings } = observation;
  if (!observation.gateOpen || settings === undefined || 'invalid' in settings) return false;
  const unhealthy = earliestUnhealthy(observation.node, settings);
  return unhealthy !== undefined && isDue(observation.now, unhealthy.dueTime);
}

export function decide(observation: RepairObservation): RepairDecision {
  const { now, node, settings, record } = observation;
  const attempt = record?.attempt;
  if (attempt?.phase === 'intended' && !observation.ownsAttempt) {
    // I4: whatever is right now, another run may be about to delete. Who takes its attempt out of the record (say a run whose
    // clock is behind and that still tolerates) lets a third one begin a second.
    const settled = addDuration(attempt.intendedTime, OUTCOME_SETTLES_AFTER);
    if (!isDue(now, settled)) {
      return { kind: 'settle', until: settled, message: `attempt ${attempt.number} may still be under way` };
    }
  }
  if (!observation.gateOpen) {
    return { kind: 'ignore', reason: 'GateOff', message: 'featureGates.nodeRepair is off' };
  }
  if (settings === undefined) {
    return { kind: 'ignore', reason: 'NotConfigured', message: 'no repair block applies to the pool of this node' };
  }
  if ('invalid' in settings) return { kind: 'refuse', message: settings.invalid };

  const unhealthy = earliestUnhealthy(node, settings);
  if (unhealthy === undefined) {
    const [match] = matchStatements(node);
    if (match === undefined) {
      return { kind: 'ignore', reason: 'Healthy', message: 'no condition of the node counts as unhealthy' };
    }
    const { type, status } = match.condition;
    const message = `${type}=${status} has no lastTransitionTime that can be read: how long it lasts is not known`;
    return { kind: 'ignore', reason: 'NoTransitionTime', message };
  }
  const incident = toIncident(unhealthy);
  if (!isDue(now, unhealthy.dueTime)) {
    return { kind: 'tolerate', incident, until: unhealthy.dueTime, message: describe(unhealthy) };
  }

  const blocked = (reason: BlockedReason, message: string): RepairDecision => ({
    kind: 'blocked',
    reason,
    incident,
    retryTime: addDuration(now, BLOCKED_RETRY),
    message,
  });
  const { surroundings } = observation;
  if (surroundings === undefined) return blocked('NotObserved', 'the pool of the node could not be looked at');
  const [claim, ...others] = surroundings.nodeClaims;
  if (claim === undefined) {
    return {
      kind: 'ignore',
      reason: 'NoNodeClaim',
      message: `no NodeClaim has providerID ${node.providerID ?? '(none)'}`,
    };
  }
  if (others.length > 0) {
    const names = surroundings.nodeClaims.map(({ name }) => name).join(', ');
    return blocked('AmbiguousNodeClaim', `several NodeClaims have providerID ${node.providerID ?? '(none)'}: ${names}`);
  }

  const annotate = !holdsPastInstant(claim.annotations[observation.terminationTimestampAnnotation], now);
  const deleteNodeClaim = claim.deletionTime === undefined;
  if (!annotate && !deleteNodeClaim) {
    const checkTime = addDuration(now, FINISHING_CHECK);
    return { kind: 'finishing', incident, checkTime, message: `NodeClaim ${claim.name} is being terminated` };
  }

  const { poolNodes, scope } = surroundings;
  const unhealthyCount = poolNodes.filter(other => matchStatements(other).length > 0).length;
  const allowed = resolveNodeCount(settings.maxUnhealthy, poolNodes.length);
  if (unhealthyCount > allowed) {
    const numbers = `${unhealthyCount} of ${poolNodes.length} nodes of ${scope} are unhealthy, repair stops above ${allowed}`;
    return blocked('UnhealthyThreshold', numbers);
  }

  if (observation.observeOnly) {
    const alreadyReported = record?.reported === true && sameIncident(record.incident, incident);
    return { kind: 'wouldRepair', incident, alreadyReported, message: `mode is Observe; ${describe(unhealthy)}` };
  }
  return {
    kind: 'repair',
    incident,
    attempt:
      attempt !== undefined && observation.ownsAttempt
        ? attempt
        : {
            number: (attempt?.number ?? 0) + 1,
            nodeClaimName: claim.name,
            nodeClaimUid: claim.uid,
            phase: 'intended',
            intendedTime: now,
            // I7: an annotation of the attempt before is still known as ours.
            terminationTimestamp: attempt?.nodeClaimUid === claim.uid ? attempt.terminationTimestamp : toTimestamp(now),
          },
    deleteNodeClaim,
    annotate,
    message: describe(unhealthy),
  };
}

function toIncident({ condition, dueTime }: UnhealthyCondition): RepairIncident {
  return {
    conditionType: condition.type,
    conditionStatus: condition.status,
    lastTransitionTime: condition.lastTransitionTime,
    dueTime,
  };
}

function describe({ condition, toleration, dueTime }: UnhealthyCondition): string {
  const since = toTimestamp(condition.lastTransitionTime);
  const due = toTimestamp(dueTime);
  return `${condition.type}=${condition.status} since ${since}, tolerated ${formatDuration(toleration)}, repair is due at ${due}`;
}

/** Karpenter keeps a deadline that has passed and replaces one that lies ahead or does not parse. */
function holdsPastInstant(annotation: string | undefined, now: EpochMs): boolean {
  const instant = annotation === undefined ? undefined : parseTimestamp(annotation);
  return instant !== undefined && instant <= now;
}

/** Several events about one fact lead to one audit line; what a timer asked for is always told. */
export function isNews(decision: RepairDecision, record: RepairRecord | undefined, isTimer: boolean): boolean {
  switch (decision.kind) {
    case 'ignore':
      return record !== undefined || decision.reason !== 'Healthy';
    case 'tolerate':
      return isTimer || record === undefined || !sameIncident(record.incident, decision.incident);
    case 'finishing':
      return isTimer || record?.attempt?.phase !== 'accepted';
    case 'wouldRepair':
      return !decision.alreadyReported;
    case 'blocked':
      return isTimer || record?.blocked !== decision.message;
    case 'refuse':
    case 'settle':
    case 'repair':
      return true;
  }
}

/** One CamelCase word for the audit. */
export function reasonOf(decision: RepairDecision): string {
  switch (decision.kind) {
    case 'ignore':
    case 'blocked':
      return decision.reason;
    case 'refuse':
      return 'InvalidRepairConfiguration';
    case 'settle':
      return 'OutcomeUnknown';
    case 'tolerate':
      return 'WithinToleration';
    case 'finishing':
      return 'NodeClaimTerminating';
    case 'wouldRepair':
    case 'repair':
      return 'TolerationElapsed';
  }
}
