/** The facts that guards and budgets count, out of what a pass has read. Pure. */
import { type DisruptionBudget, disruptionBudgetOf } from './disruption-budget.ts';
import type { JudgedPool } from './judged-pool.ts';
import type { PoolFacts } from './pool-facts.ts';
import { begunTime, nodesInFlight } from '../node/rule/finding.ts';
import { isMended, readableSettings } from '../node/rule/incident.ts';
import { isJustRebooted } from '../node/rule/reboot-marks.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { type RepairCondition, repairConditionsOf, type RepairSettings } from '../../../shared/domain/repair-policy.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';

export interface GuardInputs {
  readonly now: EpochMs;
  readonly settings: RepairSettings;
  /** The area in messages: `NodePool default`, or `the cluster`. */
  readonly area: string;
  /** The nodes that the threshold may count. */
  readonly poolNodes: readonly NodeView[];
  readonly claimOf: (node: NodeView) => NodeClaimView | undefined;
  /** Whether the node has no NodeClaim. False also if several may be its NodeClaim. */
  readonly isUnclaimed: (node: NodeView) => boolean;
  /** Whether the pool is that of nodes without a NodePool. A node without a NodeClaim is not left over there. */
  readonly isUnmanaged: boolean;
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
  const budgetChoice = settings.disruptionBudgets;
  // Most NodePools state no budgets.
  const hasBudget = budgetChoice !== 'Explicit' || poolSettings.nodePool?.spec?.['disruption'] !== undefined;
  return {
    now,
    settings,
    area: pool === undefined ? 'the cluster' : `NodePool ${pool}`,
    poolNodes: pool === undefined ? (cluster?.nodes ?? ownNodes) : ownNodes,
    claimOf,
    isUnclaimed: node => ownerOf(node, index).kind === 'none',
    budget: hasBudget
      ? disruptionBudgetOf({
          pool: poolSettings.nodePool,
          budgetChoice,
          nodes: ownNodes,
          claimOf,
          findings,
          inFlight: nodesInFlight(findings, poolRecord, now),
          activity,
          now,
        })
      : undefined,
    isUnmanaged: pool === undefined,
    requestsFault: dueFacts?.requestsFault,
    nodes: cluster?.nodes,
    repairConditionsOf: node =>
      ownUids.has(node.uid) || cluster === undefined ? repairConditions : cluster.repairConditionsOf(node),
    isActedUpon: node => isInFlight(node) || mended.has(node.uid) || isJustRebooted(node, now),
  };
}
