/** Whose a node is, told from the raw objects: its NodeClaim and its pool. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { Mirror } from './mirror.ts';
import { instanceOfNode, poolNameOf } from './reading.ts';

/** The first NodeClaim with the Node's instance. */
export function claimOf(node: KubernetesObject, mirror: Mirror): KubernetesObject | undefined {
  const instance = instanceOfNode(node);
  return instance === undefined ? undefined : mirror.claimOfInstance(instance);
}

/** The pool of a Node is that of its NodeClaim; its own label counts while there is none. */
export const poolOf = (node: KubernetesObject, mirror: Mirror): string | undefined =>
  poolNameOf(claimOf(node, mirror) ?? node);
