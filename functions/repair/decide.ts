/**
 * The rule of node repair for one node (docs/node-repair.md; I3, I6): tolerate an unhealthy condition until
 * `lastTransitionTime + toleration`; from then on the node is due, unless its NodeClaim is not known for certain or somebody vetoes.
 * What a whole pool allows is the pass's rule (`pass/decide.ts`). Pure: no I/O, no clock.
 */
import { quoteCut } from '../../shared/domain/cut-text.ts';
import {
  NODE_POOL_LABEL,
  TERMINATION_TIMESTAMP_ANNOTATION,
  type NodeClaimView,
} from '../../shared/domain/node-claim.ts';
import { DO_NOT_REPAIR_ANNOTATION, type NodeView } from '../../shared/domain/node.ts';
import type { Owner } from '../../shared/domain/node-owner.ts';
import type { RepairSettings } from '../../shared/domain/repair-policy.ts';
import { addDuration, isDue, minutes, parseTimestamp, toTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import type { LimitsInForce } from './limits/concurrent.ts';
import { judgeHealth, nextEpisodes, type Episode, type RepairIncident } from './incident.ts';

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

export interface NodeObservation {
  readonly now: EpochMs;
  readonly node: NodeView;
  readonly owner: Owner;
  readonly rules: RepairRules;
  /** What is remembered of earlier unhealthy times. */
  readonly episodes: readonly Episode[];
  /** An earlier rung for this incident did not help: whatever condition the node has by now, it is still due. */
  readonly escalates?: RepairIncident | undefined;
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
  readonly message: string;
}

export type NodeDecision =
  /** Nothing to do: the incident is over, or never was one. */
  | { readonly kind: 'ignore'; readonly reason: Exclude<IgnoreReason, 'NoNodeClaim'>; readonly message: string }
  /** Due, without a NodeClaim: looked at again when one comes. */
  | {
      readonly kind: 'ignore';
      readonly reason: 'NoNodeClaim';
      readonly incident: RepairIncident;
      readonly message: string;
    }
  /** The repair block is not valid: no repair on a guess. */
  | { readonly kind: 'refuse'; readonly message: string }
  | { readonly kind: 'tolerate'; readonly incident: RepairIncident; readonly message: string }
  | {
      readonly kind: 'blocked';
      readonly reason: 'AmbiguousNodeClaim';
      readonly incident: RepairIncident;
      readonly message: string;
    }
  | { readonly kind: 'vetoed'; readonly incident: RepairIncident; readonly veto: Veto; readonly message: string }
  /** The NodeClaim is going away forcefully; the node has yet to disappear. */
  | { readonly kind: 'finishing'; readonly incident: RepairIncident; readonly message: string }
  | DueNode;

/** What becomes of one node, by its conditions, its NodeClaim and the rules of its pool. Pure, total. */
export function decide({ now, node, owner, rules, episodes, escalates }: NodeObservation): NodeDecision {
  const { gateOpen, settings } = rules;
  if (!gateOpen) return { kind: 'ignore', reason: 'GateOff', message: 'featureGates.nodeRepair is off' };
  if (settings === undefined) {
    return { kind: 'ignore', reason: 'NotConfigured', message: 'no repair block applies to the pool of this node' };
  }
  if ('invalid' in settings) return { kind: 'refuse', message: settings.invalid };

  const health = judgeHealth(node, settings, nextEpisodes(node, settings, episodes, now));
  if (health.kind === 'healthy') {
    return { kind: 'ignore', reason: 'Healthy', message: 'no condition of the node counts as unhealthy' };
  }
  if (health.kind === 'noTransitionTime') {
    return { kind: 'ignore', reason: 'NoTransitionTime', message: health.message };
  }
  const { message, severity } = health;
  const incident = escalates ?? health.incident;
  if (escalates === undefined && !isDue(now, incident.dueTime)) return { kind: 'tolerate', incident, message };
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
  const veto = findVeto(vetoersOf(node, claim, rules), now);
  if (veto !== undefined) return { kind: 'vetoed', incident, veto, message: `${message}; ${veto.message}` };
  return { kind: 'due', incident, claim, severity, message };
}

/** An instance of its own that Karpenter has nothing to do with: one of Karpenter's may only be waiting for its NodeClaim to show. */
function isUnmanaged({ providerID, labels, ownerClaim }: NodeView): boolean {
  return providerID !== undefined && labels[NODE_POOL_LABEL] === undefined && ownerClaim === undefined;
}

function vetoersOf(node: NodeView, claim: NodeClaimView | undefined, { poolVeto }: RepairRules): readonly Vetoer[] {
  const vetoer = (kind: 'Node' | 'NodeClaim', { name, uid, annotations }: NodeView | NodeClaimView): Vetoer => ({
    kind,
    name,
    uid,
    value: annotations[DO_NOT_REPAIR_ANNOTATION],
  });
  return [
    vetoer('Node', node),
    ...(claim === undefined ? [] : [vetoer('NodeClaim', claim)]),
    ...(poolVeto === undefined ? [] : [poolVeto]),
  ];
}

/** Being deleted, and its deadline has passed. */
function isTerminatingForcefully(claim: NodeClaimView, now: EpochMs): boolean {
  return claim.deletionTime !== undefined && holdsPastInstant(claim, now);
}

/** Karpenter keeps a deadline that has passed and replaces one that lies ahead or does not parse. */
export function holdsPastInstant({ annotations }: NodeClaimView, now: EpochMs): boolean {
  const instant = parseTimestamp(annotations[TERMINATION_TIMESTAMP_ANNOTATION] ?? '');
  return instant !== undefined && instant <= now;
}

/** An object that may carry a person's veto against the repair of a node: the annotation `curfew.dev/do-not-repair`. */
export interface Vetoer {
  readonly kind: 'Node' | 'NodeClaim' | 'NodePool';
  readonly name: string;
  readonly uid: string;
  /** The annotation's value; undefined: no veto. */
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

/**
 * The veto that holds longest, or undefined. `"true"` holds until it is taken away, an RFC 3339 instant until then, and any other
 * value as `"true"` does (I6: its author wanted the node left alone).
 */
function findVeto(vetoers: readonly Vetoer[], now: EpochMs): Veto | undefined {
  const vetoes = vetoers.flatMap(vetoer => readVeto(vetoer, now) ?? []);
  return vetoes.toSorted((a, b) => (b.until ?? Infinity) - (a.until ?? Infinity))[0];
}

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

/** Without an end a veto is looked at again this often; a change of the annotation is an event of its own. */
const VETO_CHECK = minutes(5);
/** When a veto is looked at again. */
export const vetoCheckTime = ({ until }: Veto, now: EpochMs): EpochMs => until ?? addDuration(now, VETO_CHECK);
