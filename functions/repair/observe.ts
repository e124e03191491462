/**
 * Reads all that a pass needs: the record and the settings of the pool, its nodes with their records, and what only due
 * nodes need. All reads are live. What is found of the nodes says what to read next (`rule/judged-pool.ts`).
 */
import { clusterNodesOf, repairConditionsUnder } from './common/settings.ts';
import type { DecisionOrigin, PassDeps } from './context.ts';
import { type MissingNodes, type NodeElsewhere, readMissing, readOtherPools, withReplacements } from './node-pools.ts';
import type { Replacement } from './node/attempt-record.ts';
import { withAnswers } from './inquiry.ts';
import type { NodeRecord } from './node/record.ts';
import { readableSettings } from './node/rule/incident.ts';
import { externalRequestsFor } from './node/rule/other-work.ts';
import { type MovedAttempts, moveOldAttempts } from './old-attempts.ts';
import { NEW_POOL, type PoolRecord } from './pool-record.ts';
import { basisFor, loadPoolSettings, type PoolSettings } from './pool-settings.ts';
import { NODE_CODEC, nodeRecordId, POOL_CODEC, poolRecordId, type StoredNode } from './record.ts';
import { type OpenReservations, openReservations } from './reservations.ts';
import type { NodeToConfirm } from './rule/confirmation.ts';
import { instanceEndTimeOf } from './rule/guard-inputs.ts';
import { mayBeOutage } from './rule/guards.ts';
import type { NextRead } from './rule/judged-pool.ts';
import type { PassRequests } from './rule/pass-requests.ts';
import type { ClusterNodes, DueFacts, PoolFacts } from './rule/pool-facts.ts';
import { nodesWithoutClaim, ownsNode } from './rule/pool-members.ts';
import { fewAtATime, inParallel } from '../../shared/cluster/in-parallel.ts';
import { getNodeClaimView, getNodeView, listNodeClaims, listNodes } from '../../shared/cluster/lists.ts';
import { claimsOfNode, listClaimsBeside, type NodesAndClaims } from '../../shared/cluster/owner.ts';
import { activity } from '../../shared/contract/budget-schedule.ts';
import { ANNOTATIONS, KARPENTER } from '../../shared/contract/names.ts';
import { MEDIK8S_LEASES, NODE_REQUESTS, RESOURCES } from '../../shared/contract/resources.ts';
import { type NodeClaimView, readNodeClaim, replacedNode } from '../../shared/domain/node-claim.ts';
import { type NodeView, readNode } from '../../shared/domain/node.ts';
import { matchRepairConditions, type RepairCondition, type RepairSettings } from '../../shared/domain/repair-policy.ts';
import { type EpochMs, isDue } from '../../shared/domain/time.ts';
import { messageOf, RetryableError, TerminalError } from '../../shared/errors.ts';
import { withoutRefusedRead } from '../../shared/lifecycle/refusals.ts';
import { openRecord, openRecords, type TimedRecord } from '../../shared/lifecycle/timed-record.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import { objectsOf, orUnavailable } from '../../shared/ports/read-answer.ts';

/** Facts that a pass has read of its pool, with the records to write. */
export interface ObservedPool extends PoolFacts {
  readonly poolSettings: PoolSettings;
  readonly origin: DecisionOrigin;
  readonly timedPoolRecord: TimedRecord<PoolRecord>;
  readonly timedNodeRecord: (uid: string) => TimedRecord<NodeRecord>;
  /** Nodes of other pools, whose passes are to look at them. */
  readonly nodesElsewhere: readonly NodeElsewhere[];
}

/** Limits that can block a due node, beside those that follow from Nodes and NodeClaims. */
export interface ObservedLimits {
  readonly now: EpochMs;
  /** Reservations of other pools; undefined: no limit is in force, or none counts. */
  readonly reserved: OpenReservations | undefined;
  /** Answers of EC2 about the nodes that it is to confirm, by UID. */
  readonly answers: ReadonlyMap<string, string>;
}

