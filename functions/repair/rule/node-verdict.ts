/**
 * Judges one node (docs/node-repair.md; I3, I6). An unhealthy condition is tolerated until it has lasted for its
 * toleration. From then on the node is due, unless its NodeClaim is not certain, somebody vetoes, or another
 * controller is at work on it. What the pool allows is `functions/repair/decide.ts`. Pure.
 */
import { withState, dueOf, type Finding, type PresentNode } from './finding.ts';
import { type HealthContext, judgeHealth, mayStillBeUnhealthy } from './health.ts';
import { clockSkewsOf, onsetsOf, onsetsStill, unhealthyStatements } from './onset.ts';
import { isStopped, otherWorkOn } from './other-work.ts';
import { withMarks, withShownReboots } from './reboot-marks.ts';
import { vetoOf } from './vetoes.ts';
import { isRebootUnderWay, newNode, replacementOf } from './attempt.ts';
import { judgeAttempt } from './attempt-verdict.ts';
import { nextEpisodes } from './flapping.ts';
import { endOf, HEALTHY_FOR, type HealthNow, incidentAt, readableSettings } from './incident.ts';
import { isRebootTried, ladderOf, possibleOf } from './ladder.ts';
import { judgeByLadder } from './next-action.ts';
import type { Attempt, Replacement } from '../attempt-record.ts';
import type { Episode, NodeRecord } from '../node-record.ts';
import type { JudgeContext, NodeFacts, NodeObservation } from './pool-facts.ts';
import { replacementNow, unmarkTime } from './replacement.ts';
import { type EntryPolicy, type OwnVerdict, REPORT_CODES } from './verdict.ts';
import { endsBy, NODE_POOL_LABEL, type NodeClaimView } from '../../../shared/domain/node-claim.ts';
import { type Owner, ownerOf } from '../../../shared/domain/node-owner.ts';
import { isReserved, type NodeView } from '../../../shared/domain/node.ts';
import { type RepairSettings, termsOf } from '../../../shared/domain/repair-policy.ts';
import { addDuration, earliest, type EpochMs, isDue } from '../../../shared/domain/time.ts';

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
  looked: Parameters<typeof unhealthyStatements>[2],
): readonly Episode[] {
  const { flapping } = settings;
  if (flapping === undefined) return [];
  const unhealthy = unhealthyStatements(node, settings, looked);
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
  { node, record: { incident }, isOn, context: { now } }: NodeFacts,
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
  const judged = {
    ...finding,
    hasUselessLeftovers: finding.hasUselessLeftovers || isUnmarkDue || (isAbandoned && dueOf(finding) === undefined),
    isUnderOtherWork: othersUntil !== undefined && isOn,
    time: [incidentEnds, unmarks, othersUntil].reduce(earliest, finding.time),
  };
  return { ...withState(judged), kind: 'present', node };
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
  const { priority = 0, toleration } = entry.statement;
  const entryPolicy: EntryPolicy = { priority, toleration, ...termsOf(settings, entry) };
  const ladder = possibleOf(ladderOf(entryPolicy, claim?.terminationGracePeriod), claim);
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
  return claim.deletionTime !== undefined && endsBy(claim, now);
}

/** The pool of a node is that of its NodeClaim; its own label counts only while there is none for certain. */
export function poolOf(node: NodeView, owner: Owner): string | undefined {
  return (owner.kind === 'claim' ? owner.claim : node).labels[NODE_POOL_LABEL];
}
