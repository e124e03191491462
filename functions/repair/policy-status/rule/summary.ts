/** The numbers and pools in the status of a policy. Pure. */
import { conditionsFor, type PolicyCondition } from './conditions.ts';
import type { PolicyFacts } from './policy-facts.ts';
import type { JsonObject } from '../../../../shared/domain/kubernetes-object.ts';

/** The number of pools that a status lists; the sums count all. */
const LISTED_POOLS = 100;

export interface PolicySummary {
  readonly nodePools: number;
  readonly nodes: number;
  readonly held: number;
  readonly repairing: number;
  readonly pools: readonly JsonObject[];
  readonly conditions: readonly PolicyCondition[];
}

/**
 * Counts the nodes of selected pools. `held` and `repairing` count only pools for which this policy is the source of
 * the repair block, and which this version counts. At most `LISTED_POOLS` pools are listed by name.
 */
export function summarize(facts: PolicyFacts): PolicySummary {
  const { selected } = facts;
  const sumOf = (key: 'blocked' | 'repairing'): number =>
    selected.reduce(
      (sum, { isRepairedByPolicy, repairs }) => sum + (isRepairedByPolicy ? (repairs?.[key] ?? 0) : 0),
      0,
    );
  const listed = selected.filter(({ name, nodes }) => name !== undefined || nodes > 0);
  return {
    nodePools: selected.filter(({ name }) => name !== undefined).length,
    nodes: selected.reduce((sum, { nodes }) => sum + nodes, 0),
    held: sumOf('blocked'),
    repairing: sumOf('repairing'),
    pools: listed.slice(0, LISTED_POOLS).map(({ name, nodes, isRepairedByPolicy, repairs }) => ({
      name: name ?? '',
      nodes,
      ...(isRepairedByPolicy
        ? repairs && { held: repairs.blocked, repairing: repairs.repairing }
        : { held: 0, repairing: 0 }),
    })),
    conditions: conditionsFor(facts),
  };
}
