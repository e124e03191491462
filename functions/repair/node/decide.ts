/**
 * The rule of repair for one node (docs/node-repair.md; I3, I6). An unhealthy condition is tolerated until it has lasted for its
 * toleration. From then on the node is due, unless its NodeClaim is not certain, somebody vetoes, or another controller
 * is at work on it. What its pool allows is `functions/repair/decide.ts`. Pure.
 *
 * | question | function | in | asked by |
 * |---|---|---|---|
 * | what is found of the node, by its state, its record and its attempt | `judgeNode` | `decide.ts` | `../explained-node.ts`, `../reconcile.ts` |
 * | what it is by its state alone | `decideNode` | `decide.ts` | `../explained-node.ts`, `../reconcile.ts` |
 * | whether its conditions make it unhealthy | `judgeHealth` | `rule/health.ts` | `../carry-out.ts`, `../explained-node.ts` |
 * | whether a pass must look at it | `mayNeedRepair` | `rule/health.ts` | `../wake-ups.ts` |
 * | whether the act is still wanted | `judgeSecondLook` | `rule/second-look.ts` | `../carry-out.ts` |
 * | what its first record is | `firstNodeRecord` | `rule/reboot-marks.ts` | `../explained-node.ts` |
 * | by which settings | `readableSettings` | `rule/incident.ts` | `../common/settings.ts`, `../explained-node.ts`, `../observe.ts` |
 * | which other system asks for it | `externalRequestsFor` | `rule/other-work.ts` | `../observe.ts` |
 * | which other controller is at work on it | `otherWorkOn` | `rule/other-work.ts` | `../explained-node.ts` |
 * | what an act writes on Node and NodeClaim | `annotationOf`, `lastRebootText` | `rule/attempt.ts`, `rule/reboot-marks.ts` | `../actions/reboot.ts`, `../actions/terminate.ts`, `../old-attempts.ts` |
 * | which NodeClaim an attempt launches | `replacementOf` | `rule/attempt.ts` | `../actions/terminate.ts`, `../attempt-words.ts`, `../carry-out.ts` |
 * | which NodeClaim replaces its own | `launchCapacityFault`, `launchCapacityOf`, `replacementClaim` | `rule/replacement.ts` | `../actions/replace.ts`, `../explained-node.ts` |
 * | what follows an act | `afterAct`, `afterRefusedAct`, `noteRefusedAct` | `record-changes/after-act.ts` | `../act-not-accepted.ts`, `../apply.ts` |
 * | which records are written | `recordsToWrite` | `record-changes/records-to-write.ts` | `../apply.ts` |
 * | all actions of its pool | `allActionsOf` | `rule/ladder.ts` | `../apply.ts` |
 * | when the live objects say what came of an act | `judgeTime` | `rule/attempt.ts` | `../inquiry.ts` |
 * | what is taken back | `afterTakeBack`, `leftoversToTakeBack`, `recordWithLeftovers` | `record-changes/leftovers.ts` | `../take-back.ts` |
 * | what is reported | `verdictOf` | `rule/finding.ts` | `../report.ts` |
 * | what an attempt of before 0.1.0 is today | `actOf`, `keyOf`, `ladderOf`, `newNode` | `rule/attempt.ts`, `rule/ladder.ts` | `../old-attempts.ts` |
 */