/** Reads the facts by which each node is judged. `newer`: a later version of this function keeps one of the records. */
export async function observe(
  deps: PassDeps,
  pool: string | undefined,
  requests: PassRequests,
): Promise<ObservedPool | 'newer'> {
  const timedPoolRecord = openRecord(deps, POOL_CODEC, poolRecordId(pool));
  const [loaded, poolSettings, view] = await inParallel([
    timedPoolRecord.load(),
    loadPoolSettings(deps, pool),
    loadPoolView(deps, pool),
  ]);
  if (loaded.kind === 'newer') return 'newer';
  const poolRecord = loaded.kind === 'known' ? withoutRefusedRead(loaded.value) : NEW_POOL;
  const settings = readableSettings(poolSettings.repair);
  const nodes = view.nodes.filter(node => ownsNode(node, pool, view.claims));
  const repairConditions = repairConditionsUnder(poolSettings.repair);
  const unhealthy = nodes.filter(node => matchRepairConditions(node, repairConditions).length > 0);
  const opened = openRecords(deps, NODE_CODEC);
  const timedNodeRecord = (uid: string): TimedRecord<NodeRecord> => opened(nodeRecordId(uid));
  const replaced = view.claims.flatMap(claim => replacedNode(claim) ?? []);
  const stored = await readNodes(deps, timedNodeRecord, nodes, { unhealthy, poolRecord, requests, replaced });
  if (stored === 'newer') return 'newer';
  const { gateOpen, mode, settings: inForce } = poolSettings.repair;
  const isEnforced = gateOpen && mode === 'Enforce' && inForce !== undefined;
  const mayLaunch = (node: NodeView): boolean => isEnforced && (settings === undefined || unhealthy.includes(node));
  const knownRecords =
    replaced.length === 0 ? stored : await withReplacements(deps, { pool, view, nodes, stored, replaced, mayLaunch });
  const { records, oldAttempts } = await completeRecords(deps, knownRecords, {
    nodes,
    settings,
    old: poolRecord.oldAttempts,
  });
  const nodesToLookAt = nodes.filter(
    node => records.has(node.uid) || unhealthy.includes(node) || requests.uids.has(node.uid),
  );
  const withoutClaim = nodesWithoutClaim(pool, nodesToLookAt, { claims: view.claims, records });
  const nodesOfOthers =
    withoutClaim.length === 0 ? NONE_ELSEWHERE : await readOtherPools(deps, pool, withoutClaim, requests);
  const ownUids = new Set(nodes.map(({ uid }) => uid));
  const missing = [...records].filter(([uid]) => !ownUids.has(uid));
  const claimsElsewhere = await readClaimsElsewhere(deps, view, records);
  const { gone, elsewhere } = missing.length === 0 ? NONE_MISSING : await readMissing(deps, pool, missing);
  return {
    now: deps.clock.now(),
    pool,
    poolSettings,
    origin: { pool, source: poolSettings.repair.source },
    requests,
    poolRecord: { ...poolRecord, oldAttempts },
    timedPoolRecord,
    hadPoolRecord: loaded.kind === 'known',
    nodes,
    nodesWithLabel: view.nodes,
    nodesToJudge: nodesToLookAt.filter(({ uid }) => !nodesOfOthers.has(uid)),
    claims: new Map([...view.claims, ...claimsElsewhere.claims].map(claim => [claim.uid, claim])),
    replacementNodes: claimsElsewhere.nodes,
    records,
    timedNodeRecord,
    recordsOfGoneNodes: gone,
    nodesElsewhere: [...nodesOfOthers.values(), ...elsewhere],
    dueFacts: undefined,
    existsByUid: new Map(),
    activity,
    basisOf: claim => basisFor(claim, poolSettings),
  };
}

const NONE_ELSEWHERE: ReadonlyMap<string, NodeElsewhere> = new Map();
const NONE_MISSING: MissingNodes = { gone: new Map(), elsewhere: [] };

