/** Who shares which instance, and whose pool a node is in. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { dig, poolNameOf, textOf } from './reading.ts';

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
  const poolsOf = (node: KubernetesObject): ReadonlySet<string | undefined> => {
    const naming = claimsOf(textOf(dig(node, 'spec', 'providerID')) ?? '').filter(
      claim => dig(claim, 'status', 'nodeName') === node.metadata.name,
    );
    return new Set([node, ...naming].map(poolNameOf));
  };
  let byPool: ReadonlyMap<string | undefined, readonly KubernetesObject[]> | undefined;
  const readPools = (): ReadonlyMap<string | undefined, readonly KubernetesObject[]> => {
    const pairs = nodes.flatMap(node => [...poolsOf(node)].map(pool => ({ pool, node })));
    const grouped = Map.groupBy(pairs, ({ pool }) => pool);
    return new Map([...grouped].map(([pool, members]) => [pool, members.map(({ node }) => node)]));
  };
  return {
    nodesOf: instance => nodesBy.get(instance) ?? [],
    claimsOf,
    neighboursIn(poolName) {
      if (poolName === undefined) return nodes;
      byPool ??= readPools();
      return byPool.get(poolName) ?? [];
    },
  };
}
