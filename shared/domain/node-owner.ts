/**
 * Finds the NodeClaim that a node belongs to. The NodeClaim decides which pool a node is in: who may label nodes must
 * not be able to switch repair off. A Node that merely states another one's providerID must not have that one's
 * NodeClaim deleted. Pure.
 */
import { listed } from './cut-text.ts';
import type { NodeClaimView } from './node-claim.ts';
import type { NodeView } from './node.ts';

export type Owner =
  | { readonly kind: 'claim'; readonly claim: NodeClaimView }
  | { readonly kind: 'none'; readonly message: string }
  | { readonly kind: 'ambiguous'; readonly message: string };

/** NodeClaims and Nodes by providerID. */
export interface OwnerIndex {
  readonly claims: ReadonlyMap<string, readonly NodeClaimView[]>;
  readonly nodes: ReadonlyMap<string, readonly string[]>;
}

/** @param nodes all that may share an instance with one that is asked for, itself included */
export function indexOwners(
  nodes: readonly Pick<NodeView, 'name' | 'providerID'>[],
  claims: readonly NodeClaimView[],
): OwnerIndex {
  const names = new Map<string, string[]>();
  for (const { name, providerID } of nodes) add(names, providerID, name);
  const byInstance = new Map<string, NodeClaimView[]>();
  for (const claim of claims) add(byInstance, claim.providerID, claim);
  return { claims: byInstance, nodes: names };
}

function add<Value>(map: Map<string, Value[]>, key: string | undefined, value: Value): void {
  if (key === undefined) return;
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

/**
 * The NodeClaim of the node: the only one with its providerID, which names this node or none yet. Of an instance that several Nodes
 * state nothing is certain, whether a NodeClaim stands for it or not.
 */
export function ownerOf(node: Pick<NodeView, 'name' | 'providerID'>, index: OwnerIndex): Owner {
  const { providerID } = node;
  if (providerID === undefined) return { kind: 'none', message: 'no NodeClaim has providerID (none)' };
  const sharing = index.nodes.get(providerID) ?? [];
  if (sharing.length > 1) {
    return { kind: 'ambiguous', message: `several Nodes have providerID ${providerID}: ${list(sharing)}` };
  }
  const claims = index.claims.get(providerID) ?? [];
  const [claim, ...others] = claims;
  if (claim === undefined) return { kind: 'none', message: `no NodeClaim has providerID ${providerID}` };
  if (others.length > 0) {
    const names = claims.map(({ name }) => name);
    return { kind: 'ambiguous', message: `several NodeClaims have providerID ${providerID}: ${list(names)}` };
  }
  if (claim.nodeName !== undefined && claim.nodeName !== node.name) {
    const message = `NodeClaim ${claim.name} has providerID ${providerID}, and names another Node: ${claim.nodeName}`;
    return { kind: 'ambiguous', message };
  }
  return { kind: 'claim', claim };
}

const list = (names: readonly string[]): string => listed(names.toSorted());
