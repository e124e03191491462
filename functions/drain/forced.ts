/** Whether the termination of a node's NodeClaim is past the instant at which Karpenter and Curfew force its pods. */
import { inParallel } from '../../shared/cluster/in-parallel.ts';
import { listNodeClaims, listNodes } from '../../shared/cluster/lists.ts';
import { findNodeClaims } from '../../shared/cluster/node-pool.ts';
import { KARPENTER } from '../../shared/contract/names.ts';
import { readNodeClaim, type NodeClaimView } from '../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import { readNode, type NodeView } from '../../shared/domain/node.ts';
import { isDue, parseTimestamp, type EpochMs } from '../../shared/domain/time.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';

/** Protection ends there: before that whose the instance is must be certain, so all that may state it are read (I6). */
export async function isForced(
  deps: Pick<FunctionDeps, 'kubernetes'>,
  node: NodeView,
  pool: string | undefined,
  now: EpochMs,
): Promise<boolean> {
  if (!isPast(node, [node], await findNodeClaims(deps, node, pool), now)) return false;
  const [nodes, claims] = await inParallel([listNodes(deps), listNodeClaims(deps, { notServed: 'notKnown' })]);
  return isPast(node, nodes.map(readNode), claims.map(readNodeClaim), now);
}

function isPast(node: NodeView, nodes: readonly NodeView[], claims: readonly NodeClaimView[], now: EpochMs): boolean {
  const owner = ownerOf(node, indexOwners(nodes, claims));
  if (owner.kind !== 'claim') return false;
  const { annotations, deletionTime } = owner.claim;
  const text = annotations[KARPENTER.terminationTimestampAnnotation];
  const time = text === undefined ? undefined : parseTimestamp(text);
  return deletionTime !== undefined && time !== undefined && isDue(now, time);
}
