/** Gathers the facts that the guards count, and the due nodes that EC2 is asked about. Pure. */
import { disruptionBudgetOf } from './disruption-budget.ts';
import { dueOf } from './finding.ts';
import { createGuards, type GuardInputs } from './guards.ts';
import { begunTime } from './in-flight.ts';
import { isMended, readableSettings } from './incident.ts';
import type { PoolFacts } from './pool-facts.ts';
import type { JudgedPool } from './pool-verdict.ts';
import { isJustRebooted } from './reboot-marks.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { type Confirmation, statementsOf } from '../../../shared/domain/repair-policy.ts';

type CountedFacts = Pick<PoolFacts, 'pool' | 'rules' | 'nodes' | 'claims' | 'dueFacts' | 'state' | 'now' | 'activity'>;

/** The facts that the guards count; undefined: nothing may be repaired. */
export function guardInputsOf(
  { pool, rules, nodes: ownNodes, claims, dueFacts, state, now, activity }: CountedFacts,
  { present: findings }: Pick<JudgedPool, 'present'>,
): GuardInputs | undefined {
  const settings = readableSettings(rules.repair);
  if (settings === undefined) return undefined;
  const cluster = dueFacts?.cluster;
  const index = indexOwners(ownNodes, [...claims.values()]);
  const statements = statementsOf(settings);
  const ownUids = new Set(ownNodes.map(({ uid }) => uid));
  const mended = new Set(findings.flatMap(({ record, node }) => (record && isMended(record) ? node.uid : [])));
  const uidsOfOtherWork = new Set(
    findings.flatMap(each => (begunTime(each, state) === undefined ? each.node.uid : [])),
  );
  const isInFlight = ({ uid }: NodeView): boolean => state.inFlight[uid] !== undefined && !uidsOfOtherWork.has(uid);
  const claimOf = (node: NodeView): NodeClaimView | undefined => {
    const owner = ownerOf(node, index);
    return owner.kind === 'claim' ? owner.claim : undefined;
  };
  const budgetChoice = settings.disruptionBudgets;
  // Most NodePools state no budgets.
  const hasBudget = budgetChoice !== 'Explicit' || rules.pool?.spec?.['disruption'] !== undefined;
  return {
    now,
    settings,
    area: pool === undefined ? 'the cluster' : `NodePool ${pool}`,
    poolNodes: pool === undefined ? (cluster?.nodes ?? ownNodes) : ownNodes,
    claimOf,
    isUnclaimed: node => ownerOf(node, index).kind === 'none',
    budget: hasBudget
      ? disruptionBudgetOf({ pool: rules.pool, budgetChoice, nodes: ownNodes, claimOf, findings, activity, now })
      : undefined,
    isUnmanaged: pool === undefined,
    requestsFault: dueFacts?.requestsFault,
    nodes: cluster?.nodes,
    statementsOf: node => (ownUids.has(node.uid) || cluster === undefined ? statements : cluster.statementsOf(node)),
    isActedUpon: node => isInFlight(node) || mended.has(node.uid) || isJustRebooted(node, now),
  };
}

/** A node that EC2 is to confirm. */
export interface Unconfirmed {
  readonly node: NodeView;
  readonly check: Confirmation;
}

/**
 * Nodes that EC2 is asked about: those that freeze, zone and threshold let through, so that nothing is asked in an
 * outage.
 */
export function toBeConfirmed({ present }: JudgedPool, guardInputs: GuardInputs | undefined): readonly Unconfirmed[] {
  const asking = present.flatMap((finding): Unconfirmed[] => {
    const check = dueOf(finding)?.due.entryPolicy.confirm;
    return check === undefined ? [] : [{ node: finding.node, check }];
  });
  if (guardInputs === undefined || asking.length === 0) return [];
  const guards = createGuards(guardInputs);
  return asking.filter(({ node }) => guards.blockerOf(node) === undefined);
}
