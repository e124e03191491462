/** Which pool a node is of: nodes that went, or that belong to another pool by now. */
import type { NodeRecord, StoredNode } from './record.ts';
import { type Asked, forNode, type PassAsk } from './asks.ts';
import { readLiveNode } from './live-reads.ts';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectsOf, orNotKnown } from '../../shared/ports/read-answer.ts';

type Kubernetes = Pick<FunctionDeps, 'kubernetes'>;

/** A pass that another pool is to be asked for: the node is that pool's. */
export interface PoolAsk {
  readonly pool: string | undefined;
  readonly ask: PassAsk;
}

/** Nodes that are remembered, and are not among those of the pool. */
export interface Missing {
  /** What is remembered of those that are gone. */
  readonly gone: ReadonlyMap<string, NodeRecord>;
  /** Of those that another pool has by now. */
  readonly elsewhere: readonly PoolAsk[];
}

export async function readMissing(
  deps: Kubernetes,
  pool: string | undefined,
  missing: readonly (readonly [uid: string, stored: StoredNode])[],
): Promise<Missing> {
  const gone = new Map<string, NodeRecord>();
  const elsewhere: PoolAsk[] = [];
  await fewAtATime(missing, async ([uid, { value }]) => {
    const node = await readLiveNode(deps, value.name);
    if (node?.uid !== uid) return void gone.set(uid, value);
    const other = await poolNow(deps, node);
    if (other !== pool) elsewhere.push({ pool: other, ask: forNode(uid) });
  });
  return { gone, elsewhere };
}

async function poolNow({ kubernetes }: Kubernetes, node: NodeView): Promise<string | undefined> {
  const claims = await orNotKnown(kubernetes.list(RESOURCES.NodeClaim));
  if ('error' in claims) return nodePoolOf(node);
  const claim = objectsOf(claims, { notServed: 'none' }).find(each => each.status?.['nodeName'] === node.name);
  return claim === undefined ? nodePoolOf(node) : poolOfClaim(claim);
}

const poolOfClaim = ({ metadata: { labels = {} } }: KubernetesObject): string | undefined => nodePoolOf({ labels });

/** Of nodes without a NodeClaim of the pool, by UID: those that a NodeClaim of another pool names. */
export async function readOtherPools(
  { kubernetes }: Kubernetes,
  pool: string | undefined,
  strays: readonly NodeView[],
  { observedTimes }: Pick<Asked, 'observedTimes'>,
): Promise<ReadonlyMap<string, PoolAsk>> {
  const others = new Map<string, PoolAsk>();
  const claims = objectsOf(await kubernetes.list(RESOURCES.NodeClaim), { notServed: 'none' });
  for (const { name, uid, providerID } of strays) {
    const claim = claims.find(({ status }) => status?.['nodeName'] === name && status['providerID'] === providerID);
    const other = claim && poolOfClaim(claim);
    if (claim !== undefined && other !== pool)
      others.set(uid, { pool: other, ask: forNode(uid, observedTimes.get(uid)) });
  }
  return others;
}
