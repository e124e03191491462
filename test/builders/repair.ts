/** Builders for repair tests: good defaults, override what matters. */
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import type { NodeCondition, NodeView } from '../../shared/domain/node.ts';
import type { RepairSettings } from '../../shared/domain/repair-policy.ts';
import { minutes, parseTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import type { NodeObservation, RepairRules } from '../../functions/repair/decide.ts';
import { decidePass } from '../../functions/repair/pass/decide.ts';
import type { PassObservation } from '../../functions/repair/pass/decision.ts';
import type { RepairAttempt } from '../../functions/repair/pass/pool.ts';
import { NEW_POOL } from '../../functions/repair/record.ts';

/** An instant from RFC 3339 text; a test's own mistake throws. */
export function at(text: string): EpochMs {
  const instant = parseTimestamp(text);
  if (instant === undefined) throw new Error(`not a timestamp: ${text}`);
  return instant;
}

/** The instant T of the worked examples. */
export const T = at('2024-11-01T15:02:48Z');

export function aCondition(type: string, status: string, since: EpochMs = T): NodeCondition {
  return { type, status, reason: 'Test', message: '', lastTransitionTime: since };
}

export function aNode(conditions: readonly NodeCondition[], overrides: Partial<NodeView> = {}): NodeView {
  return {
    name: 'n1',
    uid: 'uid-n1',
    providerID: 'aws:///us-west-2a/i-1',
    labels: { 'karpenter.sh/nodepool': 'default' },
    annotations: {},
    conditions,
    deletionTime: undefined,
    ...overrides,
  };
}

export function aNodeClaim(overrides: Partial<NodeClaimView> = {}): NodeClaimView {
  return {
    name: 'nc1',
    uid: 'uid-nc1',
    resourceVersion: '7',
    providerID: 'aws:///us-west-2a/i-1',
    labels: { 'karpenter.sh/nodepool': 'default' },
    annotations: {},
    finalizers: ['karpenter.sh/termination'],
    deletionTime: undefined,
    ...overrides,
  };
}

/** A `repair` block as its author writes it, parsed; a test's own mistake throws. */
export function someSettings(block: JsonObject = {}): RepairSettings {
  const parsed = parseRepairBlock(block, 'spec.repair');
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

export function someRules(block: JsonObject = {}, overrides: Partial<RepairRules> = {}): RepairRules {
  return {
    gateOpen: true,
    settings: someSettings(block),
    mode: 'Enforce',
    source: 'NodePool default',
    poolVeto: undefined,
    ...overrides,
  };
}

/** A node that is due, with its NodeClaim. */
export function anObservation(overrides: Partial<NodeObservation> = {}): NodeObservation {
  return {
    now: (T + minutes(30)) as EpochMs,
    node: aNode([aCondition('Ready', 'False')]),
    owner: { kind: 'claim', claim: aNodeClaim() },
    rules: someRules(),
    episodes: [],
    ...overrides,
  };
}

export const READY: NodeCondition = aCondition('Ready', 'True');
export const SICK: NodeCondition = aCondition('Ready', 'False');

/** A node of its own instance. */
export function aPoolNode(name: string, condition: NodeCondition = SICK, overrides: Partial<NodeView> = {}): NodeView {
  return aNode([condition], { name, uid: `uid-${name}`, providerID: `aws:///us-west-2a/i-${name}`, ...overrides });
}

/** The NodeClaim of a node that `aPoolNode` made. */
export function claimOf(node: NodeView, overrides: Partial<NodeClaimView> = {}): NodeClaimView {
  const { name, providerID, labels } = node;
  return aNodeClaim({
    name: `claim-${name}`,
    uid: `uid-claim-${name}`,
    providerID,
    nodeName: name,
    labels,
    ...overrides,
  });
}

/** `unhealthy` due nodes `n1`, `n2`, … of a pool of `size`, the first longest past due. */
export function aPoolOf(size: number, unhealthy: number): readonly NodeView[] {
  return Array.from({ length: size }, (_, index) => {
    const since = (T - minutes(60 - index)) as EpochMs;
    return aPoolNode(`n${index + 1}`, index < unhealthy ? aCondition('Ready', 'False', since) : READY);
  });
}

/** A pass over these nodes, each with its NodeClaim. */
export function aPass(nodes: readonly NodeView[], overrides: Partial<PassObservation> = {}): PassObservation {
  return {
    now: (T + minutes(30)) as EpochMs,
    pool: 'default',
    rules: someRules(),
    nodes,
    claims: nodes.map(node => claimOf(node)),
    episodes: new Map(),
    state: NEW_POOL,
    ...overrides,
  };
}

/** What a pass says: `repair n1`, `blocked n2 UnhealthyThreshold`, sorted. */
export function verdictsOf(observation: PassObservation): readonly string[] {
  return decidePass(observation)
    .verdicts.map(verdict => {
      const reason = verdict.kind === 'blocked' ? ` ${verdict.reason}` : '';
      return `${verdict.kind} ${verdict.node.name}${reason}`;
    })
    .toSorted();
}

/** The attempt at a node of `aPoolNode`. */
export function anAttempt(name: string, overrides: Partial<RepairAttempt> = {}): RepairAttempt {
  const incident = { conditionType: 'Ready', conditionStatus: 'False', lastTransitionTime: T, dueTime: T };
  return {
    number: 1,
    phase: 'accepted',
    intendedTime: (T + minutes(30)) as EpochMs,
    node: { name, uid: `uid-${name}` },
    claim: { name: `claim-${name}`, uid: `uid-claim-${name}` },
    incident,
    rung: 0,
    action: 'Terminate',
    terminationTimestamp: '2024-11-01T15:32:48Z',
    ...overrides,
  };
}
