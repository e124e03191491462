/** Clusters told by hand: the nodes in question, `n1`, `n2` …, in a pool of well ones that is large enough for the threshold. */
import type { NodeClaimView } from '../../../../shared/domain/node-claim.ts';
import type { NodeCondition, NodeView } from '../../../../shared/domain/node.ts';
import { addDuration, minutes } from '../../../../shared/domain/time.ts';
import { aCondition, aPoolNode, claimOf, T } from '../../../builders/repair.ts';
import type { Cluster } from './model.ts';
import { AWS_POLICIES, type Policy } from './policies.ts';

export const NODE_POOL = 'karpenter.sh/nodepool';
export const ago = (count: number) => addDuration(T, minutes(-count));
export const HEALTHY = aCondition('Ready', 'True', ago(600));
export const UNHEALTHY = aCondition('Ready', 'False', ago(40));

interface Nodes {
  readonly policies?: readonly Policy[];
  readonly costs?: Readonly<Record<string, number>>;
  readonly change?: (node: NodeView) => NodeView;
}

interface Claims {
  readonly change?: (claim: NodeClaimView) => NodeClaimView;
}

/** @param asked the conditions of each node in question, which alone are changed */
export function cluster(
  asked: readonly (readonly NodeCondition[])[],
  { policies = AWS_POLICIES, costs = {}, change: changeNode = node => node }: Nodes = {},
  { change: changeClaim = claim => claim }: Claims = {},
): Cluster {
  const labels = { [NODE_POOL]: 'default', 'karpenter.sh/initialized': 'true' };
  const nodes = asked.map((conditions, index) => aPoolNode(`n${index + 1}`, HEALTHY, { labels, conditions }));
  const others = Array.from({ length: 9 }, (_, index) => aPoolNode(`w${index}`, HEALTHY, { labels }));
  const changed = nodes.map(changeNode);
  return {
    now: T,
    policies,
    nodes: [...changed, ...others],
    claims: [...changed.map(node => changeClaim(claimOf(node))), ...others.map(node => claimOf(node))],
    budgets: { default: [{ nodes: '100%' }] },
    reboots: {},
    costs,
  };
}
