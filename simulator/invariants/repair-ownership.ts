/** Who shares which instance, and whose pool a node is in. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { dig, textOf } from './reading.ts';
import { poolNameOf } from './node-pool.ts';

/** As one look at the cluster shows it. */
export interface Ownership {
  readonly nodesOf: (instance: string) => readonly KubernetesObject[];
  readonly claimsOf: (instance: string) => readonly KubernetesObject[];
  /** The nodes of the pool; all of them without one. */
  readonly neighboursIn: (poolName: string | undefined) => readonly KubernetesObject[];
}

export function ownershipOf(nodes: readonly KubernetesObject[], claims: readonly KubernetesObject[]): Ownership {
  const nodesBy = Map.groupBy(nodes, node => textOf(dig(node, 'spec', 'providerID')));
  const claimsBy = Map.groupBy(claims, claim => textOf(dig(claim, 'status', 'providerID')));
  const claimsOf = (instance: string): readonly KubernetesObject[] => claimsBy.get(instance) ?? [];
  // As a pass lists them: by the label, and those that a NodeClaim with the label names although they lack it.
  const isIn = (poolName: string, node: KubernetesObject): boolean =>
    poolNameOf(node) === poolName ||
    claimsOf(textOf(dig(node, 'spec', 'providerID')) ?? '').some(
      claim => poolNameOf(claim) === poolName && dig(claim, 'status', 'nodeName') === node.metadata.name,
    );
  return {
    nodesOf: instance => nodesBy.get(instance) ?? [],
    claimsOf,
    neighboursIn: poolName => (poolName === undefined ? nodes : nodes.filter(node => isIn(poolName, node))),
  };
}
