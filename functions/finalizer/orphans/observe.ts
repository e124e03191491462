/** The instances that the cluster has: those that a NodeClaim or a Node names. Always live reads. */
import { providerIDOf } from '../cluster/instances.ts';
import type { TerminationDeps } from '../cluster/context.ts';
import { projectNode, projectNodeClaim } from '../../../shared/cluster/lists.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';

export interface HeldInstances {
  readonly byClaims: ReadonlySet<string | undefined>;
  readonly byNodes: ReadonlySet<string | undefined>;
}

/** What has which instance, by providerID. Undefined: NodeClaims are not served, so nobody can say whose an instance is (I6). Throws as `list` does. */
export async function listHeldInstances({
  kubernetes,
}: Pick<TerminationDeps, 'kubernetes'>): Promise<HeldInstances | undefined> {
  const claimsAnswer = await kubernetes.list(RESOURCES.NodeClaim, {}, { project: projectNodeClaim });
  const nodesAnswer = await kubernetes.list(RESOURCES.Node, {}, { project: projectNode });
  if (claimsAnswer.kind === 'notServed' || nodesAnswer.kind === 'notServed') return undefined;
  return {
    byClaims: new Set(claimsAnswer.objects.map(providerIDOf)),
    byNodes: new Set(nodesAnswer.objects.map(providerIDOf)),
  };
}
