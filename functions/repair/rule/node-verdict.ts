/**
 * The rule of node repair for one node (docs/node-repair.md; I3, I6): tolerate an unhealthy condition until it has lasted its toleration;
 * from then on the node is due, unless its NodeClaim is not known for certain, somebody vetoes, or somebody else is at work on it. What a
 * whole pool allows is `decide.ts`. Pure: no I/O, no clock.
 */
import { quoteCut } from '../../../shared/domain/cut-text.ts';
import {
  NODE_POOL_LABEL,
  type NodeClaimView,
  TERMINATION_TIMESTAMP_ANNOTATION,
} from '../../../shared/domain/node-claim.ts';
import { isOwnCondition } from '../../../shared/domain/node-drain-conditions.ts';
import type { Owner } from '../../../shared/domain/node-owner.ts';
import {
  DO_NOT_REPAIR_ANNOTATION,
  isReserved,
  type NodeCondition,
  type NodeView,
} from '../../../shared/domain/node.ts';
import {
  type Confirmation,
  type DrainBound,
  type RepairAction,
  type RepairLimits,
  type RepairSettings,
  termsOf,
} from '../../../shared/domain/repair-policy.ts';
import {
  type DurationMs,
  type EpochMs,
  addDuration,
  hours,
  isDue,
  minutes,
  parseTimestamp,
  toEpochMs,
  toTimestamp,
} from '../../../shared/domain/time.ts';
import { type Ill, judgeHealth } from './illness.ts';
import type { Episode, RepairIncident } from './record.ts';

export interface NodeObservation {
  readonly now: EpochMs;
  readonly node: NodeView;
  readonly owner: Owner;
  readonly rules: RepairRules;
  /** The statements that hold, with their clocks; looked at only where the rules have settings. */
  readonly ills: readonly Ill[];
  /** What is remembered of earlier unhealthy times. */
  readonly episodes: readonly Episode[];
  /** What stands for the node in systems of others. */
  readonly asked?: string | undefined;
}

export type IgnoreReason =
  'GateOff' | 'NotConfigured' | 'Healthy' | 'NoTransitionTime' | 'NoNodeClaim' | 'InstanceStopped';

/** A node that is due, with its NodeClaim. */
export interface DueNode {
  readonly kind: 'due';
  readonly incident: RepairIncident;
  /** Absent for a node that Karpenter does not manage, where the block covers those. */
  readonly claim: NodeClaimView | undefined;
  /** How many statements hold. */
  readonly severity: number;
  /** Of the entry that decides: its priority, and what is done. */
  readonly terms: Terms;
  /** Since when any entry has been due. */
  readonly dueSince: EpochMs;
  readonly message: string;
}

/** What the entry that decides says of a repair. */
export interface Terms {
  readonly priority: number;
  readonly actions: readonly RepairAction[];
  readonly drainBound: DrainBound;
  /** What EC2 must call impaired before the act. */
  readonly confirm?: Confirmation | undefined;
}

interface Incident {
  readonly incident: RepairIncident;
  readonly message: string;
}

export type NodeDecision =
  /** Nothing to do: the incident is over, or never was one. */
  | { readonly kind: 'ignore'; readonly reason: Exclude<IgnoreReason, 'NoNodeClaim'>; readonly message: string }
  /** Due, without a NodeClaim: looked at again when one comes. */
  | ({ readonly kind: 'ignore'; readonly reason: 'NoNodeClaim' } & Incident)
  /** The repair block is not valid: no repair on a guess. */
  | { readonly kind: 'refuse'; readonly message: string }
  | ({ readonly kind: 'tolerate' } & Incident)
  | ({ readonly kind: 'blocked'; readonly reason: 'AmbiguousNodeClaim' } & Incident)
  | ({ readonly kind: 'blocked'; readonly reason: 'BeingDisrupted'; readonly other: Other } & Incident)
  | ({ readonly kind: 'vetoed'; readonly veto: Veto } & Incident)
  /** The NodeClaim is going away forcefully; the node has yet to disappear. */
  | ({ readonly kind: 'finishing' } & Incident)
  | DueNode;

