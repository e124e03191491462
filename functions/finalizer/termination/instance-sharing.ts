/**
 * Which Nodes and NodeClaims stand for one instance. Whose names are known are read by name; all are listed where a deletion begins
 * that a finalizer of ours is concerned with: every Node of the instance goes with its NodeClaim, as in Karpenter.
 */
import { providerIDOf } from '../common/instances.ts';
import { claimsOfNode } from '../../../shared/cluster/owner.ts';
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { getNode, getNodeClaim, listNodeClaims, listNodes } from '../../../shared/cluster/lists.ts';
import { nodePoolOf, ofPool } from '../../../shared/cluster/node-pool.ts';
import { deletionTimeOf, type KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import type { ClaimHints } from './claim-hints.ts';
import { isLive, isManaged, isRegistered } from './objects.ts';
import type { TerminationRecord } from './record.ts';
import type { NotServedMeaning } from '../../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'clock'>;

/**
 * The NodeClaims with a Node's providerID: the one that is likely, if reading it settles the matter, else by a list of all.
 */
export async function claimsOf(
  deps: Deps,
  hints: ClaimHints,
  node: KubernetesObject,
): Promise<readonly KubernetesObject[]> {
  const providerID = providerIDOf(node);
  if (providerID === undefined) return [];
  const now = deps.clock.now();
  const owner = node.metadata.ownerReferences?.find(({ kind }) => kind === 'NodeClaim');
  const likely = owner?.name ?? hints.nameOf(providerID);
  if (likely === undefined && isLive(node) && hints.hasNoClaim(providerID, now)) return [];
  const claim = likely === undefined ? undefined : await likelyClaim(deps, node, providerID, likely);
  if (claim !== undefined) return [claim];
  const reading = isManaged(node)
    ? ({ notServed: 'notKnown' } as const)
    : claimsOfNode(owner?.name, nodePoolOf(node.metadata));
  return claimsOfInstance(deps, providerID, { reading, onList: claims => hints.noteAll(claims, now) });
}

/** The NodeClaim of this name, if it stands for the Node. A finalizer of ours on what is deleted wants certainty: then only a list will do. */
async function likelyClaim(
  deps: Pick<Deps, 'kubernetes'>,
  node: KubernetesObject,
  providerID: string,
  name: string,
): Promise<KubernetesObject | undefined> {
  const isSure = (object: KubernetesObject): boolean => isLive(node) || !isManaged(object);
  if (!isSure(node)) return undefined;
  const claim = await getNodeClaim(deps, name);
  return claim !== undefined && providerIDOf(claim) === providerID && isSure(claim) ? claim : undefined;
}

interface ClaimList {
  readonly reading: NotServedMeaning;
  /** Whose NodeClaims are read; undefined: all. */
  readonly pool?: string | undefined;
  /** Hears of all that were read. */
  readonly onList?: (claims: readonly KubernetesObject[]) => void;
}

/** The NodeClaims with this providerID, by a list: the API server cannot select by status. */
async function claimsOfInstance(
  deps: Pick<Deps, 'kubernetes'>,
  providerID: string,
  { reading, pool, onList = () => undefined }: ClaimList,
): Promise<readonly KubernetesObject[]> {
  const claims = await listNodeClaims(deps, reading, ofPool(pool));
  onList(claims);
  return claims.filter(claim => providerIDOf(claim) === providerID);
}

/** The other NodeClaims of the instance, by a new list of all pools. */
export async function otherClaimsOf(
  deps: Pick<Deps, 'kubernetes'>,
  { providerID, uid }: { readonly providerID: string; readonly uid: string | undefined },
): Promise<readonly KubernetesObject[]> {
  const claims = await claimsOfInstance(deps, providerID, { reading: { notServed: 'notKnown' } });
  return claims.filter(claim => claim.metadata.uid !== uid);
}

/** Whose NodeClaims an instance is besides this one's. */
export interface InstanceSharing {
  /** Names of the others. If the NodeClaim is being deleted, only those that live count. */
  readonly sharedWith: readonly string[];
  /** Name of the one that ends the instance, where all are being deleted and this one waits for it. */
  readonly endedWith: string | undefined;
}

const UNSHARED: InstanceSharing = { sharedWith: [], endedWith: undefined };

/** They are read only once something is being deleted. */
async function sharingOf(
  deps: Pick<Deps, 'kubernetes'>,
  claim: KubernetesObject,
  nodes: readonly KubernetesObject[],
  pool: string | undefined,
): Promise<InstanceSharing> {
  const providerID = providerIDOf(claim);
  const isEnding = !isLive(claim) || nodes.some(node => !isLive(node));
  if (providerID === undefined || !isEnding) return UNSHARED;
  const claims = await claimsOfInstance(deps, providerID, { reading: { notServed: 'notKnown' }, pool });
  const others = claims.filter(other => other.metadata.uid !== claim.metadata.uid);
  const sharedWith = others.filter(other => isLive(claim) || isLive(other)).map(({ metadata }) => metadata.name);
  const ender = endingClaim([claim, ...others]);
  const isOther = ender !== undefined && ender.metadata.uid !== claim.metadata.uid;
  return { sharedWith, endedWith: isOther ? ender.metadata.name : undefined };
}

/**
 * Of NodeClaims of one instance that are all being deleted, the one in whose termination the instance ends: all look at the same order. One that
 * has our finalizer goes before one that nothing holds, and one whose Nodes are emptied before one that leaves them alone.
 */
export function endingClaim(claims: readonly KubernetesObject[]): KubernetesObject | undefined {
  if (claims.some(isLive)) return undefined;
  const timeOf = (claim: KubernetesObject): number => deletionTimeOf(claim) ?? 0;
  const [first] = claims.toSorted(
    (a, b) =>
      Number(isManaged(b)) - Number(isManaged(a)) ||
      Number(isRegistered(b)) - Number(isRegistered(a)) ||
      timeOf(a) - timeOf(b) ||
      (a.metadata.uid < b.metadata.uid ? -1 : 1),
  );
  return first;
}

interface KnownNodes {
  readonly state: TerminationRecord | undefined;
  readonly viaNode: string | undefined;
}

const knownNames = ({ state }: KnownNodes): readonly string[] =>
  Object.values(state?.nodes ?? {}).map(({ name }) => name);

/** The Nodes with the NodeClaim's providerID among those whose names are known: to its record, to itself, or to an event. */
export async function namedNodesOf(
  deps: Pick<Deps, 'kubernetes'>,
  claim: KubernetesObject,
  known: KnownNodes,
): Promise<readonly KubernetesObject[]> {
  const providerID = providerIDOf(claim);
  if (providerID === undefined) return [];
  const nodeName = claim.status?.['nodeName'];
  const { viaNode } = known;
  const names = new Set([
    ...knownNames(known),
    ...(typeof nodeName === 'string' ? [nodeName] : []),
    ...(viaNode ? [viaNode] : []),
  ]);
  const nodes = await inParallel([...names].map(name => getNode(deps, name)));
  return nodes.filter(node => node !== undefined).filter(node => providerIDOf(node) === providerID);
}

/**
 * The Nodes with the NodeClaim's providerID, and the other NodeClaims that have it. All Nodes are listed when a deletion begins. NodeClaims are
 * listed in all pools before what cannot be undone, else in its own pool.
 */
export async function nodesAndSharing(
  deps: Pick<Deps, 'kubernetes'>,
  claim: KubernetesObject,
  { namedNodes, pool, ...known }: KnownNodes & { namedNodes: readonly KubernetesObject[]; pool: string | undefined },
): Promise<InstanceSharing & { readonly nodes: readonly KubernetesObject[] }> {
  const providerID = providerIDOf(claim);
  const isFirst = knownNames(known).length === 0;
  const begins = claim.metadata.deletionTimestamp !== undefined && isFirst;
  const nodes =
    begins && providerID !== undefined
      ? (await listNodes(deps)).filter(node => providerIDOf(node) === providerID)
      : namedNodes;
  const isEverywhere = isFirst || precedesDestructiveCall(known, nodes);
  return { nodes, ...(await sharingOf(deps, claim, nodes, isEverywhere ? undefined : pool)) };
}

/** Whether the deletion of a Node, which empties it, or the end of the instance comes next: a NodeClaim that came meanwhile must be seen (I6). */
const precedesDestructiveCall = ({ state }: KnownNodes, nodes: readonly KubernetesObject[]): boolean =>
  nodes.some(isLive) || state?.instance?.phase === 'intended';

/**
 * The Nodes without strays. A stray is being deleted while both the NodeClaim and the Node that it names live: it merely states the same
 * instance, for example under an old name, and its deletion is its own.
 */
export function withoutStrays(
  claim: KubernetesObject,
  nodes: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  if (!isLive(claim)) return nodes;
  const isNamed = nodes.some(node => node.metadata.name === claim.status?.['nodeName'] && isLive(node));
  return isNamed ? nodes.filter(isLive) : nodes;
}

/** Whether the deletion of this Node is its own, and not that of the NodeClaim with its providerID. */
export async function isStray(
  deps: Pick<Deps, 'kubernetes'>,
  claim: KubernetesObject,
  node: KubernetesObject,
): Promise<boolean> {
  if (isLive(node) || claim.status?.['nodeName'] === node.metadata.name) return false;
  const named = await namedNodesOf(deps, claim, { state: undefined, viaNode: undefined });
  return !withoutStrays(claim, [...named, node]).includes(node);
}
