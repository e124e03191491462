/**
 * Judges the nodes of a pool (docs/node-repair.md; I3, I6). What a node is by itself is `own-verdict.ts`; here an attempt under way and
 * the record are added, and what is to be read next. `judgeSecondLook` is the second look at a node, before an act. What the
 * pool allows is `functions/repair/decide.ts`. Pure.
 */
import { isRebootUnderWay, newNode, replacementOf } from './attempt.ts';
import { judgeAttempt, judgeGone } from './attempt-verdict.ts';
import { dueVerdictOf, type Finding, type NodeFinding, type PresentNode, withState } from './finding.ts';
import { nextEpisodes } from './flapping.ts';
import { endOf, HEALTHY_FOR, type HealthNow, incidentAt, readableSettings } from './incident.ts';
import { isRebootTried, keyOf } from './ladder.ts';
import { mayStillBeUnhealthy, onsetsOf, onsetsStill, unhealthyConditions } from './onset.ts';
import { otherWorkOn } from './other-work.ts';
import { decideNode, type HealthContext, judgeByLadder, judgeHealth } from './own-verdict.ts';
import type { DueFacts, JudgeContext, NodeFacts, PoolFacts } from './pool-facts.ts';
import { withMarks, withShownReboots } from './reboot-marks.ts';
import { replacementNow, unmarkTime } from './replacement.ts';
import type { RepairInForce } from './settings-in-force.ts';
import { type NodeName, type OwnVerdict, REPORT_CODES } from './verdict.ts';
import type { Attempt, Replacement } from '../attempt-record.ts';
import type { Episode, NodeRecord } from '../node-record.ts';
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { indexOwners, type Owner, type OwnerIndex, ownerOf } from '../../../shared/domain/node-owner.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { Confirmation, RepairSettings } from '../../../shared/domain/repair-policy.ts';
import { addDuration, earliest, type EpochMs, isDue, seconds } from '../../../shared/domain/time.ts';

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
    return isReplaced ? { ...finding, record, verdict: undefined, time: addDuration(now, seconds(1)) } : finding;
  });
  const gone = [...facts.recordsOfGoneNodes].map(([uid, record]) => judgeGone(uid, record, { now, claims }));
  return { presentNodes, findings: [...presentNodes, ...gone], owners, externalRequests };
}

const isSameOwner = (a: Owner, b: Owner): boolean => a.kind === b.kind && detailOf(a) === detailOf(b);

const detailOf = (owner: Owner): NodeClaimView | string => (owner.kind === 'claim' ? owner.claim : owner.message);

const withOwnNodes = (all: readonly NodeView[], own: readonly NodeView[]): readonly NodeView[] => {
  const known = new Set(all.map(({ uid }) => uid));
  return [...all, ...own.filter(({ uid }) => !known.has(uid))];
};

/** The next facts to read before the decision, by the findings so far. */
export type NextRead =
  /**
   * Facts that due nodes need: some node is due.
   * @property countsCluster a guard or limit counts the nodes of the cluster
   */
  | { readonly kind: 'dueFacts'; readonly countsCluster: boolean }
  /** Nodes that no NodeClaim seems to own, which was not reported yet: the name may belong to another Node by now. */
  | { readonly kind: 'nodes'; readonly nodes: readonly NodeName[] };

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

/** The finding of one node. @param recordBefore its record; undefined: it has none */
export function judgeNode(context: JudgeContext, node: NodeView, recordBefore: NodeRecord | undefined): PresentNode {
  const owner = ownerOf(node, context.owners);
  const known = withShownReboots(recordBefore ?? newNode(node.name, context.pool), node, owner);
  const { facts, othersUntil } = factsOf(context, { node, owner }, recordBefore, known);
  const { attempt } = facts.record;
  const finding = attempt === undefined ? judgeByLadder(facts) : judgeAttempt(facts, attempt);
  return { ...withExpiries(facts, finding, othersUntil), otherWorkTime: known.otherWork?.time };
}

/**
 * Gathers the facts of a node as it is now: its health, the verdict on it by its own state, and its record so far.
 * @param known its record, or the first one; `othersUntil`: time until which another controller's work is in flight
 */