/** What becomes of one node, by its conditions, its NodeClaim and the rules of its pool. Pure, total. */
export function decideNode({ now, node, owner, rules, ills, episodes, asked }: NodeObservation): NodeDecision {
  const { gateOpen, settings } = rules;
  if (!gateOpen) return { kind: 'ignore', reason: 'GateOff', message: 'featureGates.nodeRepair is off' };
  if (settings === undefined) {
    return { kind: 'ignore', reason: 'NotConfigured', message: 'no repair block applies to the pool of this node' };
  }
  if ('invalid' in settings) return { kind: 'refuse', message: settings.invalid };

  if (isReserved(node)) {
    const message = 'the node is the replacement of another one, and not in use yet';
    return { kind: 'ignore', reason: 'Healthy', message };
  }
  const health = judgeHealth(ills, { now, settings, episodes });
  if (health.kind === 'healthy') {
    return { kind: 'ignore', reason: 'Healthy', message: 'no condition of the node counts as unhealthy' };
  }
  if (health.kind === 'noTransitionTime') {
    return { kind: 'ignore', reason: 'NoTransitionTime', message: health.message };
  }
  const { message, severity, incident, entry, dueSince } = health;
  if (!isDue(now, incident.dueTime)) return { kind: 'tolerate', incident, message };
  const isOurs = owner.kind === 'none' && settings.nodesWithoutNodeClaim === 'TerminateInAutoScalingGroup';
  if (owner.kind === 'none' && !(isOurs && isUnmanaged(node))) {
    return { kind: 'ignore', reason: 'NoNodeClaim', incident, message: owner.message };
  }
  if (owner.kind === 'ambiguous') {
    return { kind: 'blocked', reason: 'AmbiguousNodeClaim', incident, message: owner.message };
  }
  const claim = owner.kind === 'claim' ? owner.claim : undefined;
  if (claim !== undefined && isTerminatingForcefully(claim, now)) {
    return { kind: 'finishing', incident, message: `NodeClaim ${claim.name} is being terminated` };
  }
  if (isStopped(node)) {
    return {
      kind: 'ignore',
      reason: 'InstanceStopped',
      message: `${message}; its instance is stopped, as somebody wants it`,
    };
  }
  const veto = vetoOf(node, claim, rules.poolVeto, now);
  if (veto !== undefined) return { kind: 'vetoed', incident, veto, message: `${message}; ${veto.message}` };
  const other = otherAtWork(node, claim, asked, now);
  if (other !== undefined) {
    const why = `${message}; somebody else is at work on the node: ${other.what}`;
    return { kind: 'blocked', reason: 'BeingDisrupted', other, incident, message: why };
  }
  const { priority = 0 } = entry.statement;
  const terms: Terms = { priority, ...termsOf(settings, entry) };
  return { kind: 'due', incident, claim, severity, terms, dueSince, message };
}

/** An instance of its own that Karpenter has nothing to do with: one of Karpenter's may only be waiting for its NodeClaim to show. */
function isUnmanaged({ providerID, labels, ownerClaim }: NodeView): boolean {
  return providerID !== undefined && labels[NODE_POOL_LABEL] === undefined && ownerClaim === undefined;
}

/** Being deleted, and its deadline has passed. */
function isTerminatingForcefully(claim: NodeClaimView, now: EpochMs): boolean {
  return claim.deletionTime !== undefined && endsBy(claim, now);
}

/** Whether a deadline stands there that is no later. Karpenter replaces one that does not parse. */
export function endsBy({ annotations }: NodeClaimView, time: EpochMs): boolean {
  const deadline = parseTimestamp(annotations[TERMINATION_TIMESTAMP_ANNOTATION] ?? '');
  return deadline !== undefined && isDue(time, deadline);
}

/** The pool of a node is that of its NodeClaim; its own label counts only while there is none for certain. */
export function poolOf(node: NodeView, owner: Owner): string | undefined {
  return (owner.kind === 'claim' ? owner.claim : node).labels[NODE_POOL_LABEL];
}

/** What holds for the nodes of one pool. */
export interface RepairRules {
  readonly gateOpen: boolean;
  /** `undefined`: no repair block applies to the pool. */
  readonly settings: RepairSettings | { readonly invalid: string } | undefined;
  readonly mode: 'Enforce' | 'Observe';
  /** Where the block stands, e.g. `NodePool default`. */
  readonly source: string | undefined;
  /** The veto of the pool itself. */
  readonly poolVeto: Vetoer | undefined;
  /** The `repairLimits` of policies; absent while no policy has any. */
  readonly limits?: LimitsInForce | undefined;
}

export const readableSettings = ({ settings }: RepairRules): RepairSettings | undefined =>
  settings === undefined || 'invalid' in settings ? undefined : settings;

/** What one policy says. */
export interface StatedLimits extends RepairLimits {
  /** `NodeLifecyclePolicy edge`. */
  readonly source: string;
}

export interface LimitsInForce {
  /**
   * The policies of the cluster that have limits, each with its generation. Between two times without any limit, and between two
   * with this one, nothing was left uncounted.
   */
  readonly basis: string;
  /** Those that bind the pool. */
  readonly binding: readonly StatedLimits[];
  /** A policy that selects the pool has limits that cannot be read: they might forbid what the others allow (I6). */
  readonly fault?: string | undefined;
}

/** An object that may carry a person's veto against the repair of a node. */
export interface Vetoer {
  readonly kind: 'Node' | 'NodeClaim' | 'NodePool';
  readonly name: string;
  readonly uid: string;
  /** The value of `curfew.dev/do-not-repair`; undefined: no veto. */
  readonly value: string | undefined;
}

export interface Veto {
  /** When it ends; undefined: when somebody takes it away. */
  readonly until: EpochMs | undefined;
  readonly message: string;
  /** The value says nothing that can be read; it holds nevertheless. */
  readonly invalid: boolean;
  readonly by: Vetoer;
}

/** Karpenter's own, on Nodes and NodeClaims; exactly `"true"`. */
const KARPENTER_VETO = 'karpenter.sh/do-not-repair';