import type { NodeRecord } from './record.ts';
import { judgeAttempt } from './rule/attempt-verdict.ts';
import { answerOf, hasTime, newNode, withoutAttempt } from './rule/attempt.ts';
import { judgeWithoutAttempt } from './rule/attempt-end.ts';
import type { Finding, PresentNode } from './rule/finding.ts';
import { type Health, judgeHealth } from './rule/health.ts';
import { readableSettings } from './rule/incident.ts';
import { judgeByLadder } from './rule/ladder-verdict.ts';
import { isBeforeReboot, isRebootKey, isRebootTried, ladderOf, possibleActions } from './rule/ladder.ts';
import { episodesAfter, eventTimesOf, rememberedRecord, withExpiries } from './rule/memory.ts';
import type { JudgeContext, NodeFacts } from './rule/node-facts.ts';
import { clockSkewsOf, mayStillBeUnhealthy, onsetsOf, onsetsStill } from './rule/onset.ts';
import { isStopped, otherWorkOn } from './rule/other-work.ts';
import { isMaintained, withShownReboots } from './rule/reboot-marks.ts';
import type { RepairInForce } from './rule/settings-in-force.ts';
import type { EntryPolicy, OwnVerdict } from './rule/verdict.ts';
import { vetoOf } from './rule/vetoes.ts';
import { hasDeadlineBy, NODE_POOL_LABEL, type NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { type Owner, ownerOf } from '../../../shared/domain/node-owner.ts';
import { isReserved, type NodeView } from '../../../shared/domain/node.ts';
import { termsOf } from '../../../shared/domain/repair-policy.ts';
import { addDuration, type EpochMs, isDue } from '../../../shared/domain/time.ts';

/** The finding of one node. @param recordBefore its record; undefined: it has none */
export function judgeNode(context: JudgeContext, node: NodeView, recordBefore: NodeRecord | undefined): PresentNode {
  const owner = ownerOf(node, context.owners);
  const recordSoFar = withShownReboots(recordBefore ?? newNode(node.name, context.pool), node, owner);
  const { facts, othersUntil } = factsOf(context, { node, owner }, recordBefore, recordSoFar);
  return { ...withExpiries(facts, judgeFacts(facts), othersUntil), otherWorkTime: recordSoFar.otherWork?.time };
}

function judgeFacts(facts: NodeFacts): Finding {
  const stopped = withStop(facts);
  if (stopped !== undefined) return judgeWithoutAttempt(facts, stopped);
  const { attempt } = facts.record;
  return attempt === undefined ? judgeByLadder(facts) : judgeAttempt(facts, attempt);
}

const OPENED = 'somebody opened the node, which its repair had closed: it is left alone until it is well again';

/**
 * The record of an unhealthy node whose repair ends because somebody has opened it: they want it left alone (I7). undefined: nobody
 * has.
 */
function withStop({ record, node, isUnhealthy, context: { now } }: NodeFacts): NodeRecord | undefined {
  if (!isUnhealthy || node.unschedulable === true || !isKeptClosed(record, isMaintained(node.conditions), now)) return;
  const { attempt, incident, refusals = {}, ...otherFields } = record;
  const over = attempt === undefined ? { ...otherFields, incident } : withoutAttempt({ ...record, attempt }, attempt);
  const kept = Object.entries(refusals).filter(([key]) => !isRebootKey(key));
  const type = incident?.type ?? attempt?.dueCondition.conditionType ?? '';
  return {
    ...over,
    incident: { type, taken: [], ...incident, stopped: OPENED },
    refusals: kept.length === 0 ? undefined : Object.fromEntries(kept),
  };
}

/**
 * Whether the repair has closed the node and keeps it so, with nothing under way. A drain leaves it closed once it has
 * succeeded. Before, whoever opens the node ends the drain. For a reboot the condition of the maintenance is set after the
 * cordon, and goes before it.
 */
function isKeptClosed({ attempt, refusals }: NodeRecord, isUnderMaintenance: boolean, now: EpochMs): boolean {
  if (attempt === undefined) return isUnderMaintenance && isRebootTried(refusals);
  if (attempt.phase === 'intended') return false;
  if (attempt.action === 'Reboot' || isBeforeReboot(attempt)) return isUnderMaintenance && !hasTime(attempt, now);
  return attempt.action === 'Drain' && answerOf(attempt)?.kind === 'succeeded';
}

/**
 * Gathers the facts of a node as it is now: its health, the verdict on it by its own state, and its record so far.
 * @param recordSoFar its record, or the first one; `othersUntil`: time until which another controller's work is in flight
 */
function factsOf(
  context: JudgeContext,
  { node, owner }: { readonly node: NodeView; readonly owner: Owner },
  recordBefore: NodeRecord | undefined,
  recordSoFar: NodeRecord,
): { readonly facts: NodeFacts; readonly othersUntil: EpochMs | undefined } {
  const { now, repair } = context;
  const settings = readableSettings(repair);
  const looked = { now, record: recordBefore, ...eventTimesOf(context, node, recordBefore) };
  const episodes =
    settings === undefined ? recordSoFar.episodes : episodesAfter(node, settings, recordSoFar.episodes, looked);
  const health = judgeHealth(node, { ...looked, repair, episodes });
  const isUnhealthy = settings === undefined ? mayStillBeUnhealthy(node, recordSoFar) : health.kind !== 'healthy';
  const isUnknown = !isUnhealthy && repair.settings !== undefined && settings === undefined;
  const healthNow = isUnknown ? 'unknown' : isUnhealthy ? 'unhealthy' : 'healthy';
  const externalRequest = context.externalRequests.get(node.name);
  const own = decideNode({ now, node, owner, repair, health, externalRequest });
  const claim = owner.kind === 'claim' ? owner.claim : undefined;
  const other = isUnhealthy ? otherWorkOn(node, claim, externalRequest, now) : undefined;
  const isSameWork = other !== undefined && recordSoFar.otherWork?.what === other.what;
  const otherWork = isSameWork ? recordSoFar.otherWork : other && { what: other.what, time: now };
  const record: NodeRecord = {
    ...rememberedRecord(recordSoFar, context, node, healthNow),
    onsets: settings === undefined ? onsetsStill(node, recordSoFar) : onsetsOf(health.unhealthy),
    episodes: [...episodes],
    otherWork,
  };
  const isOn = repair.gateOpen && settings !== undefined;
  const wasUnhealthy = Object.keys(recordSoFar.onsets).length > 0;
  const othersEnd = other && otherWork && addDuration(otherWork.time, other.inFlightFor);
  return {
    facts: { context, node, record, wasUnhealthy, own, isUnhealthy, isOn },
    othersUntil: othersEnd !== undefined && !isDue(now, othersEnd) ? othersEnd : undefined,
  };
}

/** Facts by which `decideNode` decides on one node. */
export interface NodeObservation {
  readonly now: EpochMs;
  readonly node: NodeView;
  readonly owner: Owner;
  readonly repair: RepairInForce;
  readonly health: Health;
  /** A request for the node in another system. */
  readonly externalRequest?: string | undefined;
}

/** Decides on one node by its conditions, its NodeClaim and the repair in force for its pool. Pure, total. */
export function decideNode({ now, node, owner, repair, health, externalRequest }: NodeObservation): OwnVerdict {
  const { gateOpen, settings } = repair;
  if (!gateOpen) return { kind: 'ignore', reason: 'GateOff', message: 'featureGates.nodeRepair is off' };
  if (settings === undefined) {
    return { kind: 'ignore', reason: 'NotConfigured', message: 'no repair block applies to the pool of this node' };
  }
  if ('invalid' in settings) return { kind: 'refuse', message: settings.invalid };

  if (isReserved(node)) {
    const message = 'the node is the replacement of another one, and not in use yet';
    return { kind: 'ignore', reason: 'NotInUse', message };
  }
  if (health.kind === 'healthy') {
    return { kind: 'ignore', reason: 'Healthy', message: 'no condition of the node counts as unhealthy' };
  }
  if (health.kind === 'noTransitionTime') {
    return { kind: 'ignore', reason: 'NoTransitionTime', message: health.message };
  }
  const { message, unhealthy, dueCondition, entry, dueSince } = health;
  if (!isDue(now, dueCondition.dueTime))
    return { kind: 'tolerate', dueCondition, clockSkews: clockSkewsOf(unhealthy), message };
  const isOurs = owner.kind === 'none' && settings.nodesWithoutNodeClaim === 'TerminateInAutoScalingGroup';
  if (owner.kind === 'none' && !(isOurs && isUnmanaged(node))) {
    return { kind: 'unclaimed', dueCondition, message: owner.message };
  }
  if (owner.kind === 'ambiguous') {
    return { kind: 'blockedByNode', reason: 'AmbiguousNodeClaim', dueCondition, message: owner.message };
  }
  const claim = owner.kind === 'claim' ? owner.claim : undefined;
  if (claim !== undefined && isTerminatingForcefully(claim, now)) {
    return { kind: 'finishing', dueCondition, message: `NodeClaim ${claim.name} is being terminated` };
  }
  if (isStopped(node)) {
    return {
      kind: 'ignore',
      reason: 'InstanceStopped',
      message: `${message}; its instance is stopped, as somebody wants it`,
    };
  }
  const veto = vetoOf(node, claim, repair.poolVeto, now);
  if (veto !== undefined) return { kind: 'vetoed', dueCondition, veto, message: `${message}; ${veto.message}` };
  const other = otherWorkOn(node, claim, externalRequest, now);
  if (other !== undefined) {
    const why = `${message}; somebody else is at work on the node: ${other.what}`;
    return { kind: 'blockedByNode', reason: 'BeingDisrupted', dueCondition, message: why };
  }
  const { priority = 0, toleration } = entry.repairCondition;
  const entryPolicy: EntryPolicy = { priority, toleration, ...termsOf(settings, entry) };
  const ladder = possibleActions(ladderOf(entryPolicy, claim?.terminationGracePeriod), claim);
  return { kind: 'due', dueCondition, claim, severity: unhealthy.length, entryPolicy, ladder, dueSince, message };
}

/**
 * Whether Karpenter has nothing to do with this instance. A node of Karpenter's may only be waiting for its NodeClaim.
 */
function isUnmanaged({ providerID, labels, ownerClaim }: NodeView): boolean {
  return providerID !== undefined && labels[NODE_POOL_LABEL] === undefined && ownerClaim === undefined;
}

/** Whether the NodeClaim is being deleted and its deadline has passed. */
function isTerminatingForcefully(claim: NodeClaimView, now: EpochMs): boolean {
  return claim.deletionTime !== undefined && hasDeadlineBy(claim, now);
}