function factsOf(
  context: JudgeContext,
  { node, owner }: { readonly node: NodeView; readonly owner: Owner },
  recordBefore: NodeRecord | undefined,
  known: NodeRecord,
): { readonly facts: NodeFacts; readonly othersUntil: EpochMs | undefined } {
  const { now, repair } = context;
  const settings = readableSettings(repair);
  const looked = { now, record: recordBefore, ...eventTimesOf(context, node, recordBefore) };
  const episodes = settings === undefined ? known.episodes : episodesAfter(node, settings, known.episodes, looked);
  const health = judgeHealth(node, { ...looked, repair, episodes });
  const isUnhealthy = settings === undefined ? mayStillBeUnhealthy(node, known) : health.kind !== 'healthy';
  const isUnknown = !isUnhealthy && repair.settings !== undefined && settings === undefined;
  const healthNow = isUnknown ? 'unknown' : isUnhealthy ? 'unhealthy' : 'healthy';
  const externalRequest = context.externalRequests.get(node.name);
  const own = decideNode({ now, node, owner, repair, health, externalRequest });
  const claim = owner.kind === 'claim' ? owner.claim : undefined;
  const other = isUnhealthy ? otherWorkOn(node, claim, externalRequest, now) : undefined;
  const isSameWork = other !== undefined && known.otherWork?.what === other.what;
  const otherWork = isSameWork ? known.otherWork : other && { what: other.what, time: now };
  const record: NodeRecord = {
    ...rememberedOf(known, context, node, healthNow),
    onsets: settings === undefined ? onsetsStill(node, known) : onsetsOf(health.unhealthy),
    episodes: [...episodes],
    otherWork,
  };
  const isOn = repair.gateOpen && settings !== undefined;
  const wasUnhealthy = Object.keys(known.onsets).length > 0;
  const othersEnd = other && otherWork && addDuration(otherWork.time, other.inFlightFor);
  return {
    facts: { context, node, record, wasUnhealthy, own, isUnhealthy, isOn },
    othersUntil: othersEnd !== undefined && !isDue(now, othersEnd) ? othersEnd : undefined,
  };
}

/** The episodes of the node after this look; without `flapping` none counts. */
function episodesAfter(
  node: NodeView,
  settings: RepairSettings,
  before: readonly Episode[],
  looked: Parameters<typeof unhealthyConditions>[2],
): readonly Episode[] {
  const { flapping } = settings;
  if (flapping === undefined) return [];
  const unhealthy = unhealthyConditions(node, settings, looked);
  return nextEpisodes(node, { window: flapping.window, unhealthy }, before, looked.now);
}

/** The time at which the forwarder saw the change that this pass is for, and whether no event has named the node. */
function eventTimesOf(
  { observedTimes, changesTime, isUnprompted }: JudgeContext,
  { uid }: NodeView,
  recordBefore: NodeRecord | undefined,
): Pick<HealthContext, 'ownTime' | 'observedTime' | 'isUnprompted'> {
  const ownTime = observedTimes.get(uid);
  // A condition that gets the time it lacked has not changed.
  const wasWithoutTime = recordBefore?.reported?.code === REPORT_CODES.noTransitionTime;
  const observedTime = wasWithoutTime ? undefined : (ownTime ?? changesTime);
  return { ownTime, observedTime, isUnprompted: isUnprompted?.(uid) === true };
}

/** The part of the record that comes from earlier passes: pool, incident, marks and acts, as they stand from now on. */
function rememberedOf(
  known: NodeRecord,
  context: JudgeContext,
  node: NodeView,
  health: HealthNow,
): Omit<NodeRecord, 'otherWork'> {
  const { now, pool } = context;
  const { incident: _, otherWork: __, pool: ___, leftovers: ____, ...otherFields } = known;
  const leftovers = withMarks(known, node);
  const replacement = leftovers?.replacement && replacementNow(leftovers.replacement, context, now);
  const incident = incidentAt(known.incident, health, now);
  return {
    ...otherFields,
    name: node.name,
    ...(pool !== undefined && { pool }),
    ...(leftovers && { leftovers: replacement ? { ...leftovers, replacement } : leftovers }),
    ...(replacement && known.attempt && { attempt: withReplacement(known.attempt, replacement) }),
    incident,
    ...(known.incident !== undefined && incident === undefined && endOf(known)),
  };
}

