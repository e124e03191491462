/** Wake-ups of drains because something around their nodes changed, and the other nodes of a pool. A burst of changes costs one round. */
import { fewAtATime } from '../../shared/cluster/in-parallel.ts';
import { listNodes } from '../../shared/cluster/lists.ts';
import { isWatchedFor } from '../../shared/cluster/pod-watchers.ts';
import { NVSENTINEL, ANNOTATIONS, KARPENTER } from '../../shared/contract/names.ts';
import { slotsOf, type DrainLimits } from '../../shared/domain/drain-limits.ts';
import { subjectOf, type KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { DRAIN_STATES, REMEDIATING } from '../../shared/domain/quarantine.ts';
import { seconds, toDurationMs } from '../../shared/domain/time.ts';
import { openRecord } from '../../shared/lifecycle/timed-record.ts';
import { createRounds, type Rounds } from '../../shared/policies/rounds.ts';
import { createSettingsRounds, type SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { DRAIN_CODEC, OWNER, recordIdOf, type DrainRecord } from './record.ts';
import { readUnderWay } from './rule/node-annotations.ts';
import type { DrainObservation, PoolDrains, WaitingDrain } from './rule/observation.ts';
import { sortByAge, nextDrains, skipsItsTurn } from './rule/queue.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>;

/** The label of a node whose drain is under way. While it is remediated, it keeps that label. */
const DRAINING = { labelSelector: `${NVSENTINEL.stateLabel} in (${DRAIN_STATES.draining}, ${REMEDIATING})` };

/** The nodes whose drain may be under way. */
const listDrainingNodes = async (deps: Pick<Deps, 'kubernetes'>): Promise<readonly KubernetesObject[]> =>
  (await listNodes(deps, DRAINING)).filter(node => isWatchedFor(node, OWNER));

/** Rounds after changes of settings: for the drains under way and those that wait for a configuration. */
export function settingsRounds(deps: Deps): SettingsRounds {
  return createSettingsRounds(deps, OWNER, async () =>
    (await listNodes(deps)).filter(node => isWatchedFor(node, OWNER)).map(subjectOf),
  );
}

/** Rounds for the drains under way: a PodDisruptionBudget may have opened. */
export function drainRounds(deps: Deps): Rounds {
  return createRounds(deps, {
    owner: OWNER,
    name: 'drains',
    spacing: seconds(1),
    findAffected: async () => (await listDrainingNodes(deps)).map(subjectOf),
  });
}

/** Wakes the drain that a custom resource of this name was made for: names begin with the node's (`drainResourceName`). */
export async function wakeDrainOf(deps: Deps, resourceName: string): Promise<void> {
  const nodes = await listDrainingNodes(deps);
  await wakeNow(
    deps,
    nodes.filter(({ metadata: { name } }) => resourceName.startsWith(`drain-${name}-`)),
  );
}

/** Wakes the drains of these Nodes at once. */
function wakeNow(
  { wakeUps, clock }: Pick<FunctionDeps, 'wakeUps' | 'clock'>,
  nodes: readonly KubernetesObject[],
): Promise<void> {
  const wakeTime = clock.now();
  return wakeUps.send(
    nodes.map(node => ({ wakeUp: { owner: OWNER, subject: subjectOf(node), wakeTime }, delay: toDurationMs(0) })),
  );
}

interface PoolDrainsWithNodes extends PoolDrains {
  /** UIDs of the nodes that `drainingCount` counts. */
  readonly drainingUids: readonly string[];
  readonly waiters: readonly (WaitingDrain & { readonly node: KubernetesObject })[];
}

/** Reads the other nodes of a pool. @param pool undefined: the nodes without a NodePool, which form one */
export async function readPoolDrains(
  deps: Pick<FunctionDeps, 'kubernetes'>,
  { uid }: { readonly uid: string },
  pool: string | undefined,
): Promise<PoolDrainsWithNodes> {
  const label = KARPENTER.nodePoolLabel;
  const nodes = await listNodes(deps, { labelSelector: pool === undefined ? `!${label}` : `${label}=${pool}` });
  const others = nodes.filter(({ metadata }) => metadata.uid !== uid);
  const waiters: (WaitingDrain & { node: KubernetesObject })[] = [];
  const drainingUids: string[] = [];
  for (const node of others) {
    const mark = node.metadata.annotations?.[ANNOTATIONS.drainUnderWay];
    if (mark === undefined) continue;
    const read = readUnderWay(mark);
    // A mark that cannot be read may be that of a drain (I6).
    if (read?.isWaiting === true) waiters.push({ uid: node.metadata.uid, since: read.since, node });
    else drainingUids.push(node.metadata.uid);
  }
  return { total: others.length + 1, drainingCount: drainingUids.length, drainingUids, waiters };
}

/**
 * Leaves out older drains that pass their turn. Records are read, the oldest first, of as many drains as have one of the free slots, and of
 * one at least.
 *
 * @param isOlder whether a drain has its turn before the one in question
 */
export async function withoutSkippedTurns<Drains extends PoolDrains>(
  deps: Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>,
  drains: Drains,
  maxConcurrent: NonNullable<DrainLimits['maxConcurrent']>,
  isOlder: (drain: WaitingDrain) => boolean = () => true,
): Promise<Drains> {
  const passed = new Set<string>();
  let free = Math.max(1, slotsOf(maxConcurrent, drains.total) - drains.drainingCount);
  for (const { uid } of sortByAge(drains.waiters.filter(isOlder))) {
    if (free <= 0) break;
    const loaded = await openRecord(deps, DRAIN_CODEC, recordIdOf(uid)).load();
    if (loaded.kind === 'known' && skipsItsTurn(loaded.value, deps.clock.now())) passed.add(uid);
    else free -= 1;
  }
  return { ...drains, waiters: drains.waiters.filter(({ uid }) => !passed.has(uid)) };
}

/**
 * Leaves out drains that are over and answered while their Nodes must not be changed: their slots are free. Where all slots are taken, the first in the
 * queue reads the records.
 *
 * @param isOlder whether a drain has its turn before the one in question
 */
export async function withoutEnded(
  deps: Pick<FunctionDeps, 'records' | 'wakeUps' | 'clock'>,
  drains: PoolDrainsWithNodes,
  maxConcurrent: NonNullable<DrainLimits['maxConcurrent']>,
  isOlder: (drain: WaitingDrain) => boolean,
): Promise<PoolDrains> {
  const { total, drainingCount, drainingUids, waiters } = drains;
  if (drainingCount < slotsOf(maxConcurrent, total) || waiters.some(isOlder)) return drains;
  let endedCount = 0;
  await fewAtATime(drainingUids, async uid => {
    const loaded = await openRecord(deps, DRAIN_CODEC, recordIdOf(uid)).load();
    if (loaded.kind === 'none' || (loaded.kind === 'known' && isOver(loaded.value))) endedCount += 1;
  });
  return { ...drains, drainingCount: drainingCount - endedCount };
}

const isOver = ({ active }: DrainRecord): boolean =>
  active === undefined || (active.phase.kind === 'ending' && active.phase.isAnswered === true);

/** Wakes the drains whose turn it may be, because the slot of one that has ended is free. */
export async function wakeNext(
  deps: Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'>,
  { inForce, node }: Pick<DrainObservation, 'inForce' | 'node'>,
): Promise<void> {
  if (inForce.kind === 'notServed' || inForce.limits.kind === 'unreadable') return;
  const { maxConcurrent } = inForce.limits;
  if (maxConcurrent === undefined) return;
  const pool = node.labels[KARPENTER.nodePoolLabel];
  const drains = await withoutSkippedTurns(deps, await readPoolDrains(deps, node, pool), maxConcurrent);
  const next = nextDrains(drains.waiters, drains.drainingCount, slotsOf(maxConcurrent, drains.total));
  await wakeNow(
    deps,
    next.map(({ node: each }) => each),
  );
}
