/** Membership of nodes in a pool, and the nodes that no NodeClaim of it owns. Pure. */
import type { StoredNode } from '../record.ts';
import { NODE_POOL_LABEL, type NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { indexOwners, type Owner, ownerOf } from '../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../shared/domain/node.ts';

interface ClaimsAndRecords {
  readonly claims: readonly NodeClaimView[];
  readonly records: ReadonlyMap<string, StoredNode>;
}

/**
 * Nodes without a NodeClaim of the pool and without a record in the pool: a NodeClaim of another pool may name them.
 */
export function nodesWithoutClaim(
  pool: string | undefined,
  nodes: readonly NodeView[],
  { claims, records }: ClaimsAndRecords,
): readonly NodeView[] {
  const index = indexOwners(nodes, claims);
  return nodes.filter(node => {
    const record = records.get(node.uid)?.value;
    // The record of another pool proves nothing: that pool keeps the node while its NodeClaim names it.
    const isKnown = record !== undefined && record.pool === pool;
    return !isKnown && node.providerID !== undefined && ownerOf(node, index).kind === 'none';
  });
}

/**
 * Whether the pool owns the node: by its NodeClaim, or by its own label, which counts only while no other pool's
 * NodeClaim names it.
 */
export function ownsNode(node: NodeView, pool: string | undefined, claims: readonly NodeClaimView[]): boolean {
  return (
    node.labels[NODE_POOL_LABEL] === pool ||
    claims.some(({ nodeName, providerID }) => nodeName === node.name && providerID === node.providerID)
  );
}

/** The pool of a node is that of its NodeClaim; its own label counts only while there is none for certain. */
export function poolOf(node: NodeView, owner: Owner): string | undefined {
  return (owner.kind === 'claim' ? owner.claim : node).labels[NODE_POOL_LABEL];
}