/** The veto that holds longest, or undefined. */
export function vetoOf(
  node: NodeView,
  claim: NodeClaimView | undefined,
  pool: Vetoer | undefined,
  now: EpochMs,
): Veto | undefined {
  const carriers = [
    { kind: 'Node' as const, object: node },
    ...(claim === undefined ? [] : [{ kind: 'NodeClaim' as const, object: claim }]),
  ];
  const vetoes = carriers.flatMap(({ kind, object: { name, uid, annotations } }) => {
    const by: Vetoer = { kind, name, uid, value: annotations[DO_NOT_REPAIR_ANNOTATION] };
    const message = `${KARPENTER_VETO} on ${kind} ${name} holds until it is removed`;
    const karpenters: Veto = { until: undefined, message, invalid: false, by };
    return [readVeto(by, now) ?? [], annotations[KARPENTER_VETO] === 'true' ? karpenters : []].flat();
  });
  const pools = pool === undefined ? [] : (readVeto(pool, now) ?? []);
  return [...vetoes, pools].flat().toSorted((a, b) => (b.until ?? Infinity) - (a.until ?? Infinity))[0];
}

/**
 * `"true"` holds until it is taken away, an RFC 3339 instant until then, and any other value as `"true"` does (I6: its author wanted the
 * node left alone).
 */
function readVeto(by: Vetoer, now: EpochMs): Veto | undefined {
  if (by.value === undefined) return undefined;
  const on = `curfew.dev/do-not-repair on ${by.kind} ${by.name}`;
  if (by.value === 'true') return { until: undefined, message: `${on} holds until it is removed`, invalid: false, by };
  const until = parseTimestamp(by.value);
  if (until === undefined) {
    const value = quoteCut(by.value, 64);
    const message = `${on} holds until it is removed: its value must be "true" or an RFC 3339 instant, got ${value}`;
    return { until: undefined, message, invalid: true, by };
  }
  if (isDue(now, until)) return undefined;
  return { until, message: `${on} holds until ${toTimestamp(until)}`, invalid: false, by };
}

/** Somebody else at work. */
export interface Other {
  /** Whose mark it is, e.g. `taint karpenter.sh/disrupted`. */
  readonly what: string;
  /** After it was first seen it counts as a repair in flight for so long; after that it holds its own node alone. */
  readonly countsFor: DurationMs;
}

const COUNTS_FOR = hours(1);
const REBOOT_COUNTS_FOR = minutes(40);
const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler';
const AUTOSCALER_HOLDS_FOR = minutes(15);
/** An instance that somebody has stopped. */
const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';

const taintOf = ({ taints }: Pick<NodeView, 'taints'>, key: string) => taints?.find(each => each.key === key);

const isTrue = (list: readonly NodeCondition[] | undefined, type: string): boolean =>
  list?.some(each => each.type === type && each.status === 'True' && !isOwnCondition(each)) === true;

/** By which mark Karpenter says that it reboots the node. */
export function isRebooting(node: NodeView, claim: NodeClaimView | undefined): string | undefined {
  if (isTrue(claim?.conditions, 'Rebooting')) return 'condition Rebooting of the NodeClaim';
  return taintOf(node, 'karpenter.sh/rebooting') && 'taint karpenter.sh/rebooting';
}

/** By which mark it says that it is going to disrupt the node. */
export function isMarkedForDisruption(node: NodeView, claim: NodeClaimView | undefined): string | undefined {
  if (taintOf(node, 'karpenter.sh/disrupted')) return 'taint karpenter.sh/disrupted';
  return isTrue(claim?.conditions, 'DisruptionReason') ? 'condition DisruptionReason of the NodeClaim' : undefined;
}

/** @param asked what stands for the node in other systems, by its name */
export function otherAtWork(
  node: NodeView,
  claim: NodeClaimView | undefined,
  asked: string | undefined,
  now: EpochMs,
): Other | undefined {
  const other = (what: string, countsFor: DurationMs = COUNTS_FOR): Other => ({ what, countsFor });
  const reboot = isRebooting(node, claim);
  if (reboot !== undefined) return other(reboot, REBOOT_COUNTS_FOR);
  // What terminates it has set that taint, and a repair may force a termination.
  if (claim?.deletionTime === undefined && node.deletionTime === undefined) {
    const marked = isMarkedForDisruption(node, claim);
    if (marked !== undefined) return other(marked);
  }
  const removal = taintOf(node, AUTOSCALER_TAINT);
  const since = removal && Number(removal.value) * 1000;
  const isRead = since !== undefined && Number.isSafeInteger(since);
  if (isRead && !isDue(now, addDuration(toEpochMs(since), AUTOSCALER_HOLDS_FOR)))
    return other(`taint ${AUTOSCALER_TAINT}`);
  if (isTrue(node.conditions, 'MaintenanceInProgress')) return other('condition MaintenanceInProgress');
  return asked === undefined ? undefined : other(asked);
}

/** Its owner has stopped it: it is neither ill nor well. */
export const isStopped = ({ taints }: Pick<NodeView, 'taints'>): boolean =>
  taints?.some(({ key }) => key === SHUTDOWN_TAINT) === true;
