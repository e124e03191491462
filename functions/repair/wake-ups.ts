/** Says which events and rounds ask for a pass, and for which nodes. */
import { OWNER } from './common/context.ts';
import { OWN_BLOCKS } from './common/settings.ts';
import { mayNeedRepair } from './node/rule/health.ts';
import { FOR_POOL, FOR_SETTINGS, forNode, isBusy, type Passes } from './pass-queue.ts';
import { NODE_CODEC, nodeRecordId } from './record.ts';
import type { SeenChange } from './node/rule/node-facts.ts';
import type { PassRequest } from './rule/pass-requests.ts';
import { poolOf } from './rule/pool-members.ts';
import { inParallel, oneByOne } from '../../shared/cluster/in-parallel.ts';
import { loadPolicySets } from '../../shared/cluster/kept-policies.ts';
import { getNodeClaimView, getNodeView } from '../../shared/cluster/lists.ts';
import { nodePoolOf } from '../../shared/cluster/node-pool.ts';
import { loadCluster } from '../../shared/cluster/owner.ts';
import { type ClusterEvent, isRepublished } from '../../shared/contract/cluster-event.ts';
import type { InboxMessage } from '../../shared/contract/inbox-message.ts';
import { parseRepairBlock } from '../../shared/contract/repair-schema.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import { type NodeView, REPLACES_ANNOTATION } from '../../shared/domain/node.ts';
import type { RepairCondition } from '../../shared/domain/repair-policy.ts';
import { parseTimestamp } from '../../shared/domain/time.ts';
import { RetryableError } from '../../shared/errors.ts';
import type { RoundTargets } from '../../shared/lifecycle/next-round.ts';
import { throwIfNewer } from '../../shared/lifecycle/record-codec.ts';
import { causeOf } from '../../shared/lifecycle/refusals.ts';
import { openRecord } from '../../shared/lifecycle/timed-record.ts';
import { createSettingsRounds, type SettingsRounds } from '../../shared/policies/settings-rounds.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectOf, objectsOf, orUnavailable } from '../../shared/ports/read-answer.ts';

type Deps = Pick<FunctionDeps, 'kubernetes' | 'records' | 'wakeUps' | 'clock'> & { readonly passes: Passes };

/** Rounds after changes of settings; their targets are NodePools. */
export function settingsRounds(deps: Deps): SettingsRounds {
  return createSettingsRounds(deps, OWNER, async targets => {
    await oneByOne(await concernedPools(deps, targets), pool => deps.passes.request(pool, FOR_SETTINGS));
    return [];
  });
}

async function concernedPools(deps: Deps, targets: RoundTargets): Promise<ReadonlySet<string | undefined>> {
  const [{ nodes, claims }, policies, pools] = await inParallel([
    loadCluster(deps),
    loadPolicies(deps),
    deps.kubernetes.list(RESOURCES.NodePool),
  ]);
  const repairConditions = ownRepairConditions([...policies, ...objectsOf(pools, { ifNotServed: 'empty' })]);
  const owners = indexOwners(nodes, claims);
  const unhealthy = nodes
    .filter(node => mayNeedRepair(node, repairConditions))
    .map(node => poolOf(node, ownerOf(node, owners)));
  return new Set(targets === 'all' ? unhealthy : targets);
}

/** The policies as they are in force. If a policy cannot be read any more, its last version counts. */
async function loadPolicies(deps: Pick<FunctionDeps, 'kubernetes' | 'records'>): Promise<readonly KubernetesObject[]> {
  const [{ policies }] = await loadPolicySets(deps, OWNER, [OWN_BLOCKS]);
  return policies.map(({ object }) => object);
}

/** The conditions that users state in policies and NodePools. */
const ownRepairConditions = (objects: readonly KubernetesObject[]): readonly RepairCondition[] =>
  objects.flatMap(({ spec }) => {
    if (spec?.['repair'] === undefined) return [];
    const block = parseRepairBlock(spec['repair'], 'spec.repair');
    return block.ok ? block.value.conditions : [];
  });

async function loadPools(
  { kubernetes }: Pick<FunctionDeps, 'kubernetes'>,
  names: readonly string[],
): Promise<readonly KubernetesObject[]> {
  const pools = await inParallel(names.map(name => kubernetes.get({ type: RESOURCES.NodePool, name })));
  return pools.flatMap(pool => objectOf(pool, { ifNotServed: 'empty' }) ?? []);
}

/**
 * Asks for a pass of the pool that has the node in its records. False: the node has no record.
 * @param what a request of a message that nobody repeats
 */
