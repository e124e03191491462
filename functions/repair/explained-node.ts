/**
 * The decision on a node for the command line. It comes from the same rules that a pass applies, without what only the
 * table of Curfew knows.
 */
import { clusterNodesOf, repairInForce, type SettingsSources } from './common/settings.ts';
import { decide } from './decide.ts';
import type { DueCondition } from './node/attempt-record.ts';
import { decideNode, judgeNode } from './node/decide.ts';
import type { NodeRecord } from './node/record.ts';
import { judgeHealth, withoutDueClause } from './node/rule/health.ts';
import { readableSettings } from './node/rule/incident.ts';
import { otherWorkOn } from './node/rule/other-work.ts';
import { firstNodeRecord } from './node/rule/reboot-marks.ts';
import { launchCapacityFault, launchCapacityOf } from './node/rule/replacement.ts';
import type { RepairInForce } from './node/rule/settings-in-force.ts';
import type { OwnVerdict, Rank } from './node/rule/verdict.ts';
import { readRequests } from './pass-queue.ts';
import { type LaunchPause, NEW_POOL } from './pool-record.ts';
import { POOL_CODEC, poolRecordId } from './record.ts';
import { CONFIRMED } from './rule/confirmation.ts';
import { guardInputsOf } from './rule/guard-inputs.ts';
import { judgePool } from './rule/judged-pool.ts';
import type { Activity, PoolFacts } from './rule/pool-facts.ts';
import { poolOf } from './rule/pool-members.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { NODE_POOL_LABEL, type NodeClaimView } from '../../shared/domain/node-claim.ts';
import { indexOwners, type Owner, ownerOf } from '../../shared/domain/node-owner.ts';
import { type NodeView, REPLACES_ANNOTATION } from '../../shared/domain/node.ts';
import { termsOf } from '../../shared/domain/repair-policy.ts';
import { type EpochMs, latest } from '../../shared/domain/time.ts';
import { readRecord } from '../../shared/lifecycle/record-codec.ts';
import type { RecordStore } from '../../shared/ports/record-store.ts';

/** A cluster, all of it read once. */
export interface SeenCluster extends SettingsSources {
  readonly nodes: readonly NodeView[];
  readonly claims: readonly NodeClaimView[];
  readonly pools: ReadonlyMap<string, KubernetesObject>;
  readonly activity: Activity;
  /** The NodeClaims as they stand in the cluster, by UID. */
  readonly claimObjects: ReadonlyMap<string, KubernetesObject>;
  /** Pauses after launches that failed, by pool; none where Curfew's table is not read. */
  readonly launchPauses: ReadonlyMap<string, LaunchPause>;
}

/** Decision on a node, with its reasons. */
export interface ExplainedNode {
  readonly pool: string | undefined;
  readonly repair: RepairInForce;
  /** The decision on the node alone, before guards and budgets. */
  readonly kind: OwnVerdict['kind'];
  /** Message with the reason, without the time from which a repair is due. */
  readonly message: string;
  /** Reason why settings or state of the node let no act begin; undefined: they do, or it is well or tolerated. */
  readonly obstacle: string | undefined;
  /** undefined: nothing is wrong, or nothing can be judged. */
  readonly dueCondition: DueCondition | undefined;
  /** The actions and bounds of the entry that decides. */
  readonly terms: ReturnType<typeof termsOf> | undefined;
  /** Reason why no replacement can be launched; undefined: one can, or no action launches one. */
  readonly launchFault: string | undefined;
  /** Name of the NodeClaim that was launched to replace it; undefined: there is none. */
  readonly replacement: string | undefined;
  /** Rank of the node among the due nodes of its pool; undefined: it is not due, or its turn is not looked at. */
  readonly rank: Rank | undefined;
  /** Message about what blocks the node in its pool although it is due; undefined: nothing does. */
  readonly blockedBy: string | undefined;
  /** The mark of another controller that is at work on it. */
  readonly worker: string | undefined;
}

export function explainNode(cluster: SeenCluster, node: NodeView, now: EpochMs): ExplainedNode {
  const { nodes, claims, pools } = cluster;
  const owners = indexOwners(nodes, claims);
  const owner = ownerOf(node, owners);
  const pool = poolOf(node, owner);
  const repair = repairInForce(pool === undefined ? undefined : pools.get(pool), cluster);
  const settings = readableSettings(repair);
  const record = seenRecord(node, owner, { pool, repair, now });
  const health = judgeHealth(node, { now, repair, record, episodes: [] });
  const own = decideNode({ now, node, owner, repair, health });
  const { kind } = own;
  const dueCondition = 'dueCondition' in own ? own.dueCondition : undefined;
  const isConcerned = ['tolerate', 'due', 'blockedByNode', 'vetoed'].includes(kind);
  const terms = settings && health.kind === 'unhealthy' && isConcerned ? termsOf(settings, health.entry) : undefined;
  return {
    pool,
    repair,
    kind,
    message: dueCondition === undefined ? own.message : withoutDueClause(own.message, dueCondition),
    obstacle: obstacleOf(own),
    dueCondition,
    terms,
    launchFault: terms && launchFaultOf(cluster, terms, owner, pool),
    replacement: claims.find(
      each => each.annotations[REPLACES_ANNOTATION] === node.uid && each.deletionTime === undefined,
    )?.name,
    ...(kind === 'due'
      ? inItsPool(cluster, node, { owners, pool, repair, now })
      : { rank: undefined, blockedBy: undefined }),
    worker: otherWorkOn(node, owner.kind === 'claim' ? owner.claim : undefined, undefined, now)?.what,
  };
}

