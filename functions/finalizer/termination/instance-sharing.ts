/**
 * Finds the Nodes and NodeClaims that stand for one instance. Objects whose names are known are read by name; all are listed where a deletion
 * begins that a finalizer of ours is concerned with: every Node of the instance goes with its NodeClaim, as in Karpenter.
 */
import { providerIDOf } from '../common/instances.ts';
import { claimsOfNode } from '../../../shared/cluster/owner.ts';
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { getNode, getNodeClaim, listNodeClaims, listNodes } from '../../../shared/cluster/lists.ts';
import { nodePoolOf, poolQuery } from '../../../shared/cluster/node-pool.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import type { ClaimCache } from './claim-cache.ts';
import {
  type InstanceSharing,
  precedesDestructiveCall,
  instanceSharing,
  UNSHARED,
  withoutMismatched,
} from './rule/instance.ts';
import { isLive, isManaged } from './rule/objects.ts';
import type { TerminationRecord } from './record.ts';
import type { IfNotServed } from '../../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'clock'>;

/**
 * The NodeClaims with a Node's providerID: the one that is likely, if reading it settles the matter, else by a list of all.
 */
export async function claimsOf(
  deps: Deps,
  claimCache: ClaimCache,
  node: KubernetesObject,
): Promise<readonly KubernetesObject[]> {
  const providerID = providerIDOf(node);
  if (providerID === undefined) return [];
  const now = deps.clock.now();
  const owner = node.metadata.ownerReferences?.find(({ kind }) => kind === 'NodeClaim');
  const likely = owner?.name ?? claimCache.nameOf(providerID);
  if (likely === undefined && isLive(node) && claimCache.hasNoClaim(providerID, now)) return [];
  const claim = likely === undefined ? undefined : await likelyClaim(deps, node, providerID, likely);
  if (claim !== undefined) return [claim];
  const reading = isManaged(node)
    ? ({ ifNotServed: 'throw' } as const)
    : claimsOfNode(owner?.name, nodePoolOf(node.metadata));
  return claimsOfInstance(deps, providerID, { reading, onList: claims => claimCache.rememberAll(claims, now) });
}

/** The NodeClaim of this name, if it stands for the Node. If what is deleted has our finalizer, a guess is not enough: all are listed. */
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
  readonly reading: IfNotServed;
  /** NodePool whose NodeClaims are read; undefined: all. */
  readonly pool?: string | undefined;
  /** Callback for all NodeClaims that were read. */
  readonly onList?: (claims: readonly KubernetesObject[]) => void;
}

/** The NodeClaims with this providerID, by a list: the API server cannot select by status. */
async function claimsOfInstance(
  deps: Pick<Deps, 'kubernetes'>,
  providerID: string,
  { reading, pool, onList = () => undefined }: ClaimList,
): Promise<readonly KubernetesObject[]> {
  const claims = await listNodeClaims(deps, reading, poolQuery(pool));
  onList(claims);
  return claims.filter(claim => providerIDOf(claim) === providerID);
}

/** The other NodeClaims of the instance, by a new list of all pools. */
export async function otherClaimsOf(
  deps: Pick<Deps, 'kubernetes'>,
  { providerID, uid }: { readonly providerID: string; readonly uid: string | undefined },
): Promise<readonly KubernetesObject[]> {
  const claims = await claimsOfInstance(deps, providerID, { reading: { ifNotServed: 'throw' } });
  return claims.filter(claim => claim.metadata.uid !== uid);
}

/** The other NodeClaims of the instance. They are read only once something is being deleted. */
async function sharingOf(
  deps: Pick<Deps, 'kubernetes'>,
  claim: KubernetesObject,
  nodes: readonly KubernetesObject[],
  pool: string | undefined,
): Promise<InstanceSharing> {
  const providerID = providerIDOf(claim);
  const isEnding = !isLive(claim) || nodes.some(node => !isLive(node));
  if (providerID === undefined || !isEnding) return UNSHARED;
  const claims = await claimsOfInstance(deps, providerID, { reading: { ifNotServed: 'throw' }, pool });
  const others = claims.filter(other => other.metadata.uid !== claim.metadata.uid);
  return instanceSharing(claim, others);
}

interface KnownNodes {
  readonly record: TerminationRecord | undefined;
  readonly viaNode: string | undefined;
}

const namesKnownTo = ({ record }: KnownNodes): readonly string[] =>
  Object.values(record?.nodes ?? {}).map(({ name }) => name);

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
    ...namesKnownTo(known),
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
  const isFirst = namesKnownTo(known).length === 0;
  const begins = claim.metadata.deletionTimestamp !== undefined && isFirst;
  const nodes =
    begins && providerID !== undefined
      ? (await listNodes(deps)).filter(node => providerIDOf(node) === providerID)
      : namedNodes;
  const isEverywhere = isFirst || precedesDestructiveCall(known.record, nodes);
  return { nodes, ...(await sharingOf(deps, claim, nodes, isEverywhere ? undefined : pool)) };
}

/** Whether the deletion of this Node is its own, and not that of the NodeClaim with its providerID. */
export async function isMismatched(
  deps: Pick<Deps, 'kubernetes'>,
  claim: KubernetesObject,
  node: KubernetesObject,
): Promise<boolean> {
  if (isLive(node) || claim.status?.['nodeName'] === node.metadata.name) return false;
  const named = await namedNodesOf(deps, claim, { record: undefined, viaNode: undefined });
  return !withoutMismatched(claim, [...named, node]).includes(node);
}
