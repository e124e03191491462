/** Builders for repair tests: good defaults, override what matters. */
import { decide } from '../../functions/repair/decide.ts';
import type { Attempt } from '../../functions/repair/node/attempt-record.ts';
import { judgeNode } from '../../functions/repair/node/decide.ts';
import type { NodeRecord } from '../../functions/repair/node/record.ts';
import { judgeGone } from '../../functions/repair/node/rule/attempt-verdict.ts';
import { type NodeFinding, type PresentNode, verdictOf } from '../../functions/repair/node/rule/finding.ts';
import { type HealthContext, judgeHealth } from '../../functions/repair/node/rule/health.ts';
import { readableSettings } from '../../functions/repair/node/rule/incident.ts';
import type { JudgeContext } from '../../functions/repair/node/rule/node-facts.ts';
import type { UnhealthyCondition } from '../../functions/repair/node/rule/onset.ts';
import type { RepairInForce } from '../../functions/repair/node/rule/settings-in-force.ts';
import { NEW_POOL, type PoolRecord } from '../../functions/repair/pool-record.ts';
import type { ConcurrencyLimits } from '../../functions/repair/rule/concurrency-limits.ts';
import { guardInputsOf } from '../../functions/repair/rule/guard-inputs.ts';
import type { ClusterNodes } from '../../functions/repair/rule/pool-facts.ts';
import type { PoolDecision } from '../../functions/repair/rule/pool-decision.ts';
import { activity } from '../../shared/contract/budget-schedule.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import type { JsonObject, KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { indexOwners } from '../../shared/domain/node-owner.ts';
import type { NodeCondition, NodeView } from '../../shared/domain/node.ts';
import { repairConditionsOf, type RepairSettings } from '../../shared/domain/repair-policy.ts';
import { addDuration, type EpochMs, hours, minutes, parseTimestamp } from '../../shared/domain/time.ts';

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
    resourceVersion: '1',
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

