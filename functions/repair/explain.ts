/**
 * Everything in this folder that the command line and the simulator may import. The decision on a node comes from the
 * same rules that a pass applies, without what only the table of Curfew knows. `endReplacement` alone writes: `curfew
 * uninstall` calls it.
 */
import type { DueCondition } from './attempt-record.ts';
import { CONFIRMED, decide, decideNode, guardInputsOf, judgeNode, judgePool, poolOf } from './decide.ts';
import { acceptedBefore } from './policy-summary.ts';
import { NEW_POOL } from './pool-record.ts';
import type { NodeRecord } from './node-record.ts';
import { newNodeOf } from './rule/reboot-marks.ts';
import { otherWorkOn } from './rule/other-work.ts';
import { judgeHealth, withoutDueClause } from './rule/health.ts';
import { readableSettings } from './rule/incident.ts';
import type { Activity, PoolFacts } from './rule/pool-facts.ts';
import type { OwnVerdict, Rank } from './rule/verdict.ts';
import type { RepairInForce } from './rule/settings-in-force.ts';
import { repairInForce, type SettingsSources, statementsByPool } from './settings.ts';
import { readAsks } from './passes.ts';
import { type KubernetesObject, kindAndName } from '../../shared/domain/kubernetes-object.ts';
import type { NodeClaimView } from '../../shared/domain/node-claim.ts';
import { indexOwners, ownerOf } from '../../shared/domain/node-owner.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { termsOf } from '../../shared/domain/repair-policy.ts';
import { type EpochMs, latest } from '../../shared/domain/time.ts';

export { nodeOfRequest } from './actions/drain.ts';
export { endReplacement } from './actions/replace.ts';
export { asOf, poolOf } from './decide.ts';
export { readVeto } from './rule/vetoes.ts';
export { repairBlockInForce, unwatchedTypes } from './settings.ts';

/** A cluster, all of it read once. */
export interface SeenCluster extends SettingsSources {
  readonly nodes: readonly NodeView[];
  readonly claims: readonly NodeClaimView[];
  readonly pools: ReadonlyMap<string, KubernetesObject>;
  readonly policyObjects: readonly KubernetesObject[];
  readonly activity: Activity;
}

/** Decision on a node, with its reasons. */
export interface ExplainedNode {
  readonly pool: string | undefined;
  readonly repair: RepairInForce;
  /** The decision on the node alone, before guards and budgets. */
  readonly kind: OwnVerdict['kind'];
  /** Message with the reason, without the time from which a repair is due. */
  readonly message: string;
  /** undefined: nothing is wrong, or nothing can be judged. */
  readonly dueCondition: DueCondition | undefined;
  /** The actions and bounds of the entry that decides. */
  readonly terms: ReturnType<typeof termsOf> | undefined;
  /** Rank of the node among the due nodes of its pool; undefined: it is not due, or its turn is not looked at. */
  readonly rank: Rank | undefined;
  /** Message about what holds the node in its pool although it is due; undefined: nothing does. */
  readonly heldBy: string | undefined;
  /** Generation of a policy that cannot be read: it was accepted last, and stays in force. */
  readonly acceptedGeneration: number | undefined;
  /** The mark of another controller that is at work on it. */
  readonly worker: string | undefined;
}

