/** Who shares which instance, and whose pool a node is in. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { dig, instanceOfClaim, instanceOfNode, poolNameOf } from './reading.ts';

type Objects = readonly KubernetesObject[];

/** As one look at the cluster shows it. */
export interface Ownership {
  readonly nodesOf: (instance: string) => Objects;
  readonly claimsOf: (instance: string) => Objects;
  /** The nodes of the pool; all of them without one. */
  readonly neighboursIn: (poolName: string | undefined) => Objects;
  /** The nodes of the pool; without one those that are in none. */
  readonly membersOf: (poolName: string | undefined) => Objects;
}

/** Nodes and NodeClaims, by their instance and by the label of their pool. */
interface Grouped {
  readonly nodes: () => Objects;
  readonly nodesOf: (instance: string) => Objects;
  readonly claimsOf: (instance: string) => Objects;
  readonly nodesLabelled: (poolName: string) => Objects;
  readonly claimsLabelled: (poolName: string) => Objects;
}

export function ownershipOf(nodes: Objects, claims: Objects): Ownership {
  const by = (objects: Objects, keyOf: (object: KubernetesObject) => string | undefined) => {
    const groups = Map.groupBy(objects, keyOf);
    return (key: string): Objects => groups.get(key) ?? [];
  };
  return ownershipIn({
    nodes: () => nodes,
    nodesOf: by(nodes, instanceOfNode),
    claimsOf: by(claims, instanceOfClaim),
    nodesLabelled: by(nodes, poolNameOf),
    claimsLabelled: by(claims, poolNameOf),
  });
}

/** The nodes of a pool are as a pass lists them: by the label, and those that a NodeClaim with the label names although they lack it. */
export function ownershipIn({ nodes, nodesOf, claimsOf, nodesLabelled, claimsLabelled }: Grouped): Ownership {
  const namedBy = (claim: KubernetesObject): Objects =>
    nodesOf(instanceOfClaim(claim) ?? '').filter(node => node.metadata.name === dig(claim, 'status', 'nodeName'));
  const nodesIn = (poolName: string): Objects => [
    ...new Set([...nodesLabelled(poolName), ...claimsLabelled(poolName).flatMap(namedBy)]),
  ];
  // The NodeClaim of a node says its pool, whatever its label says.
  const isInNone = (node: KubernetesObject): boolean => {
    const claims = claimsOf(instanceOfNode(node) ?? '');
    const isOwned = claims.length === 1 && dig(claims[0], 'status', 'nodeName') === node.metadata.name;
    return claims.every(claim => poolNameOf(claim) === undefined) && (isOwned || poolNameOf(node) === undefined);
  };
  return {
    nodesOf,
    claimsOf,
    neighboursIn: poolName => (poolName === undefined ? nodes() : nodesIn(poolName)),
    membersOf: poolName => (poolName === undefined ? nodes().filter(isInNone) : nodesIn(poolName)),
  };
}