export function someRepairInForce(block: JsonObject = {}, overrides: Partial<RepairInForce> = {}): RepairInForce {
  return {
    gateOpen: true,
    settings: someSettings(block),
    mode: 'Enforce',
    source: 'NodePool default',
    poolVeto: undefined,
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

/** A pool of these nodes, as a pass sees it. */
export interface PoolWorld {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly repair: RepairInForce;
  readonly nodes: readonly NodeView[];
  readonly claims: readonly NodeClaimView[];
  /** By UID. */
  readonly records: Readonly<Record<string, NodeRecord>>;
  /** What is remembered of Nodes that are gone, by UID. */
  readonly gone?: Readonly<Record<string, NodeRecord>>;
  readonly poolRecord: PoolRecord;
  /** All nodes of the cluster; absent: those of the pool. Each of another pool has its NodeClaim. */
  readonly cluster?: readonly NodeView[];
  /** What is known of the cluster beside its nodes, where it is something else. */
  readonly known?: Partial<Omit<ClusterNodes, 'nodes'>>;
  readonly concurrencyLimits?: (own: ReadonlySet<string>) => ConcurrencyLimits;
  /** What EC2 says of nodes, by UID. */
  readonly answers?: ReadonlyMap<string, string>;
  readonly nodePool?: KubernetesObject | undefined;
  /** The rule, where it is another one. */
  readonly decide?: typeof decide;
}

/** What a look at one node rests on, beside the node. */
export interface Look extends Partial<Omit<JudgeContext, 'owners' | 'claims' | 'nodesByName'>> {
  readonly claims?: readonly NodeClaimView[];
  /** Other nodes of the pool. */
  readonly others?: readonly NodeView[];
  /** What is remembered of the node. */
  readonly record?: NodeRecord | undefined;
}

function contextOf(nodes: readonly NodeView[], { claims, ...given }: Omit<Look, 'others' | 'record'>): JudgeContext {
  const owned = claims ?? nodes.map(node => claimOf(node));
  return {
    now: addDuration(T, minutes(30)),
    pool: 'default',
    repair: someRepairInForce(),
    owners: indexOwners(nodes, owned),
    claims: new Map(owned.map(claim => [claim.uid, claim])),
    seenChanges: new Map(),
    changesTime: undefined,
    isUnprompted: undefined,
    isMade: () => false,
    drainEnds: new Map(),
    isPoolGone: false,
    launchPause: undefined,
    externalRequests: new Map(),
    basisOf: () => '',
    nodesByName: new Map(nodes.map(node => [node.name, node])),
    ...given,
  };
}

/** What holds of every finding, as `Finding` says: how the node counts by what is said of it, and by its attempt. */
export function checked<Found extends NodeFinding>(finding: Found): Found {
  const { verdict, state, needsCleanUp, record, node } = finding;
  const kind = verdict?.kind ?? '';
  const isBroken =
    (['underWay', 'outcomeUnknown', 'repair'].includes(kind) && state !== 'inFlight') ||
    (state === 'idle' && (kind.startsWith('stuck') || record?.attempt !== undefined)) ||
    (kind === 'recovered' && !needsCleanUp) ||
    (kind === 'gone' && state !== 'idle');
  if (isBroken) throw new Error(`${node.name} is ${state} under ${kind}, takes back ${needsCleanUp}`);
  return finding;
}

/** What is true of a node under these settings, and since when. */
export const unhealthyConditionsOf = (
  node: Pick<NodeView, 'conditions' | 'creationTime'>,
  { settings, ...more }: Omit<HealthContext, 'repair' | 'episodes'> & { readonly settings: RepairSettings },
): readonly UnhealthyCondition[] => judgeHealth(node, { repair: { settings }, episodes: [], ...more }).unhealthy;

/** What a pass finds of one node, before the pool decides. */
export const aFinding = (node: NodeView, { record, others = [], ...given }: Look = {}): PresentNode =>
  checked(judgeNode(contextOf([node, ...others], given), node, record));

/** What a pass decides over these nodes, each with its NodeClaim. */
export function aDecision(nodes: readonly NodeView[], overrides: Partial<PoolWorld> = {}): PoolDecision {
  const world: PoolWorld = {
    now: addDuration(T, minutes(30)),
    pool: 'default',
    repair: someRepairInForce(),
    nodes,
    claims: nodes.map(node => claimOf(node)),
    records: {},
    poolRecord: NEW_POOL,
    ...overrides,
  };
  const { now, pool, repair, claims, records, poolRecord, concurrencyLimits, answers } = world;
  const settings = readableSettings(repair);
  const context = contextOf(nodes, { now, pool, repair, claims });
  const presentNodes = nodes.map(node => judgeNode(context, node, records[node.uid]));
  const gone = Object.entries(world.gone ?? {}).map(([uid, record]) => judgeGone(uid, record, context));
  const findings = [...presentNodes, ...gone];
  const clusterNodes = world.cluster ?? nodes;
  const clusterClaims = overrides.claims ?? [...new Set([...nodes, ...clusterNodes])].map(node => claimOf(node));
  const cluster = settings && {
    nodes: clusterNodes,
    owners: indexOwners(clusterNodes, clusterClaims),
    repairConditionsOf: () => repairConditionsOf(settings),
    pools: [],
    vetoOfPool: () => undefined,
    instanceEnds: new Map(),
    ...world.known,
  };
  const { nodePool, decide: rule = decide } = world;
  const facts = {
    pool,
    poolSettings: { repair, nodePool },
    nodes,
    claims: new Map(claims.map(claim => [claim.uid, claim])),
    dueFacts: cluster && { cluster, externalRequests: new Map() },
    poolRecord,
    now,
    activity,
  };
  const guardInputs = guardInputsOf(facts, { presentNodes });
  const decision = rule({ now, pool, repair, findings, poolRecord, guardInputs, concurrencyLimits, answers });
  decision.findings.forEach(checked);
  return decision;
}

/** What a pass says: `repair n1`, `blocked n2 UnhealthyThreshold`, sorted. */
export function verdictsOf(decision: PoolDecision): readonly string[] {
  return decision.findings
    .flatMap(look => {
      const verdict = verdictOf(look);
      if (verdict === undefined) return [];
      const { kind, node } = verdict;
      if (kind === 'blockedByPool') return [`blocked ${node.name} ${verdict.blocker.reason}`];
      if (kind === 'blockedByNode') return [`blocked ${node.name} ${verdict.reason}`];
      return [`${kind} ${node.name}`];
    })
    .toSorted();
}

/** The attempt at a node of `aPoolNode`. */
export function anAttempt(name: string, overrides: Partial<Attempt> = {}): Attempt {
  const dueCondition = { conditionType: 'Ready', conditionStatus: 'False', lastTransitionTime: T, dueTime: T };
  const time = addDuration(T, minutes(30));
  return {
    number: 1,
    phase: 'accepted',
    time,
    claim: { name: `claim-${name}`, uid: `uid-claim-${name}` },
    dueCondition,
    action: 'Terminate',
    key: 'Terminate||3600000',
    until: addDuration(time, hours(1)),
    pods: { kind: 'until', time, annotation: { set: '2024-11-01T15:32:48Z' } },
    ...overrides,
  } as Attempt;
}
