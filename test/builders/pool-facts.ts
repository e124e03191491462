/** What a pass has read of a pool. */
import { NEW_POOL } from '../../functions/repair/pool-record.ts';
import type { PoolFacts } from '../../functions/repair/rule/pool-facts.ts';
import { activity } from '../../shared/contract/budget-schedule.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { NOW } from './pool.ts';
import { claimOf, someRepairInForce } from './repair.ts';

/** A pool of these nodes, each with its NodeClaim but for the unclaimed ones. */
export function someFacts(
  nodes: readonly NodeView[],
  given: Partial<PoolFacts> = {},
  unclaimed: readonly NodeView[] = [],
): PoolFacts {
  const claims = nodes.filter(node => !unclaimed.includes(node)).map(node => claimOf(node));
  return {
    now: NOW,
    pool: 'default',
    poolSettings: { repair: someRepairInForce(), nodePool: undefined },
    poolRecord: NEW_POOL,
    hadPoolRecord: false,
    replacementNodes: [],
    nodes,
    nodesWithLabel: nodes,
    nodesToJudge: nodes,
    claims: new Map(claims.map(claim => [claim.uid, claim])),
    records: new Map(),
    recordsOfGoneNodes: new Map(),
    requests: {
      uids: new Set(),
      seenChanges: new Map(),
      changesTime: undefined,
      drainEnds: new Map(),
      isAfterSettingsChange: false,
    },
    basisOf: () => '',
    activity,
    dueFacts: undefined,
    existsByUid: new Map(),
    ...given,
  };
}