function obstacleOf(own: OwnVerdict): string | undefined {
  switch (own.kind) {
    case 'ignore':
      return own.reason === 'Healthy' ? undefined : own.message;
    case 'vetoed':
      return own.veto.message;
    case 'refuse':
    case 'unclaimed':
    case 'blockedByNode':
      return own.message;
    case 'tolerate':
    case 'finishing':
    case 'due':
      return undefined;
  }
}

function launchFaultOf(
  { pools, claims, claimObjects }: SeenCluster,
  { actions }: ReturnType<typeof termsOf>,
  owner: ReturnType<typeof ownerOf>,
  pool: string | undefined,
): string | undefined {
  const nodePool = pool === undefined ? undefined : pools.get(pool);
  const unhealthyClaim = owner.kind === 'claim' ? claimObjects.get(owner.claim.uid) : undefined;
  if (!actions.some(({ type }) => type === 'ReplaceThenTerminate')) return undefined;
  if (nodePool === undefined || unhealthyClaim === undefined) return undefined;
  const ofPool = claims.filter(({ labels }) => labels[NODE_POOL_LABEL] === pool);
  const counted = launchCapacityOf({ claims: new Map(ofPool.map(each => [each.uid, each])), earlierLaunches: 0 });
  return launchCapacityFault(nodePool, { unhealthyClaim, ...counted });
}

/** Reads the pauses after launches that failed, by pool. A record of a newer version is left out. */
export async function readLaunchPauses(
  records: Pick<RecordStore, 'get'>,
  pools: readonly string[],
): Promise<SeenCluster['launchPauses']> {
  const pauses = await Promise.all(
    pools.map(async (pool): Promise<readonly (readonly [string, LaunchPause])[]> => {
      const read = readRecord(POOL_CODEC, await records.get({ owner: POOL_CODEC.owner, id: poolRecordId(pool) }));
      return read.kind === 'known' && read.value.launchPause !== undefined ? [[pool, read.value.launchPause]] : [];
    }),
  );
  return new Map(pauses.flat());
}

/** The repair in force for a pool, and the time by which it is applied. */
interface RepairNow extends Pick<ExplainedNode, 'pool' | 'repair'> {
  readonly now: EpochMs;
}

/**
 * The record of a node, as far as its Node shows it. An entry with a reason counts from the transition, for only
 * Curfew's table knows when the reason was first seen.
 */
function seenRecord(node: NodeView, owner: Owner, { pool, repair, now }: RepairNow): NodeRecord {
  const { unhealthy } = judgeHealth(node, { now, repair, record: undefined, episodes: [] });
  const onsets = unhealthy.flatMap(({ key, clockSkew, condition: { lastTransitionTime: stated } }) =>
    stated === undefined || clockSkew !== undefined
      ? []
      : [[key, { start: latest(stated, node.creationTime ?? stated), stated }] as const],
  );
  return { ...firstNodeRecord(node, pool, owner), onsets: Object.fromEntries(onsets) };
}

/** The decision of a pass that remembers nothing but the pause of launches. EC2 is not asked: what it has said is in Events. */
function inItsPool(
  cluster: SeenCluster,
  node: NodeView,
  { owners, pool, repair, now }: RepairNow & { readonly owners: ReturnType<typeof indexOwners> },
): Pick<ExplainedNode, 'rank' | 'blockedBy'> {
  const { nodes, claims, pools, activity } = cluster;
  const members = nodes.filter(each => poolOf(each, ownerOf(each, owners)) === pool);
  const launchPause = pool === undefined ? undefined : cluster.launchPauses.get(pool);
  const poolRecord = { ...NEW_POOL, ...(launchPause && { launchPause }) };
  const facts: PoolFacts = {
    now,
    pool,
    poolSettings: { repair, nodePool: pool === undefined ? undefined : pools.get(pool) },
    poolRecord,
    hadPoolRecord: false,
    nodes: members,
    nodesWithLabel: members,
    nodesToJudge: members,
    claims: new Map(claims.map(each => [each.uid, each])),
    replacementNodes: [],
    records: new Map(
      members.map(each => {
        const value = seenRecord(each, ownerOf(each, owners), { pool, repair, now });
        return [each.uid, { value, needsRewrite: false }];
      }),
    ),
    recordsOfGoneNodes: new Map(),
    requests: readRequests([]),
    basisOf: () => '',
    activity,
    dueFacts: {
      cluster: clusterNodesOf(cluster, { ...cluster, mode: repair.mode }),
      externalRequests: new Map(),
    },
    existsByUid: new Map(),
  };
  const judged = judgePool(facts, judgeNode);
  const decided = decide({
    now,
    pool,
    repair,
    findings: judged.findings,
    poolRecord,
    guardInputs: guardInputsOf(facts, judged),
    answers: new Map(nodes.map(({ uid }) => [uid, CONFIRMED])),
  });
  const verdict = decided.findings.find(each => each.node.uid === node.uid)?.verdict;
  const granted = decided.granted.find(({ finding }) => finding.node.uid === node.uid);
  return {
    rank: verdict?.kind === 'blockedByPool' ? verdict.rank : granted?.rank,
    blockedBy: verdict?.kind === 'blockedByNode' || verdict?.kind === 'blockedByPool' ? verdict.message : undefined,
  };
}
