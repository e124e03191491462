/** Which pool a node is of: nodes that went, or that belong to another pool by now. */
import type { PassDeps } from './context.ts';
import { judgeGone } from './attempt-verdict.ts';
import type { StoredNode } from './record.ts';
import type { GoneNode, JudgeContext } from './verdict.ts';
import { type Asked, nodeAsk, readLiveNode } from './wake-ups.ts';
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { objectsOf, orNotKnown } from '../../shared/ports/read-answer.ts';

/** What is remembered of nodes that are not among those of the pool: they are gone, or another pool's by now. */
export async function judgeMissing(
  deps: PassDeps,
  missing: readonly (readonly [uid: string, stored: StoredNode])[],
  context: Pick<JudgeContext, 'pool' | 'now' | 'claims'>,
): Promise<readonly GoneNode[]> {
  const findings: GoneNode[] = [];
  await fewAtATime(missing, async ([uid, { value }]) => {
    const node = await readLiveNode(deps, value.name);
    if (node?.uid !== uid) return void findings.push(judgeGone(uid, value, context));
    const other = await poolNow(deps, node);
    if (other !== context.pool) await deps.ask(other, nodeAsk(uid));
  });
  return findings;
}

async function poolNow({ kubernetes }: PassDeps, node: NodeView): Promise<string | undefined> {
  const claims = await orNotKnown(kubernetes.list(RESOURCES.NodeClaim));
  if ('error' in claims) return nodePoolOf(node);
  const claim = objectsOf(claims, { notServed: 'none' }).find(each => each.status?.['nodeName'] === node.name);
  return claim === undefined ? nodePoolOf(node) : poolOfClaim(claim);
}

const poolOfClaim = ({ metadata: { labels = {} } }: KubernetesObject): string | undefined => nodePoolOf({ labels });

/** Asks for passes of the pools whose NodeClaims name these nodes. Answers their UIDs. */
export async function askOwningPools(
  deps: PassDeps,
  pool: string | undefined,
  strays: readonly NodeView[],
  { observedTimes }: Asked,
): Promise<ReadonlySet<string>> {
  const asked = new Set<string>();
  const claims = objectsOf(await deps.kubernetes.list(RESOURCES.NodeClaim), { notServed: 'none' });
  for (const { name, uid, providerID } of strays) {
    const claim = claims.find(({ status }) => status?.['nodeName'] === name && status['providerID'] === providerID);
    const other = claim && poolOfClaim(claim);
    if (claim === undefined || other === pool) continue;
    asked.add(uid);
    await deps.ask(other, nodeAsk(uid, observedTimes.get(uid)));
  }
  return asked;
}
