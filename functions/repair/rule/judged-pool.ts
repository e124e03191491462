/**
 * Judges the nodes of a pool, each by `judgeNode` (`functions/repair/node/decide.ts`), and says what is to be read next. Pure.
 */
import type { DueFacts, PoolFacts } from './pool-facts.ts';
import type { judgeNode } from '../node/decide.ts';
import { judgeGone } from '../node/rule/attempt-verdict.ts';
import { dueVerdictOf, type NodeFinding, type PresentNode } from '../node/rule/finding.ts';
import { readableSettings } from '../node/rule/incident.ts';
import type { JudgeContext } from '../node/rule/node-facts.ts';
import { AT_ONCE, type ObjectIdentity, REPORT_CODES } from '../node/rule/verdict.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { indexOwners, type Owner, type OwnerIndex, ownerOf } from '../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { addDuration } from '../../../shared/domain/time.ts';

/** Findings of a pass about its nodes, and what they rest on. */
export interface JudgedPool {
  readonly presentNodes: readonly PresentNode[];
  readonly findings: readonly NodeFinding[];
  readonly owners: OwnerIndex;
  readonly externalRequests: DueFacts['externalRequests'];
}

const NO_REQUESTS: DueFacts['externalRequests'] = new Map();

/**
 * Judges the nodes of a pool.
 * @param judgedBefore what was found before, in this pass: a node is judged again only if what was read since is about it
 */
export function judgePool(facts: PoolFacts, judge: typeof judgeNode, judgedBefore?: JudgedPool): JudgedPool {
  const { now, pool, poolSettings, poolRecord, nodes, claims, records, requests, basisOf, dueFacts, existsByUid } =
    facts;
  const { cluster, externalRequests = NO_REQUESTS } = dueFacts ?? {};
  const owners = indexOwners(cluster === undefined ? facts.nodesWithLabel : withOwnNodes(cluster.nodes, nodes), [
    ...claims.values(),
  ]);
  const context: JudgeContext = {
    now,
    pool,
    repair: poolSettings.repair,
    owners,
    claims,
    ...requests,
    isUnprompted: facts.hadPoolRecord && !requests.isAfterSettingsChange ? uid => !requests.uids.has(uid) : undefined,
    isMade: uid => records.get(uid)?.isMade === true,
    basisOf,
    nodesByName: new Map([...facts.replacementNodes, ...nodes].map(node => [node.name, node])),
    isPoolGone: pool !== undefined && poolSettings.nodePool === undefined,
    launchPause: poolRecord.launchPause,
    externalRequests,
  };
  const findingsBefore = new Map(judgedBefore?.presentNodes.map(finding => [finding.node.uid, finding]));
  const isJudgementStillValid = (node: NodeView): boolean =>
    judgedBefore !== undefined &&
    externalRequests.get(node.name) === judgedBefore.externalRequests.get(node.name) &&
    isSameOwner(ownerOf(node, owners), ownerOf(node, judgedBefore.owners));
  const presentNodes = facts.nodesToJudge.map((node): PresentNode => {
    const record = records.get(node.uid)?.value;
    const findingBefore = findingsBefore.get(node.uid);
    const finding =
      findingBefore !== undefined && isJudgementStillValid(node) ? findingBefore : judge(context, node, record);
    // Nodes and NodeClaims are listed one after the other: the name is another Node's by now.
    const isReplaced = existsByUid.get(node.uid) === false;
    return isReplaced ? { ...finding, record, verdict: undefined, nextLookTime: addDuration(now, AT_ONCE) } : finding;
  });
  const gone = [...facts.recordsOfGoneNodes].map(([uid, record]) => judgeGone(uid, record, { now, claims }));
  return { presentNodes, findings: [...presentNodes, ...gone], owners, externalRequests };
}

const isSameOwner = (a: Owner, b: Owner): boolean => a.kind === b.kind && detailOf(a) === detailOf(b);

const detailOf = (owner: Owner): NodeClaimView | string => (owner.kind === 'claim' ? owner.claim : owner.message);

const withOwnNodes = (all: readonly NodeView[], own: readonly NodeView[]): readonly NodeView[] => {
  const listedUids = new Set(all.map(({ uid }) => uid));
  return [...all, ...own.filter(({ uid }) => !listedUids.has(uid))];
};

/** The next facts to read before the decision, by the findings so far. */
export type NextRead =
  /**
   * Facts that due nodes need: some node is due.
   * @property countsCluster a guard or limit counts the nodes of the cluster
   */
  | { readonly kind: 'dueFacts'; readonly countsCluster: boolean }
  /** Nodes that no NodeClaim seems to own, which was not reported yet: the name may belong to another Node by now. */
  | { readonly kind: 'nodes'; readonly nodes: readonly ObjectIdentity[] };

/** The next facts to read; undefined: all is read. */
export function nextRead(facts: PoolFacts, { presentNodes }: JudgedPool): NextRead | undefined {
  const { pool, poolSettings, dueFacts, existsByUid } = facts;
  if (dueFacts === undefined && presentNodes.some(finding => dueVerdictOf(finding) !== undefined)) {
    const { freeze, zoneOutage } = readableSettings(poolSettings.repair) ?? {};
    const counting = [freeze, zoneOutage, poolSettings.repair.limits];
    return { kind: 'dueFacts', countsCluster: pool === undefined || counting.some(each => each !== undefined) };
  }
  const nodes = presentNodes.filter(mayBeAnotherNode).flatMap(({ node }) => (existsByUid.has(node.uid) ? [] : [node]));
  return nodes.length === 0 ? undefined : { kind: 'nodes', nodes };
}

const UNOWNED: readonly (string | undefined)[] = [REPORT_CODES.unclaimed, REPORT_CODES.ambiguous];

function mayBeAnotherNode({ verdict, record }: NodeFinding): boolean {
  const isUnowned =
    verdict?.kind === 'unclaimed' || (verdict?.kind === 'blockedByNode' && verdict.reason === 'AmbiguousNodeClaim');
  return isUnowned && !UNOWNED.includes(record?.reported?.code);
}
