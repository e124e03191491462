/**
 * Which nodes must be looked at again because something around them changed: a pool's or policy's settings, or the share of
 * unhealthy nodes in a pool in which repairs are blocked.
 */
import { KARPENTER } from '../contract/names.ts';
import type { NodeView } from '../domain/node.ts';
import { matchStatements } from '../domain/repair-policy.ts';
import { addDuration, hours, toDurationMs } from '../domain/time.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { RecordKey } from '../ports/record-store.ts';
import { loadPoolNodes } from './node-pool.ts';
import { nodePoolOf } from './repair-settings.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

const blockedKey = (pool: string | undefined): RecordKey => ({
  owner: 'repair',
  id: pool === undefined ? 'blocked-cluster' : `blocked-pool/${pool}`,
});

/** Sends a wake-up for each node of the pool (undefined: of the cluster) that has an unhealthy condition. */
export async function wakeUnhealthyNodes(deps: Deps, pool: string | undefined): Promise<void> {
  await wakeUnhealthy(deps, await loadPoolNodes(deps, pool));
}

async function wakeUnhealthy(deps: Deps, nodes: readonly NodeView[]): Promise<void> {
  const unhealthy = nodes.filter(node => matchStatements(node).length > 0);
  const wakeTime = deps.clock.now();
  await deps.wakeUps.send(
    unhealthy.map(({ name, uid }) => ({
      wakeUp: { owner: 'repair', subject: { apiVersion: 'v1', kind: 'Node', name, uid }, wakeTime },
      delay: toDurationMs(0),
    })),
  );
}

/** Remembers that a repair in the pool is blocked, so that a change of the pool wakes its nodes. */
export async function markPoolBlocked(deps: Deps, pool: string | undefined): Promise<void> {
  const key = blockedKey(pool);
  if ((await deps.records.get(key)) !== undefined) return;
  const subject = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: pool ?? KARPENTER.nodePoolLabel };
  // A lost race means that another node of the pool marked it first.
  await deps.records.put(
    { ...key, subject, state: { schemaVersion: 1 }, expireTime: addDuration(deps.clock.now(), hours(24)) },
    0,
  );
}

/**
 * Wakes the unhealthy nodes of a pool in which repairs were blocked, after a node of it came, went or recovered; and those without a
 * pool, for which every node of the cluster counts.
 */
export async function wakeBlockedNodes(deps: Deps, pool: string | undefined): Promise<void> {
  if (pool !== undefined && (await takeMark(deps, pool))) await wakeUnhealthyNodes(deps, pool);
  if (await takeMark(deps, undefined)) {
    const nodes = await loadPoolNodes(deps, undefined);
    await wakeUnhealthy(
      deps,
      nodes.filter(node => nodePoolOf(node) === undefined),
    );
  }
}

async function takeMark(deps: Deps, pool: string | undefined): Promise<boolean> {
  const key = blockedKey(pool);
  const stored = await deps.records.get(key);
  if (stored === undefined) return false;
  await deps.records.delete(key, stored.version);
  return true;
}
