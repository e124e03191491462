/**
 * Reads the objects that tell which NodePool owns a node, always live. The rule itself is pure (`ownerOf` in
 * `shared/domain/node-owner.ts`), and as certain as its input: NodeClaims alone for a hint, all Nodes and NodeClaims
 * before something that cannot be undone.
 */
import { providerIDOfClaim, readNodeClaim, type NodeClaimView } from '../domain/node-claim.ts';
import { readNode, type NodeView } from '../domain/node.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { ListQuery } from '../ports/kubernetes-api.ts';
import type { IfNotServed } from '../ports/read-answer.ts';
import { listNodeClaims, listNodes } from './lists.ts';
import { nodePoolOf, poolQuery } from './node-pool.ts';

type Deps = Pick<FunctionDeps, 'kubernetes'>;

export interface NodesAndClaims {
  readonly nodes: readonly NodeView[];
  readonly claims: readonly NodeClaimView[];
}

/** The NodeClaims with this providerID: one as a rule, none for nodes that Karpenter does not manage, several is a fault. */
export async function findNodeClaims(
  deps: Deps,
  node: Pick<NodeView, 'providerID' | 'ownerClaim'>,
  pool: string | undefined,
): Promise<readonly NodeClaimView[]> {
  if (node.providerID === undefined) return [];
  const matching = async (query: ListQuery): Promise<readonly NodeClaimView[]> => {
    const claims = await listNodeClaims(deps, claimsOfNode(node.ownerClaim, pool), query);
    return claims.filter(claim => providerIDOfClaim(claim) === node.providerID).map(readNodeClaim);
  };
  // The pool's claims are a small part of a large cluster; a claim without the label is looked for among all.
  const inPool = pool === undefined ? [] : await matching(poolQuery(pool));
  return inPool.length > 0 ? inPool : await matching({});
}

/** Clusters without Karpenter serve no NodeClaims, and have none; a Node that is one of a NodePool, or is owned by a NodeClaim, had one. */
export const claimsOfNode = (owner: string | undefined, pool: string | undefined): IfNotServed => ({
  ifNotServed: owner === undefined && pool === undefined ? 'empty' : 'throw',
});

/** All Nodes and all NodeClaims. */
export async function loadCluster(deps: Deps): Promise<NodesAndClaims> {
  const nodes = (await listNodes(deps)).map(readNode);
  return { nodes, claims: await listClaimsBeside(deps, nodes) };
}

/** All NodeClaims. @param nodes all Nodes */
export async function listClaimsBeside(deps: Deps, nodes: readonly NodeView[]): Promise<readonly NodeClaimView[]> {
  const one = nodes.find(node => node.ownerClaim !== undefined || nodePoolOf(node) !== undefined);
  return (await listNodeClaims(deps, claimsOfNode(one?.ownerClaim, one && nodePoolOf(one)))).map(readNodeClaim);
}