/** Reads the facts that the findings ask for next. */
export async function readMore(deps: PassDeps, observed: ObservedPool, next: NextRead): Promise<ObservedPool> {
  switch (next.kind) {
    case 'dueFacts': {
      const [cluster, requests] = await inParallel([
        next.countsCluster ? loadClusterNodes(deps, observed) : undefined,
        loadExternalRequests(deps, observed.nodes, observed.now),
      ]);
      return { ...observed, dueFacts: { cluster, ...requests } };
    }
    case 'nodes': {
      const existsByUid = new Map(observed.existsByUid);
      await fewAtATime(next.nodes, async ({ name, uid }) => {
        existsByUid.set(uid, (await getNodeView(deps, name))?.uid === uid);
      });
      return { ...observed, existsByUid };
    }
  }
}

/** Reads limits and EC2's answers, once no finding asks for more. @param unconfirmed nodes that EC2 is asked about */
export async function observeLimits(
  deps: PassDeps,
  { pool, poolSettings, dueFacts }: ObservedPool,
  unconfirmed: readonly NodeToConfirm[],
): Promise<ObservedLimits | 'newer'> {
  const { limits } = poolSettings.repair;
  const cluster = dueFacts?.cluster;
  const reserved =
    limits &&
    cluster &&
    (await openReservations(deps, { pool, limits, nodes: cluster.nodes, pools: [undefined, ...cluster.pools] }));
  if (reserved === 'newer') return reserved;
  const now = deps.clock.now();
  return { now, reserved, answers: await askEc2(deps, unconfirmed) };
}

/** The records of the nodes that are unhealthy, in flight, replaced, or asked for. */
async function readNodes(
  { clock }: PassDeps,
  timedRecordOf: ObservedPool['timedNodeRecord'],
  nodes: readonly NodeView[],
  {
    unhealthy,
    poolRecord,
    requests,
    replaced,
  }: {
    readonly unhealthy: readonly NodeView[];
    readonly poolRecord: PoolRecord;
    readonly requests: PassRequests;
    readonly replaced: readonly string[];
  },
): Promise<ReadonlyMap<string, StoredNode> | 'newer'> {
  const { inFlight, followed, oldAttempts = [] } = poolRecord;
  const wanted = new Set([
    ...unhealthy.map(({ uid }) => uid),
    ...Object.keys(inFlight),
    ...followed,
    ...requests.uids,
    ...replaced,
    ...oldAttempts.map(({ node }) => node.uid),
  ]);
  const names = new Map(nodes.map(({ uid, name }) => [uid, name]));
  const records = new Map<string, StoredNode>();
  let isNewer = false;
  await fewAtATime([...wanted], async uid => {
    const loaded = await timedRecordOf(uid).load();
    if (loaded.kind === 'newer') isNewer = true;
    if (loaded.kind !== 'known') return;
    const { subject, state: stored, nextWakeTime } = loaded.stored;
    const isStale = nextWakeTime === undefined || isDue(clock.now(), nextWakeTime);
    const needsRewrite = isStale || stored.schemaVersion !== NODE_CODEC.schemaVersion;
    records.set(uid, { value: { ...loaded.value, name: names.get(uid) ?? subject.name }, needsRewrite });
  });
  return isNewer ? 'newer' : records;
}

/** Completes the records of nodes by attempts that the pool's record still has, and by answers about attempts under way. */
async function completeRecords(
  deps: PassDeps,
  stored: ReadonlyMap<string, StoredNode>,
  {
    nodes,
    settings,
    old,
  }: {
    readonly nodes: readonly NodeView[];
    readonly settings: RepairSettings | undefined;
    readonly old: PoolRecord['oldAttempts'];
  },
): Promise<MovedAttempts> {
  const moved =
    old === undefined ? { records: stored, oldAttempts: undefined } : moveOldAttempts(old, stored, nodes, settings);
  const hasOpenAttempt = [...moved.records.values()].some(({ value }) => value.attempt !== undefined);
  return hasOpenAttempt ? { ...moved, records: await withAnswers(deps, moved.records, nodes) } : moved;
}

