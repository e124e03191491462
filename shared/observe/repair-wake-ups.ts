/**
 * Which nodes must be looked at again because something around them changed: a pool's or policy's settings, or the share of
 * unhealthy nodes in a pool in which repairs are blocked.
 */
import * as z from 'zod';
import { KARPENTER } from '../contract/names.ts';
import type { NodeView } from '../domain/node.ts';
import { matchStatements } from '../domain/repair-policy.ts';
import { addDuration, hours, isDue, seconds, toDurationMs, toEpochMs, type EpochMs } from '../domain/time.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { NewRecord, RecordKey } from '../ports/record-store.ts';
import { putWithWakeUp } from '../timers/put-with-wake-up.ts';
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

/**
 * What the mark of a blocked pool says. To wake its nodes is a promise like any other: it is written down first, with a timer, and
 * taken back when it is kept; a run that dies in between is made up for.
 */
const markSchema = z.object({
  schemaVersion: z.literal(1),
  /** Repairs were blocked since its nodes were woken. */
  blocked: z.boolean().default(true),
  /** Somebody is about to wake its nodes. */
  waking: z.boolean().default(false),
  /** When somebody began to, the last time. */
  wokenTime: z.number().exactOptional(),
});
type Mark = z.output<typeof markSchema>;

/**
 * The nodes of a blocked pool are woken at once by a change, and then not more often than this: a forwarder that starts tells of
 * every node, and each of them would wake all unhealthy ones.
 */
const WAKE_SPACING = seconds(30);

/** A name that no NodePool can have, for the mark of the nodes without one. */
const NO_POOL = KARPENTER.nodePoolLabel;

/** Remembers that a repair in the pool is blocked, so that a change of the pool wakes its nodes. */
export async function markPoolBlocked(deps: Deps, pool: string | undefined): Promise<void> {
  const stored = await deps.records.get(blockedKey(pool));
  const mark = stored === undefined ? UNMARKED : markSchema.parse(stored.state);
  if (mark.blocked) return;
  // A lost race means that another node of the pool marked it first, or that its nodes are being woken.
  await deps.records.put(toRecord(deps, pool, { ...mark, blocked: true }, stored?.nextWakeTime), stored?.version ?? 0);
}

const UNMARKED: Mark = { schemaVersion: 1, blocked: false, waking: false };

/**
 * Wakes the unhealthy nodes of a pool in which repairs were blocked, after a node of it came, went or recovered; and those without a
 * pool, for which every node of the cluster counts.
 */
export async function wakeBlockedNodes(deps: Deps, pool: string | undefined): Promise<void> {
  if (pool !== undefined) await wakeMarked(deps, pool);
  await wakeMarked(deps, undefined);
}

/** A wake-up that `wakeBlockedNodes` put off is due; `name` is that of its subject. */
export async function wakePostponed(deps: Deps, name: string): Promise<void> {
  await wakeMarked(deps, name === NO_POOL ? undefined : name);
}

async function wakeMarked(deps: Deps, pool: string | undefined): Promise<void> {
  const stored = await deps.records.get(blockedKey(pool));
  if (stored === undefined) return;
  const mark = markSchema.parse(stored.state);
  if (!mark.blocked && !mark.waking) return;
  const now = deps.clock.now();
  const next = mark.wokenTime === undefined ? now : addDuration(toEpochMs(mark.wokenTime), WAKE_SPACING);
  if (!isDue(now, next)) {
    // Its nodes were woken a moment ago: once more when the time has come, however much changes until then.
    if (stored.nextWakeTime === undefined) await putWithWakeUp(deps, toRecord(deps, pool, mark, next), stored.version);
    return;
  }

  const intent = { ...mark, blocked: false, waking: true, wokenTime: now };
  const taken = await putWithWakeUp(deps, toRecord(deps, pool, intent, addDuration(now, WAKE_SPACING)), stored.version);
  if (taken.kind === 'lostRace') return;
  const nodes = await loadPoolNodes(deps, pool);
  await wakeUnhealthy(deps, pool === undefined ? nodes.filter(node => nodePoolOf(node) === undefined) : nodes);
  // A lost race means that a repair was blocked again meanwhile; then the timer wakes the nodes once more, in vain or not.
  await deps.records.put(toRecord(deps, pool, { ...intent, waking: false }, undefined), taken.record.version);
}

function toRecord(deps: Deps, pool: string | undefined, mark: Mark, nextWakeTime: EpochMs | undefined): NewRecord {
  return {
    ...blockedKey(pool),
    subject: { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: pool ?? NO_POOL },
    state: { ...mark },
    expireTime: addDuration(deps.clock.now(), hours(24)),
    ...(nextWakeTime !== undefined && { nextWakeTime }),
  };
}
