/** The live Node and NodeClaim of a name. */
import { RESOURCES } from '../../shared/contract/resources.ts';
import { type NodeClaimView, readNodeClaim } from '../../shared/domain/node-claim.ts';
import { type NodeView, readNode } from '../../shared/domain/node.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';

type Kubernetes = Pick<FunctionDeps, 'kubernetes'>;

/** The live Node of this name; undefined: there is none. */
export async function readLiveNode({ kubernetes }: Kubernetes, name: string): Promise<NodeView | undefined> {
  const object = objectOf(await kubernetes.get({ type: RESOURCES.Node, name }), { notServed: 'notKnown' });
  return object && readNode(object);
}

/** The live NodeClaim of this name; undefined: there is none. */
export async function readLiveClaim({ kubernetes }: Kubernetes, name: string): Promise<NodeClaimView | undefined> {
  const object = objectOf(await kubernetes.get({ type: RESOURCES.NodeClaim, name }), { notServed: 'notKnown' });
  return object && readNodeClaim(object);
}
