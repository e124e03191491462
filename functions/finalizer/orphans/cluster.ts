/** The instances that the cluster has: those that a NodeClaim or a Node names. Always live reads. */
import { projectNode, projectNodeClaim } from '../../../shared/cluster/lists.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import { providerIDOf } from '../objects.ts';
import type { TerminationDeps } from '../steps/context.ts';

export interface HeldInstances {
  readonly byClaims: ReadonlySet<string | undefined>;
  readonly byNodes: ReadonlySet<string | undefined>;
}

/** By providerID. undefined: NodeClaims are not served, so that nobody can say whose an instance is (I6). Throws as `list` does. */
export async function listHeldInstances({
  kubernetes,
}: Pick<TerminationDeps, 'kubernetes'>): Promise<HeldInstances | undefined> {
  const claims = await kubernetes.list(RESOURCES.NodeClaim, {}, { project: projectNodeClaim });
  const nodes = await kubernetes.list(RESOURCES.Node, {}, { project: projectNode });
  if (claims.kind === 'notServed' || nodes.kind === 'notServed') return undefined;
  return { byClaims: new Set(claims.objects.map(providerIDOf)), byNodes: new Set(nodes.objects.map(providerIDOf)) };
}
