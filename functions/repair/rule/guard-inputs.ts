/**
 * The facts that guards and budgets count, out of what a pass has read, and which nodes count in threshold, zone and freeze: each
 * of these counts asks here, be it of the pool or of the cluster. Pure.
 */
import { type DisruptionBudget, disruptionBudgetOf } from './disruption-budget.ts';
import type { JudgedPool } from './judged-pool.ts';
import type { PoolFacts } from './pool-facts.ts';
import { poolOf } from './pool-members.ts';
import type { Attempt } from '../node/attempt-record.ts';
import { begunTime, nodesInFlight } from '../node/rule/finding.ts';
import { isMended, readableSettings } from '../node/rule/incident.ts';
import { isStopped } from '../node/rule/other-work.ts';
import { isJustRebooted } from '../node/rule/reboot-marks.ts';
import { type VetoSource, vetoOf } from '../node/rule/vetoes.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { indexOwners, type Owner, ownerOf } from '../../../shared/domain/node-owner.ts';
import { isReserved, type NodeView } from '../../../shared/domain/node.ts';
import {
  matchRepairConditions,
  type RepairCondition,
  repairConditionsOf,
  type RepairSettings,
} from '../../../shared/domain/repair-policy.ts';
import { addDuration, earliest, type EpochMs, hours, isDue } from '../../../shared/domain/time.ts';

export interface GuardInputs {
  readonly now: EpochMs;
  readonly settings: RepairSettings;
  /** The area that the threshold counts, in messages: `NodePool default`, or `the cluster`. */
  readonly area: string;
  /** The place of the pool's nodes, in messages: `in NodePool default`, or `among the nodes without a NodePool`. */
  readonly place: string;
  /** The nodes of the pool. */
  readonly poolNodes: readonly NodeView[];
  /** The nodes that the threshold may count: those of the pool, of the cluster without a NodePool. */
  readonly thresholdNodes: readonly NodeView[];
  /** Finds out what is known of a node beside its Node, by which it counts. */
  readonly knownOf: (node: NodeView) => KnownNode;
  /** All nodes of the cluster; undefined: neither freeze nor zone are in force, or nothing is due. */
  readonly nodes: readonly NodeView[] | undefined;
  /** The repair conditions by which a node of any pool is unhealthy. */
  readonly repairConditionsOf: (node: NodeView) => readonly RepairCondition[];
  /** The disruption budget of the NodePool; undefined: none applies. */
  readonly budget?: DisruptionBudget | undefined;
  /** Reason why it is not known whether another controller is at work on a node; undefined: it is known. */
  readonly requestsFault?: string | undefined;
  /** Whether Curfew has acted on the node lately. */
  readonly isActedUpon: (node: NodeView) => boolean;
}

type CountedFacts = Pick<
  PoolFacts,
  'pool' | 'poolSettings' | 'nodes' | 'claims' | 'dueFacts' | 'poolRecord' | 'now' | 'activity'
>;