export function explainNode(cluster: SeenCluster, node: NodeView, now: EpochMs): ExplainedNode {
  const { nodes, claims, pools, policyObjects } = cluster;
  const owners = indexOwners(nodes, claims);
  const owner = ownerOf(node, owners);
  const pool = poolOf(node, owner);
  const repair = repairInForce(pool === undefined ? undefined : pools.get(pool), cluster);
  const settings = readableSettings(repair);
  const record = seenRecord(node, { pool, repair, now });
  const health = judgeHealth(node, { now, repair, record, episodes: [] });
  const own = decideNode({ now, node, owner, repair, health });
  const { kind } = own;
  const dueCondition = 'dueCondition' in own ? own.dueCondition : undefined;
  const isConcerned = ['tolerate', 'due', 'blocked', 'vetoed'].includes(kind);
  const source = kind === 'refuse' ? policyObjects.find(each => kindAndName(each) === repair.source) : undefined;
  return {
    pool,
    repair,
    kind,
    message: dueCondition === undefined ? own.message : withoutDueClause(own.message, dueCondition),
    dueCondition,
    terms: settings && health.kind === 'unhealthy' && isConcerned ? termsOf(settings, health.entry) : undefined,
    ...(kind === 'due'
      ? inItsPool(cluster, node, { owners, pool, repair, now })
      : { rank: undefined, heldBy: undefined }),
    acceptedGeneration: source && acceptedBefore(source),
    worker: otherWorkOn(node, owner.kind === 'claim' ? owner.claim : undefined, undefined, now)?.what,
  };
}

/** The repair in force for a pool, and the time by which it is applied. */
interface RepairNow extends Pick<ExplainedNode, 'pool' | 'repair'> {
  readonly now: EpochMs;
}

/**
 * The record of a node, as far as its Node shows it. An entry with a reason counts from the transition, for only
 * Curfew's table knows when the reason was first seen.
 */
function seenRecord(node: NodeView, { pool, repair, now }: RepairNow): NodeRecord {
  const { unhealthy } = judgeHealth(node, { now, repair, record: undefined, episodes: [] });
  const onsets = unhealthy.flatMap(({ key, doubt, condition: { lastTransitionTime: stated } }) =>
    stated === undefined || doubt !== undefined
      ? []
      : [[key, { start: latest(stated, node.creationTime ?? stated), stated }] as const],
  );
  return { ...newNodeOf(node, pool), onsets: Object.fromEntries(onsets) };
}

/** The decision of a pass that remembers nothing. EC2 is not asked: what it has said is in Events. */
function inItsPool(
  cluster: SeenCluster,
  node: NodeView,
  { owners, pool, repair, now }: RepairNow & { readonly owners: ReturnType<typeof indexOwners> },
): Pick<ExplainedNode, 'rank' | 'heldBy'> {
  const { nodes, claims, pools, activity } = cluster;
  const members = nodes.filter(each => poolOf(each, ownerOf(each, owners)) === pool);
  const statements = statementsByPool(pools, cluster);
  const facts: PoolFacts = {
    now,
    pool,
    poolSettings: { repair, nodePool: pool === undefined ? undefined : pools.get(pool) },
    poolRecord: NEW_POOL,
    hadPoolRecord: false,
    nodes: members,
    labelledNodes: members,
    concernedNodes: members,
    claims: new Map(claims.map(each => [each.uid, each])),
    records: new Map(
      members.map(each => [each.uid, { value: seenRecord(each, { pool, repair, now }), needsRewrite: false }]),
    ),
    recordsOfGoneNodes: new Map(),
    asks: readAsks([]),
    basisOf: () => '',
    activity,
    dueFacts: {
      cluster: {
        nodes,
        statementsOf: each => statements(poolOf(each, ownerOf(each, owners))),
        pools: [...pools.keys()],
      },
      otherRequests: new Map(),
    },
    stillThere: new Map(),
  };
  const judged = judgePool(facts, judgeNode);
  const decided = decide({
    now,
    pool,
    repair,
    findings: judged.findings,
    poolRecord: NEW_POOL,
    guardInputs: guardInputsOf(facts, judged),
    answers: new Map(nodes.map(({ uid }) => [uid, CONFIRMED])),
  });
  const verdict = decided.findings.find(each => each.node.uid === node.uid)?.verdict;
  const granted = decided.granted.find(({ finding }) => finding.node.uid === node.uid);
  return {
    rank: verdict?.kind === 'notAllowed' ? verdict.rank : granted?.rank,
    heldBy: verdict?.kind === 'blocked' || verdict?.kind === 'notAllowed' ? verdict.message : undefined,
  };
}