type Kubernetes = Pick<FunctionDeps, 'kubernetes'>;

/**
 * The nodes of a pool with its NodeClaims, both by the label, and the nodes that a NodeClaim names although they lack
 * it. Nodes without the label form a pool of their own, with the few NodeClaims that lack it, too.
 */
async function loadPoolView(deps: Kubernetes, pool: string | undefined): Promise<NodesAndClaims> {
  const label = KARPENTER.nodePoolLabel;
  const query = { labelSelector: pool === undefined ? `!${label}` : `${label}=${pool}` };
  const [nodeObjects, claimObjects] = await inParallel([
    listNodes(deps, query),
    listNodeClaims(deps, claimsOfNode(undefined, pool), query),
  ]);
  const claims = claimObjects.map(readNodeClaim);
  const names = new Set(claims.map(({ name }) => name));
  const isOwn = ({ ownerClaim }: NodeView): boolean =>
    pool !== undefined || ownerClaim === undefined || names.has(ownerClaim);
  const nodes = nodeObjects.map(readNode).filter(isOwn);
  const listedNames = new Set(nodes.map(({ name }) => name));
  const missing = new Set(
    claims.flatMap(({ nodeName }) => (nodeName === undefined || listedNames.has(nodeName) ? [] : nodeName)),
  );
  await fewAtATime([...missing], async name => {
    const node = await getNodeView(deps, name);
    if (node !== undefined) nodes.push(node);
  });
  return { nodes, claims };
}

/**
 * NodeClaims of records that another pool lists: replacements, as after their unhealthy node has moved, with their Nodes,
 * and those under termination. Each is looked up by its name before it counts as gone.
 */
async function readClaimsElsewhere(
  deps: Kubernetes,
  view: NodesAndClaims,
  records: ReadonlyMap<string, StoredNode>,
): Promise<NodesAndClaims> {
  const readNames = new Set(view.claims.map(({ name }) => name));
  const claims: NodeClaimView[] = [];
  const nodes: NodeView[] = [];
  const read = async (named: Pick<Replacement, 'name' | 'uid'> | undefined): Promise<string | undefined> => {
    // One without a UID was never seen: it may not be there at all.
    if (named?.uid === undefined || readNames.has(named.name)) return undefined;
    readNames.add(named.name);
    const claim = await getNodeClaimView(deps, named.name);
    if (claim?.uid !== named.uid) return undefined;
    claims.push(claim);
    return claim.nodeName;
  };
  await fewAtATime([...records.values()], async ({ value: { attempt, leftovers } }) => {
    const name = await read(leftovers?.replacement);
    const node = name === undefined ? undefined : await getNodeView(deps, name);
    if (node !== undefined) nodes.push(node);
    await read(leftovers?.annotation?.claim);
    if (attempt?.action === 'Terminate') await read(attempt.claim);
  });
  return { nodes, claims };
}

/**
 * Reads all nodes, with the facts that decide whether each of them counts. Only freeze and zone ask for the NodeClaims of other pools and for
 * instances that were ended: both are read where freeze or zone may block. The threshold of nodes without a NodePool counts the whole cluster.
 */