/** The facts that the guards count; undefined: nothing may be repaired. */
export function guardInputsOf(
  { pool, poolSettings, nodes: ownNodes, claims, dueFacts, poolRecord, now, activity }: CountedFacts,
  { presentNodes: findings }: Pick<JudgedPool, 'presentNodes'>,
): GuardInputs | undefined {
  const settings = readableSettings(poolSettings.repair);
  if (settings === undefined) return undefined;
  const cluster = dueFacts?.cluster;
  const index = indexOwners(ownNodes, [...claims.values()]);
  const ownerIn = (node: NodeView): Owner => ownerOf(node, cluster?.owners ?? index);
  // A NodeClaim of another pool may own a node that has the label of this one.
  const poolNodes = ownNodes.filter(node => poolOf(node, ownerIn(node)) === pool);
  const repairConditions = repairConditionsOf(settings);
  const ownUids = new Set(ownNodes.map(({ uid }) => uid));
  const mended = new Set(findings.flatMap(({ record, node }) => (record && isMended(record) ? node.uid : [])));
  const uidsOfOtherWork = new Set(
    findings.flatMap(each => (begunTime(each, poolRecord) === undefined ? each.node.uid : [])),
  );
  const isInFlight = ({ uid }: NodeView): boolean =>
    poolRecord.inFlight[uid] !== undefined && !uidsOfOtherWork.has(uid);
  const claimOf = (node: NodeView): NodeClaimView | undefined => {
    const owner = ownerOf(node, index);
    return owner.kind === 'claim' ? owner.claim : undefined;
  };
  const conditionsFor = (node: NodeView): readonly RepairCondition[] =>
    ownUids.has(node.uid) || cluster === undefined ? repairConditions : cluster.repairConditionsOf(node);
  const isUnhealthy = (node: NodeView): boolean => matchRepairConditions(node, conditionsFor(node)).length > 0;
  const ended = new Map(findings.map(({ node, record }) => [node.uid, instanceEndTimeOf(record?.attempt)]));
  const knownOf = (node: NodeView): KnownNode => {
    const owner = ownerIn(node);
    const poolName = poolOf(node, owner);
    // Of a Node that says its pool alone nobody knows whether it had a NodeClaim: it counts while it is well.
    const isLeftOver =
      owner.kind === 'none' && (node.ownerClaim !== undefined || (poolName !== undefined && isUnhealthy(node)));
    return {
      claim: owner.kind === 'claim' ? owner.claim : undefined,
      isLeftOver,
      instanceEndTime: ended.get(node.uid) ?? cluster?.instanceEnds.get(node.uid),
      poolVeto: cluster?.vetoOfPool(poolName),
    };
  };
  const budgetChoice = settings.disruptionBudgets;
  // Most NodePools state no budgets.
  const hasBudget = budgetChoice !== 'Explicit' || poolSettings.nodePool?.spec?.['disruption'] !== undefined;
  return {
    now,
    settings,
    area: pool === undefined ? 'the cluster' : `NodePool ${pool}`,
    place: pool === undefined ? 'among the nodes without a NodePool' : `in NodePool ${pool}`,
    poolNodes,
    thresholdNodes: pool === undefined ? (cluster?.nodes ?? poolNodes) : poolNodes,
    knownOf,
    budget: hasBudget
      ? disruptionBudgetOf({
          pool: poolSettings.nodePool,
          budgetChoice,
          nodes: poolNodes,
          claimOf,
          findings,
          inFlight: nodesInFlight(findings, poolRecord, now),
          activity,
          now,
        })
      : undefined,
    requestsFault: dueFacts?.requestsFault,
    nodes: cluster?.nodes,
    repairConditionsOf: conditionsFor,
    isActedUpon: node => isInFlight(node) || mended.has(node.uid) || isJustRebooted(node, now),
  };
}

/** Facts about a node that its Node does not show. */
export interface KnownNode {
  /** Its NodeClaim; undefined: it has none, or it is not certain which. */
  readonly claim: NodeClaimView | undefined;
  /** Whether its NodeClaim is gone, as far as anybody can tell. */
  readonly isLeftOver: boolean;
  /** Time at which a repair had the Auto Scaling group end its instance; undefined: none did. */
  readonly instanceEndTime: EpochMs | undefined;
  /** The veto on its NodePool; undefined: its pool has no NodePool, or the cluster is not counted. */
  readonly poolVeto: VetoSource | undefined;
}

/** Time at which the attempt had the instance of a node without a NodeClaim ended; undefined: it did not. */
export const instanceEndTimeOf = (attempt: Attempt | undefined): EpochMs | undefined =>
  attempt?.action === 'Terminate' && attempt.claim === undefined && attempt.phase === 'accepted'
    ? attempt.time
    : undefined;

/** A node that is going counts in zone and cluster for this long. */
const GOING_COUNTS_FOR = hours(1);

/** Time since which a node is going: it or its NodeClaim is being deleted, or its instance was ended. undefined: it stays. */
const goingSince = ({ deletionTime }: NodeView, { claim, instanceEndTime }: KnownNode): EpochMs | undefined =>
  [deletionTime, claim?.deletionTime, instanceEndTime].reduce((first, time) => earliest(first, time), undefined);

/** Whether repair may touch the node: it is not vetoed, stopped, left over, going or reserved as a replacement. */
export const countsInThreshold = (node: NodeView, known: KnownNode, now: EpochMs): boolean =>
  !isReserved(node) &&
  !isStopped(node) &&
  !known.isLeftOver &&
  goingSince(node, known) === undefined &&
  vetoOf(node, known.claim, known.poolVeto, now) === undefined;

/** Whether the node may be a sign of an outage of its zone or of the cluster: it is not stopped, nor going for long. */
export function countsInOutage(node: NodeView, known: KnownNode, now: EpochMs): boolean {
  const since = goingSince(node, known);
  return !isStopped(node) && (since === undefined || !isDue(now, addDuration(since, GOING_COUNTS_FOR)));
}
