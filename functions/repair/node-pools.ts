/** Finds the pool of a node that is gone, or that belongs to another pool by now, also of one whose replacement alone is known. */
import type { StoredNode } from './record.ts';
import type { NodeRecord } from './node/record.ts';
import type { SeenChange } from './node/rule/node-facts.ts';
import { withShownReplacements } from './node/rule/earlier-replacement.ts';
import type { PassRequests } from './rule/pass-requests.ts';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { getNode, listNodes } from '../../shared/cluster/lists.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import type { NodesAndClaims } from '../../shared/cluster/owner.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { type NodeView, readNode } from '../../shared/domain/node.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectsOf, orUnavailable } from '../../shared/ports/read-answer.ts';

type Kubernetes = Pick<FunctionDeps, 'kubernetes'>;

/** A node that another pool has. */
export interface NodeElsewhere {
  readonly pool: string | undefined;
  readonly uid: string;
  /** The change of its conditions, if that is why it is looked at. */
  readonly seen: SeenChange | undefined;
}

/** Nodes that are remembered, and are not among those of the pool. */
export interface MissingNodes {
  /** The records of the nodes that are gone. */
  readonly gone: ReadonlyMap<string, NodeRecord>;
  /** The nodes that another pool has by now. */
  readonly elsewhere: readonly NodeElsewhere[];
}

export async function readMissing(
  deps: Kubernetes,
  pool: string | undefined,
  missing: readonly (readonly [uid: string, stored: StoredNode])[],
): Promise<MissingNodes> {
  const gone = new Map<string, NodeRecord>();
  const elsewhere: NodeElsewhere[] = [];
  await fewAtATime(missing, async ([uid, { value }]) => {
    const object = await getNode(deps, value.name);
    if (object?.metadata.uid !== uid) return void gone.set(uid, value);
    const other = await poolNow(deps, readNode(object));
    if (other !== pool) elsewhere.push({ pool: other, uid, seen: undefined });
  });
  return { gone, elsewhere };
}

async function poolNow({ kubernetes }: Kubernetes, node: NodeView): Promise<string | undefined> {
  const claims = await orUnavailable(kubernetes.list(RESOURCES.NodeClaim));
  if ('error' in claims) return nodePoolOf(node);
  const claim = claimOfNode(objectsOf(claims, { ifNotServed: 'empty' }), node);
  return claim === undefined ? nodePoolOf(node) : poolOfClaim(claim);
}

/** The NodeClaim that names the node and is of its instance: a name that is used again is another node's (I10). */
const claimOfNode = (
  claims: readonly KubernetesObject[],
  { name, providerID }: NodeView,
): KubernetesObject | undefined =>
  claims.find(({ status }) => status?.['nodeName'] === name && status['providerID'] === providerID);

const poolOfClaim = ({ metadata: { labels = {} } }: KubernetesObject): string | undefined => nodePoolOf({ labels });

/** Completes the records by replacements that they do not know. A node that is not of the pool may be in another one. */
export async function withReplacements(
  deps: Kubernetes,
  {
    pool,
    view: { claims },
    nodes,
    stored,
    replaced,
    mayLaunch,
  }: {
    readonly pool: string | undefined;
    readonly view: NodesAndClaims;
    readonly nodes: readonly NodeView[];
    readonly stored: ReadonlyMap<string, StoredNode>;
    readonly replaced: readonly string[];
    readonly mayLaunch: (node: NodeView) => boolean;
  },
): Promise<ReadonlyMap<string, StoredNode>> {
  const own = new Set(nodes.map(({ uid }) => uid));
  const isUnknown = (uid: string): boolean =>
    !own.has(uid) && stored.get(uid)?.value.leftovers?.replacement === undefined;
  const cluster = replaced.some(isUnknown) ? await listNodes(deps) : [];
  const inCluster = new Set(cluster.map(({ metadata }) => metadata.uid));
  return withShownReplacements(stored, claims, { pool, nodes, existsElsewhere: uid => inCluster.has(uid), mayLaunch });
}

/** The nodes that a NodeClaim of another pool names, among those without a NodeClaim of the pool, by UID. */
export async function readOtherPools(
  { kubernetes }: Kubernetes,
  pool: string | undefined,
  withoutClaim: readonly NodeView[],
  { seenChanges }: Pick<PassRequests, 'seenChanges'>,
): Promise<ReadonlyMap<string, NodeElsewhere>> {
  const others = new Map<string, NodeElsewhere>();
  const claims = objectsOf(await kubernetes.list(RESOURCES.NodeClaim), { ifNotServed: 'empty' });
  for (const node of withoutClaim) {
    const { uid } = node;
    const claim = claimOfNode(claims, node);
    const other = claim && poolOfClaim(claim);
    if (claim !== undefined && other !== pool) others.set(uid, { pool: other, uid, seen: seenChanges.get(uid) });
  }
  return others;
}