/** The attempt with what is known of its replacement by now. */
const withReplacement = (attempt: Attempt, replacement: Replacement): Attempt =>
  attempt?.action === 'Replace' && attempt.replacement.name === replacement.name
    ? { ...attempt, replacement }
    : attempt;

/**
 * Adds to the finding what ends by itself: an incident after a while, the marks of a replacement, and the work of
 * another controller.
 * @param othersUntil time until which another controller's work is in flight; undefined: it is not
 */
function withExpiries(
  { node, record: { incident }, isOn, context: { now, repair } }: NodeFacts,
  finding: Finding,
  othersUntil: EpochMs | undefined,
): PresentNode {
  const { record } = finding;
  const { attempt, refusals, leftovers } = record ?? {};
  const healthySince = record && (record.incident?.healthySince ?? incident?.healthySince);
  const incidentEnds = healthySince && addDuration(healthySince, HEALTHY_FOR);
  const { replacement, annotation, maintenance } = leftovers ?? {};
  const unmarks = replacement && unmarkTime(replacement);
  const isUnmarkDue = unmarks !== undefined && isDue(now, unmarks);
  const isUnused = replacement !== undefined && unmarks === undefined && replacementOf(attempt) === undefined;
  const mayReboot = isRebootUnderWay(attempt, now) || isRebootTried(refusals);
  const isMaintenanceOver =
    maintenance === true && !mayReboot && (attempt === undefined || attempt.action === 'Reboot');
  const isDeadlineOver = annotation !== undefined && attempt?.action !== 'Terminate';
  // A run that died has left this behind, and no action that is due now would use it.
  const isAbandoned = isUnused || isMaintenanceOver || isDeadlineOver;
  const isActDue = dueVerdictOf(finding) !== undefined && repair.mode === 'Enforce';
  const judged = {
    ...finding,
    hasUselessLeftovers: finding.hasUselessLeftovers || isUnmarkDue || (isAbandoned && !isActDue),
    isUnderOtherWork: othersUntil !== undefined && isOn,
    time: [incidentEnds, unmarks, othersUntil].reduce(earliest, finding.time),
  };
  return { ...withState(judged), kind: 'present', node };
}

/**
 * Answer of the second look. `readClaim`: by the listed NodeClaim the act is not wanted, so the NodeClaim must be read.
 * `overtaken`: somebody else terminates the node forcefully by now.
 */
export type SecondLookVerdict = 'act' | 'overtaken' | 'calledOff' | 'readClaim';

/**
 * Whether a granted act is still wanted, by the verdict on its node once Node, NodeClaim and settings were read again.
 * @param granted the key of its action, and the check for which its entry asks EC2
 */
export function judgeSecondLook(
  granted: { readonly key: string; readonly confirm: Confirmation | undefined },
  own: OwnVerdict,
  {
    repair,
    isClaimListed,
    isCounted,
  }: {
    readonly repair: RepairInForce;
    /** The NodeClaim is the one that the pass has listed, not read again. */
    readonly isClaimListed: boolean;
    /** The repair is reserved in the limits of zone and cluster. */
    readonly isCounted: boolean;
  },
): SecondLookVerdict {
  if (isClaimListed && own.kind !== 'due') return 'readClaim';
  if (own.kind !== 'due' && own.kind !== 'finishing') return 'calledOff';
  // Limits that came into force since may not count this repair.
  if (repair.mode === 'Observe' || (repair.limits !== undefined && !isCounted)) return 'calledOff';
  if (own.kind === 'finishing') return 'overtaken';
  // The entry that decides by now may have another list, or ask EC2.
  const { ladder, entryPolicy } = own;
  const isSame = ladder.some(each => keyOf(each) === granted.key) && entryPolicy.confirm === granted.confirm;
  return isSame ? 'act' : 'calledOff';
}
