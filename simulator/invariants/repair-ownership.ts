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
  // By the NodeClaim of the node, or by its own label where there is none for certain.
  const poolOf = (node: KubernetesObject): string | undefined => {
    const instance = textOf(dig(node, 'spec', 'providerID'));
    const [claim, ...others] = instance === undefined ? [] : claimsOf(instance);
    const isShared = instance !== undefined && (nodesBy.get(instance)?.length ?? 0) > 1;
    const named = textOf(dig(claim, 'status', 'nodeName'));
    const isOther = named !== undefined && named !== node.metadata.name;
    return poolNameOf(claim === undefined || others.length > 0 || isShared || isOther ? node : claim);
  };
  const nodesByPool = Map.groupBy(nodes, poolOf);
  return {
    nodesOf: instance => nodesBy.get(instance) ?? [],
    claimsOf,
    neighboursIn: poolName => (poolName === undefined ? nodes : (nodesByPool.get(poolName) ?? [])),
  };
}
