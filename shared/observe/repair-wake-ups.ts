/**
 * Which nodes must be looked at again because something around them changed: a pool's or policy's settings, or the share of
 * unhealthy nodes in a pool in which repairs are blocked.
 */
import { KARPENTER } from '../contract/names.ts';
import * as z from '../contract/zod.ts';
import type { NodeView } from '../domain/node.ts';
import { matchStatements } from '../domain/repair-policy.ts';
import { addDuration, hours, isDue, seconds, toDurationMs, toEpochMs, type EpochMs } from '../domain/time.ts';
import { RetryableError } from '../errors.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';
import type { NewRecord, RecordKey, StoredRecord } from '../ports/record-store.ts';
import { putWithWakeUp } from '../timers/put-with-wake-up.ts';
import { loadPoolNodes } from '../cluster/node-pool.ts';
import { nodePoolOf } from '../cluster/node-pool.ts';

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
 * What the mark of a blocked pool says. To wake its nodes after a change is a promise like any other: it is written down first,
 * with a timer, and ticked off when it is kept; a run that dies in between is made up for.
 */
const markSchema = z.object({
  schemaVersion: z.literal(1),
  /** A repair was blocked since the nodes were last woken. */
  blocked: z._default(z.boolean(), true),
  /** Changes of the pool that were told of while repairs were blocked, counted. */
  changes: z._default(z.number(), 0),
  /** The nodes are being woken for so many of them. */
  serving: z._default(z.number(), 0),
  /** The nodes were woken for so many of them. */
  served: z._default(z.number(), 0),
  /** When somebody last began to wake the nodes. */
  wokenTime: z.exactOptional(z.number()),
});
type Mark = z.output<typeof markSchema>;

const UNMARKED: Mark = { schemaVersion: 1, blocked: false, changes: 0, serving: 0, served: 0 };

/**
 * The nodes of a blocked pool are woken at once by a change, and then not more often than this: a forwarder that starts tells of
 * every node, and each of them would wake all unhealthy ones.
 */
const WAKE_SPACING = seconds(5);
/** Only a handful of functions run at once, so that a few tries suffice to get a word in. */
const MAX_TRIES = 5;

/** A name that no NodePool can have, for the mark of the nodes without one. */
const NO_POOL = KARPENTER.nodePoolLabel;

/** Remembers that a repair in the pool is blocked, so that a change of the pool wakes its nodes. */
export async function markPoolBlocked(deps: Deps, pool: string | undefined): Promise<void> {
  const { mark, stored } = await readMark(deps, pool);
  if (mark.blocked) return;
  // A lost race means that another node of the pool marked it first, or that its nodes are being woken.
  await deps.records.put(toRecord(deps, pool, { ...mark, blocked: true }, stored?.nextWakeTime), stored?.version ?? 0);
}

/**
 * Wakes the unhealthy nodes of a pool in which repairs were blocked, after a node of it came, went or recovered; and those without a
 * pool, for which every node of the cluster counts.
 */
export async function wakeBlockedNodes(deps: Deps, pool: string | undefined): Promise<void> {
  if (pool !== undefined) await noteChange(deps, pool);
  await noteChange(deps, undefined);
}

/** A wake-up that was put off, or that a run did not finish, is due; `name` is that of its subject. */
export async function wakePostponed(deps: Deps, name: string): Promise<void> {
  const pool = name === NO_POOL ? undefined : name;
  const { mark, stored } = await readMark(deps, pool);
  if (stored !== undefined && mark.served < mark.changes) await wakeWhenDue(deps, pool, mark, stored);
}

async function noteChange(deps: Deps, pool: string | undefined): Promise<void> {
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const { mark, stored } = await readMark(deps, pool);
    // Nothing is blocked, or a change that nobody serves yet will wake the nodes for this one too.
    if (stored === undefined || (!mark.blocked && mark.serving === mark.served)) return;
    if (mark.changes > mark.serving) return;
    if (await wakeWhenDue(deps, pool, { ...mark, changes: mark.changes + 1 }, stored)) return;
  }
  throw new RetryableError('noting a change of a blocked pool: others keep writing first', { reason: 'LostRace' });
}

/** Wakes the nodes, or arms the timer that will. Answers false when another run wrote first. */
async function wakeWhenDue(deps: Deps, pool: string | undefined, mark: Mark, stored: StoredRecord): Promise<boolean> {
  const now = deps.clock.now();
  const next = mark.wokenTime === undefined ? now : addDuration(toEpochMs(mark.wokenTime), WAKE_SPACING);
  if (!isDue(now, next)) {
    return (await putWithWakeUp(deps, toRecord(deps, pool, mark, next), stored.version)).kind === 'written';
  }
  const intent = { ...mark, blocked: false, serving: mark.changes, wokenTime: now };
  const taken = await putWithWakeUp(deps, toRecord(deps, pool, intent, addDuration(now, WAKE_SPACING)), stored.version);
  if (taken.kind === 'lostRace') return false;
  const nodes = await loadPoolNodes(deps, pool);
  await wakeUnhealthy(deps, pool === undefined ? nodes.filter(node => nodePoolOf(node) === undefined) : nodes);
  await tickOff(deps, pool, intent.serving);
  return true;
}

/** The nodes were woken for `serving` changes. What others wrote meanwhile stays; without success the timer wakes them once more. */
async function tickOff(deps: Deps, pool: string | undefined, serving: number): Promise<void> {
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const { mark, stored } = await readMark(deps, pool);
    if (stored === undefined || mark.serving !== serving) return;
    const done = { ...mark, served: serving };
    const timer = mark.changes > serving ? stored.nextWakeTime : undefined;
    const outcome = await deps.records.put(toRecord(deps, pool, done, timer), stored.version);
    if (outcome.kind === 'written') return;
  }
}

async function readMark(
  deps: Deps,
  pool: string | undefined,
): Promise<{ mark: Mark; stored: StoredRecord | undefined }> {
  const stored = await deps.records.get(blockedKey(pool));
  return { stored, mark: stored === undefined ? UNMARKED : markSchema.parse(stored.state) };
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