export async function requestPassIfRemembered(
  deps: Deps,
  uid: string | undefined,
  what?: PassRequest,
): Promise<boolean> {
  if (uid === undefined) return false;
  const stored = await openRecord(deps, NODE_CODEC, nodeRecordId(uid)).load();
  const loaded = what === undefined ? stored : throwIfNewer(stored, `node ${uid}`);
  if (loaded.kind === 'known') await deps.passes.request(loaded.value.pool, what ?? forNode(uid));
  return loaded.kind === 'known';
}

/** Asks for a pass after a Node changed, came or went. */
export async function requestPassForChange(
  deps: Deps,
  event: Extract<InboxMessage, { kind: 'clusterEvent' }>['event'],
): Promise<void> {
  const { subject, change, changed, hints } = event;
  const { uid, name } = subject;
  const node = change === 'Deleted' ? undefined : await getNodeView(deps, name);
  const isKnown = node?.uid === uid || (await requestPassIfRemembered(deps, uid));
  if (!isKnown) await requestPassIfBusy(deps, { pool: hints.nodePool, event });
  if (node === undefined) return;
  const isChange = change === 'Modified' && changed.includes('conditions');
  const observedTime = isChange ? parseTimestamp(event.observedTime) : undefined;
  const seen = observedTime && { time: observedTime, statusChanged: event.statusChanged };
  await requestPassForNode(deps, node, { pool: hints.nodePool, event, seen });
}

interface ChangeContext {
  /** Pool of the object that changed. */
  readonly pool: string | undefined;
  readonly event: Pick<ClusterEvent, 'change' | 'changed' | 'resync'>;
}

interface AskContext extends ChangeContext {
  readonly seen?: SeenChange | undefined;
  /** A NodeClaim of the pool names the node. */
  readonly isClaimed?: boolean;
}

/** Asks for a pass of the node's pool if the node is unhealthy by any repair condition, has a record, or replaces another one. */
export async function requestPassForNode(
  deps: Deps,
  node: NodeView,
  { pool, event, seen, isClaimed = false }: AskContext,
): Promise<void> {
  const [loaded, pools] = await inParallel([
    openRecord(deps, NODE_CODEC, nodeRecordId(node.uid)).load(),
    isClaimed ? poolsOf(pool) : poolsOfNode(deps, node),
  ]);
  const isKnown = loaded.kind === 'known';
  const [own] = pools;
  if (!isKnown && !(await isConcerned(deps, node, pools))) {
    const isReplacement = node.annotations[REPLACES_ANNOTATION] !== undefined;
    return isReplacement ? deps.passes.request(own, FOR_POOL) : requestPassIfBusy(deps, { pool, event });
  }
  await deps.passes.request(own, forNode(node.uid, seen));
  // A repair ends in the pool in which it began.
  if (isKnown && loaded.value.pool !== own) await deps.passes.request(loaded.value.pool, forNode(node.uid));
}

/**
 * Whether a pass has to look at the node. While policies cannot be read their conditions are not known; if the node is
 * unhealthy without them, or a permission is missing, the pass says so.
 */
async function isConcerned(
  deps: Pick<FunctionDeps, 'kubernetes' | 'records'>,
  node: NodeView,
  pools: readonly string[],
): Promise<boolean> {
  try {
    const [policies, nodePools] = await inParallel([loadPolicies(deps), loadPools(deps, pools)]);
    return mayNeedRepair(node, ownRepairConditions([...policies, ...nodePools]));
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error;
    if (causeOf(error) === 'permission') return true;
    if (mayNeedRepair(node, []) || mayNeedRepair(node, ownRepairConditions(await loadPools(deps, pools)))) return true;
    throw error;
  }
}

const poolsOf = (...names: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(names.filter(name => name !== undefined)),
];

/**
 * The pools whose settings the node may be judged by: that of its label, and that of the NodeClaim that owns it. The first
 * one is asked, and its pass asks the other if the NodeClaim names that. If there is a label, a NodeClaim that cannot
 * be read stops nothing.
 */
async function poolsOfNode(deps: Deps, node: NodeView): Promise<readonly string[]> {
  const label = nodePoolOf(node);
  if (node.ownerClaim === undefined) return poolsOf(label);
  const reading = getNodeClaimView(deps, node.ownerClaim);
  const claim = label === undefined ? await reading : await orUnavailable(reading);
  const isRead = claim !== undefined && !('error' in claim);
  return poolsOf(label, isRead ? nodePoolOf(claim) : undefined);
}

/**
 * Asks for a pass if something is blocked or in flight in the pool: a node that came, went or recovered may let others go
 * on. One that is only published again lets nobody go on.
 */
export async function requestPassIfBusy(deps: Deps, { pool, event }: ChangeContext): Promise<void> {
  if (isRepublished(event)) return;
  for (const each of new Set([pool, undefined])) {
    if (await isBusy(deps, each)) await deps.passes.request(each, FOR_POOL);
  }
}