async function loadClusterNodes(
  deps: PassDeps,
  { pool, nodes: ownNodes, poolSettings: { repair, policies, config }, now }: ObservedPool,
): Promise<ClusterNodes> {
  const [nodes, poolList] = await inParallel([
    listNodes(deps).then(listed => listed.map(readNode)),
    deps.kubernetes.list(RESOURCES.NodePool),
  ]);
  const pools = new Map(objectsOf(poolList, { ifNotServed: 'empty' }).map(each => [each.metadata.name, each]));
  const sources = { policies, providerPolicies: config.providerPolicies, mode: repair.mode };
  if (pool === undefined) return clusterNodesOf({ nodes, claims: await listClaimsBeside(deps, nodes), pools }, sources);
  const cluster = clusterNodesOf({ nodes, claims: undefined, pools }, sources);
  const ownUids = new Set(ownNodes.map(({ uid }) => uid));
  const ownConditions = repairConditionsUnder(repair);
  const repairConditionsOf = (node: NodeView): readonly RepairCondition[] =>
    ownUids.has(node.uid) ? ownConditions : cluster.repairConditionsOf(node);
  const areAllOwn = nodes.every(({ uid }) => ownUids.has(uid));
  if (areAllOwn || !mayBeOutage(readableSettings(repair), nodes, { now, repairConditionsOf })) return cluster;
  const [claims, instanceEnds] = await inParallel([listClaimsBeside(deps, nodes), loadInstanceEnds(deps)]);
  return clusterNodesOf({ nodes, claims, pools }, sources, instanceEnds);
}

/**
 * Nodes without a NodePool whose instances a repair had ended, by UID. Only records tell: nothing of that stands on a Node. What a
 * newer version keeps is not known, and counts as not ended.
 */
async function loadInstanceEnds(deps: PassDeps): Promise<ReadonlyMap<string, EpochMs>> {
  const pool = await openRecord(deps, POOL_CODEC, poolRecordId(undefined)).load();
  const { inFlight, followed } = pool.kind === 'known' ? pool.value : { inFlight: {}, followed: [] };
  const ends = new Map<string, EpochMs>();
  await fewAtATime([...Object.keys(inFlight), ...followed], async uid => {
    const loaded = await openRecord(deps, NODE_CODEC, nodeRecordId(uid)).load();
    if (loaded.kind !== 'known') return;
    const time = instanceEndTimeOf(loaded.value.attempt);
    if (time !== undefined) ends.set(uid, time);
  });
  return ends;
}

/**
 * Reads who else asks for these nodes: requests of NVSentinel, and Leases of medik8s. A kind that cannot be read blocks what
 * would begin, and nothing that has begun.
 */
async function loadExternalRequests(
  { kubernetes }: Kubernetes,
  nodes: readonly NodeView[],
  now: EpochMs,
): Promise<Omit<DueFacts, 'cluster'>> {
  const [leases, ...answers] = await inParallel([
    orUnavailable(kubernetes.list(RESOURCES.Lease, { namespace: MEDIK8S_LEASES })),
    ...NODE_REQUESTS.map(({ group, version, resource }) =>
      orUnavailable(kubernetes.list({ group, version, resource })),
    ),
  ]);
  const [requestsFault] = [leases, ...answers].flatMap(each => ('error' in each ? [messageOf(each.error)] : []));
  const seen = (answer: typeof leases) => ('error' in answer ? [] : objectsOf(answer, { ifNotServed: 'empty' }));
  const requests = answers.flatMap((answer, index) =>
    seen(answer)
      .filter(({ metadata }) => metadata.annotations?.[ANNOTATIONS.repair] === undefined)
      .map(object => ({ kind: NODE_REQUESTS[index]?.kind ?? '', object })),
  );
  return { externalRequests: externalRequestsFor(nodes, requests, seen(leases), now), requestsFault };
}

/** The answer of EC2 about each of these nodes, by UID. */
async function askEc2(
  { instances }: Pick<FunctionDeps, 'instances'>,
  nodes: readonly NodeToConfirm[],
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  await fewAtATime(nodes, async ({ node: { uid, providerID }, check }) => {
    try {
      const answer = providerID === undefined ? undefined : await instances.checkOf(providerID, check);
      answers.set(uid, answer ?? 'nothing');
    } catch (error) {
      // Unknown blocks this node alone (I6). Any other error is a mistake of ours.
      if (!(error instanceof RetryableError || error instanceof TerminalError)) throw error;
      answers.set(uid, `nothing (${messageOf(error)})`);
    }
  });
  return answers;
}
