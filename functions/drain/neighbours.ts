/** The other nodes of a pool, as their marks say it: which are drained, and which wait for their turn. Always a live read. */
import { listNodes } from '../../shared/cluster/lists.ts';
import { ANNOTATIONS, KARPENTER } from '../../shared/contract/names.ts';
import type { Subject } from '../../shared/contract/subject.ts';
import { placesOf } from '../../shared/domain/drain-limits.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toDurationMs } from '../../shared/domain/time.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { DrainObservation } from './observation.ts';
import { nextOf, type Neighbours, type Waiter } from './queue.ts';
import { readUnderWay } from './under-way.ts';

type Deps = Pick<FunctionDeps, 'kubernetes'>;

interface PoolNeighbours extends Neighbours {
  readonly waiting: readonly (Waiter & { readonly node: KubernetesObject })[];
}

/** @param pool undefined: the nodes without a NodePool, which form one */
export async function readNeighbours(
  deps: Deps,
  { uid }: { readonly uid: string },
  pool: string | undefined,
): Promise<PoolNeighbours> {
  const label = KARPENTER.nodePoolLabel;
  const nodes = await listNodes(deps, { labelSelector: pool === undefined ? `!${label}` : `${label}=${pool}` });
  const others = nodes.filter(({ metadata }) => metadata.uid !== uid);
  const waiting: (Waiter & { node: KubernetesObject })[] = [];
  let draining = 0;
  for (const node of others) {
    const mark = node.metadata.annotations?.[ANNOTATIONS.drainUnderWay];
    if (mark === undefined) continue;
    const read = readUnderWay(mark);
    // A mark that cannot be read may be that of a drain (I6).
    if (read?.waits === true) waiting.push({ uid: node.metadata.uid, since: read.since, node });
    else draining += 1;
  }
  return { total: others.length + 1, draining, waiting };
}

/** The place of a drain that has ended is free: those look again whose turn it may be. */
export async function wakeNext(
  deps: Pick<FunctionDeps, 'kubernetes' | 'wakeUps' | 'clock'>,
  { limits, node }: Pick<DrainObservation, 'limits' | 'node'>,
): Promise<void> {
  if (typeof limits === 'string' || limits.maxConcurrent === undefined) return;
  const pool = node.labels[KARPENTER.nodePoolLabel];
  const { total, draining, waiting } = await readNeighbours(deps, node, pool);
  const uids = new Set(nextOf(waiting, draining, placesOf(limits.maxConcurrent, total)).map(({ uid }) => uid));
  const wakeTime = deps.clock.now();
  await deps.wakeUps.send(
    waiting
      .filter(({ uid }) => uids.has(uid))
      .map(({ node: each }) => ({
        wakeUp: { owner: 'drain', subject: subjectOf(each), wakeTime },
        delay: toDurationMs(0),
      })),
  );
}

const subjectOf = ({ kind, apiVersion, metadata: { name, uid } }: KubernetesObject): Subject => ({
  kind,
  apiVersion,
  name,
  uid,
});
