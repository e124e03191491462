/**
 * Which Nodes and NodeClaims stand for one instance. Whose names are known are read by name; all are listed where a deletion begins
 * that a finalizer of ours is concerned with: every Node of the instance goes with its NodeClaim, as in Karpenter.
 */
import { providerIDOf } from '../cluster/instances.ts';
import { claimsOfNode } from '../../../shared/cluster/owner.ts';
import { inParallel } from '../../../shared/cluster/in-parallel.ts';
import { listNodeClaims, listNodes } from '../../../shared/cluster/lists.ts';
import { KARPENTER } from '../../../shared/contract/names.ts';
import { RESOURCES } from '../../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import type { FunctionDeps } from '../../../shared/ports/function-deps.ts';
import type { ClaimHints } from './claim-hints.ts';
import { isLive, isMarked } from './objects.ts';
import type { TerminationRecord } from './record.ts';
import { objectOf } from '../../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'clock'>;

/**
 * The NodeClaims with a Node's providerID. Its owner, or a hint, spares the list; where a finalizer of ours is concerned, a Node that is
 * deleted is looked at with care.
 */
export async function claimsOf(
  deps: Deps,
  hints: ClaimHints,
  node: KubernetesObject,
): Promise<readonly KubernetesObject[]> {
  const providerID = providerIDOf(node);
  if (providerID === undefined) return [];
  const owner = node.metadata.ownerReferences?.find(({ kind }) => kind === 'NodeClaim');
  const likely = owner?.name ?? hints.nameOf(providerID);
  const now = deps.clock.now();
  if (likely !== undefined && (isLive(node) || !isMarked(node))) {
    const claim = objectOf(await deps.kubernetes.get({ type: RESOURCES.NodeClaim, name: likely }), {
      notServed: 'notKnown',
    });
    if (claim !== undefined && providerIDOf(claim) === providerID && (isLive(node) || !isMarked(claim))) return [claim];
  } else if (isLive(node) && hints.isBare(providerID, now)) return [];
  const pool = node.metadata.labels?.[KARPENTER.nodePoolLabel];
  const reading = isMarked(node) ? ({ notServed: 'notKnown' } as const) : claimsOfNode(owner?.name, pool);
  const claims = await listNodeClaims(deps, reading);
  hints.seenAll(claims, now);
  return claims.filter(claim => providerIDOf(claim) === providerID);
}

/**
 * Other NodeClaims with the same providerID: the living ones; of one that lives itself, all. Read once something is being deleted.
 *
 * @param pool whose NodeClaims are read; undefined: all
 */
async function claimsBeside(
  deps: Pick<Deps, 'kubernetes'>,
  claim: KubernetesObject,
  nodes: readonly KubernetesObject[],
  pool: string | undefined,
): Promise<readonly string[]> {
  const providerID = providerIDOf(claim);
  const isEnding = !isLive(claim) || nodes.some(node => !isLive(node));
  if (providerID === undefined || !isEnding) return [];
  const query = pool === undefined ? {} : { labelSelector: `${KARPENTER.nodePoolLabel}=${pool}` };
  const claims = await listNodeClaims(deps, { notServed: 'notKnown' }, query);
  return claims
    .filter(other => other.metadata.uid !== claim.metadata.uid && providerIDOf(other) === providerID)
    .filter(other => isLive(claim) || isLive(other))
    .map(({ metadata }) => metadata.name);
}

interface KnownNodes {
  readonly stored: TerminationRecord | undefined;
  readonly viaNode: string | undefined;
}

const knownNames = ({ stored }: KnownNodes): readonly string[] =>
  Object.values(stored?.nodes ?? {}).map(({ name }) => name);

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
  const nodes = await inParallel([...names].map(name => deps.kubernetes.get({ type: RESOURCES.Node, name })));
  return nodes
    .map(answer => objectOf(answer, { notServed: 'notKnown' }))
    .filter(node => node !== undefined)
    .filter(node => providerIDOf(node) === providerID);
}

/**
 * All Nodes with the NodeClaim's providerID, by a list when a deletion begins, and the names of other NodeClaims with it: of all pools before
 * what cannot be undone, of its own meanwhile.
 */
export async function allThatShare(
  deps: Pick<Deps, 'kubernetes'>,
  claim: KubernetesObject,
  { namedNodes, pool, ...known }: KnownNodes & { namedNodes: readonly KubernetesObject[]; pool: string | undefined },
): Promise<readonly [readonly KubernetesObject[], readonly string[]]> {
  const providerID = providerIDOf(claim);
  const isFirst = knownNames(known).length === 0;
  const begins = claim.metadata.deletionTimestamp !== undefined && isFirst;
  const nodes =
    begins && providerID !== undefined
      ? (await listNodes(deps)).filter(node => providerIDOf(node) === providerID)
      : namedNodes;
  const isEverywhere = isFirst || comesToACall(known, nodes);
  return [nodes, await claimsBeside(deps, claim, nodes, isEverywhere ? undefined : pool)];
}

/** Whether the deletion of a Node, which empties it, or the end of the instance comes next: a NodeClaim that came meanwhile must be seen (I6). */
const comesToACall = ({ stored }: KnownNodes, nodes: readonly KubernetesObject[]): boolean =>
  nodes.some(isLive) || stored?.instance?.phase === 'intended';

/**
 * Of a NodeClaim that lives, without Nodes that are deleted while the one that it names lives: they merely state its instance (an old name of
 * it, say), and their deletion is their own.
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
  const named = await namedNodesOf(deps, claim, { stored: undefined, viaNode: undefined });
  return !withoutStrays(claim, [...named, node]).includes(node);
}
