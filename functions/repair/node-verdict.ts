/**
 * The rule of node repair for one node (docs/node-repair.md; I3, I6): tolerate an unhealthy condition until it has lasted its toleration;
 * from then on the node is due, unless its NodeClaim is not known for certain, somebody vetoes, or somebody else is at work on it. What a
 * whole pool allows is `decide.ts`. Pure: no I/O, no clock.
 */
import {
  NODE_POOL_LABEL,
  type NodeClaimView,
  TERMINATION_TIMESTAMP_ANNOTATION,
} from '../../shared/domain/node-claim.ts';
import type { Owner } from '../../shared/domain/node-owner.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { type DrainBound, type RepairAction, termsOf } from '../../shared/domain/repair-policy.ts';
import { type EpochMs, isDue, parseTimestamp } from '../../shared/domain/time.ts';
import { type Ill, judgeHealth } from './illness.ts';
import { type Other, type Veto, otherAtWork, vetoOf } from './others.ts';
import { isReserved } from './replacement.ts';
import type { RepairRules } from './rules.ts';
import { type Episode, type RepairIncident } from './state.ts';

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

export type IgnoreReason = 'GateOff' | 'NotConfigured' | 'Healthy' | 'NoTransitionTime' | 'NoNodeClaim';

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
export function isTerminatingForcefully(claim: NodeClaimView, now: EpochMs): boolean {
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
