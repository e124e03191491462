/**
 * The rule of node repair for one node (docs/node-repair.md; I3, I6): tolerate an unhealthy condition until it has lasted its toleration;
 * from then on the node is due, unless its NodeClaim is not known for certain, somebody vetoes, or somebody else is at work on it. What a
 * whole pool allows is `decide.ts`. Pure.
 */
import { actsOf, endsBy, newNode, replacementOf } from './attempt.ts';
import { nextEpisodes } from './flapping.ts';
import { judgeAttempt } from './attempt-verdict.ts';
import { clocksOf, HEALTHY_FOR, incidentAt, judgeHealth, readableSettings, unhealthyStatementsOf } from './incident.ts';
import { dueOf, judgeTurn, ladderOf } from './ladder.ts';
import type { Episode, NodeRecord } from './record.ts';
import { replacementNow, unmarkTime } from './replacement.ts';
import {
  type Finding,
  type JudgeContext,
  type JudgedNode,
  type NodeDecision,
  type NodeFinding,
  type Other,
  type RepairRules,
  SAID,
  type Terms,
  type UnhealthyStatement,
  type Veto,
  type Vetoer,
} from './verdict.ts';
import { quoteCut } from '../../shared/domain/cut-text.ts';
import { NODE_POOL_LABEL, type NodeClaimView } from '../../shared/domain/node-claim.ts';
import { isOwnCondition } from '../../shared/domain/node-drain-conditions.ts';
import { type Owner, ownerOf } from '../../shared/domain/node-owner.ts';
import { DO_NOT_REPAIR_ANNOTATION, isReserved, type NodeCondition, type NodeView } from '../../shared/domain/node.ts';
import { termsOf } from '../../shared/domain/repair-policy.ts';
import {
  addDuration,
  type DurationMs,
  earliest,
  type EpochMs,
  hours,
  isDue,
  minutes,
  parseTimestamp,
  toEpochMs,
  toTimestamp,
} from '../../shared/domain/time.ts';

/** What a pass finds of one node. @param before what is remembered of it */
export function judgeNode(context: JudgeContext, node: NodeView, before: NodeRecord | undefined): NodeFinding {
  const { now, rules, pool } = context;
  const settings = readableSettings(rules);
  const isOn = rules.gateOpen && settings !== undefined;
  const ownTime = context.observedTimes.get(node.uid);
  // What was unhealthy before, without a time, is no change.
  const wasWithoutTime = before?.said?.code === SAID.noTransitionTime;
  const observedTime = wasWithoutTime ? undefined : (ownTime ?? context.changesTime);
  const unhealthy =
    settings === undefined ? [] : unhealthyStatementsOf(node, { now, settings, record: before, observedTime, ownTime });
  const known = before ?? newNode(node.name, pool);
  const isFlapping = settings?.flapping !== undefined;
  const forgotten = settings === undefined ? known.episodes : [];
  const episodes = isFlapping ? nextEpisodes(node, settings, known.episodes, now) : forgotten;
  const owner = ownerOf(node, context.owners);
  const asked = context.asked.get(node.name);
  const decision = decideNode({ now, node, owner, rules, unhealthy, episodes, asked });
  const isUnhealthy = settings === undefined ? isStillUnhealthy(node, known) : unhealthy.length > 0;
  const claim = owner.kind === 'claim' ? owner.claim : undefined;
  const other = isUnhealthy ? otherAtWork(node, claim, asked, now) : undefined;
  const since = other && (known.others?.what === other.what ? known.others.time : now);
  const { incident: _, others: __, pool: ___, ours, ...rest } = known;
  const incident = incidentAt(known.incident, isUnhealthy, now);
  const replacement = ours?.replacement && replacementNow(ours.replacement, context, now);
  const record: NodeRecord = {
    ...rest,
    name: node.name,
    ...(pool !== undefined && { pool }),
    ...(ours && { ours: replacement ? { ...ours, replacement } : ours }),
    clocks: settings === undefined ? clocksStill(node, known) : clocksOf(unhealthy),
    ...(incident && { incident }),
    ...(known.incident !== undefined && incident === undefined && endOf(known)),
    episodes: [...episodes],
    acts: [...(before?.acts ?? actsOf(node))],
    ...(other && since !== undefined && { others: { what: other.what, time: since } }),
  };
  const wasUnhealthy = Object.keys(known.clocks).length > 0;
  const judged: JudgedNode = { context, node, record, wasUnhealthy, decision, isUnhealthy, isOn };
  const finding = withEnds(
    record.attempt === undefined ? judgeTurn(judged) : judgeAttempt(judged, record.attempt),
    judged,
  );
  const ends = other && since !== undefined ? addDuration(since, other.countsFor) : undefined;
  if (ends === undefined || isDue(now, ends)) return finding;
  return { ...finding, state: isOn ? 'inFlight' : finding.state, time: earliest(finding.time, ends) };
}

/** Without settings: the statements whose conditions still say what they said. */
const clocksStill = ({ conditions }: NodeView, { clocks }: NodeRecord): NodeRecord['clocks'] =>
  Object.fromEntries(
    Object.entries(clocks).filter(([key]) => conditions.some(({ type, status }) => key === `${type}=${status}`)),
  );

const isStillUnhealthy = (node: NodeView, record: NodeRecord): boolean => {
  const { conditionType, conditionStatus } = record.attempt?.dueCondition ?? {};
  const isOfAttempt = node.conditions.some(({ type, status }) => type === conditionType && status === conditionStatus);
  return isOfAttempt || Object.keys(clocksStill(node, record)).length > 0;
};

/** What is remembered of an incident that is over. */
function endOf({ incident, acts }: NodeRecord): Pick<NodeRecord, 'before'> | undefined {
  const last = acts.at(-1);
  const key = incident?.taken.at(-1);
  if (incident === undefined || last === undefined || key === undefined) return undefined;
  return { before: { type: incident.type, key, time: last.time } };
}

/** The node with what can still end: the incident after a while, a replacement's marks. */
function withEnds(finding: Finding, { node, record: { incident }, context: { now } }: JudgedNode): NodeFinding {
  const { record } = finding;
  const healthySince = record?.incident?.healthySince ?? incident?.healthySince;
  const wellEnds =
    healthySince === undefined || record === undefined ? undefined : addDuration(healthySince, HEALTHY_FOR);
  const isOver = wellEnds !== undefined && isDue(now, wellEnds);
  const { replacement, annotation } = record?.ours ?? {};
  const unmarks = replacement && unmarkTime(replacement);
  const isMarked = unmarks !== undefined && isDue(now, unmarks);
  const isUnused = replacement !== undefined && unmarks === undefined && replacementOf(record?.attempt) === undefined;
  // A run that died had set it, and nothing begins now that would make use of it.
  const isLeft = isUnused || (record?.attempt === undefined && annotation !== undefined);
  return {
    ...finding,
    kind: 'present',
    node,
    takesBack: finding.takesBack || isMarked || (isLeft && dueOf(finding) === undefined),
    state: finding.state === 'quiet' && replacement !== undefined ? 'followed' : finding.state,
    time: earliest(isOver ? finding.time : earliest(finding.time, wellEnds), unmarks),
  };
}

export interface NodeObservation {
  readonly now: EpochMs;
  readonly node: NodeView;
  readonly owner: Owner;
  readonly rules: RepairRules;
  /** The statements that hold, with their clocks; looked at only where the rules have settings. */
  readonly unhealthy: readonly UnhealthyStatement[];
  /** What is remembered of earlier unhealthy times. */
  readonly episodes: readonly Episode[];
  /** What stands for the node in systems of others. */
  readonly asked?: string | undefined;
}

/** What becomes of one node, by its conditions, its NodeClaim and the rules of its pool. Pure, total. */
export function decideNode({ now, node, owner, rules, unhealthy, episodes, asked }: NodeObservation): NodeDecision {
  const { gateOpen, settings } = rules;
  if (!gateOpen) return { kind: 'ignore', reason: 'GateOff', message: 'featureGates.nodeRepair is off' };
  if (settings === undefined) {
    return { kind: 'ignore', reason: 'NotConfigured', message: 'no repair block applies to the pool of this node' };
  }
  if ('invalid' in settings) return { kind: 'refuse', message: settings.invalid };

  if (isReserved(node)) {
    const message = 'the node is the replacement of another one, and not in use yet';
    return { kind: 'ignore', reason: 'Healthy', message };
  }
  const health = judgeHealth(unhealthy, { now, settings, episodes });
  if (health.kind === 'healthy') {
    return { kind: 'ignore', reason: 'Healthy', message: 'no condition of the node counts as unhealthy' };
  }
  if (health.kind === 'noTransitionTime') {
    return { kind: 'ignore', reason: 'NoTransitionTime', message: health.message };
  }
  const { message, severity, dueCondition, entry, dueSince } = health;
  if (!isDue(now, dueCondition.dueTime))
    return { kind: 'tolerate', dueCondition, doubts: doubtsOf(unhealthy), message };
  const isOurs = owner.kind === 'none' && settings.nodesWithoutNodeClaim === 'TerminateInAutoScalingGroup';
  if (owner.kind === 'none' && !(isOurs && isUnmanaged(node))) {
    return { kind: 'unclaimed', dueCondition, message: owner.message };
  }
  if (owner.kind === 'ambiguous') {
    return { kind: 'blocked', reason: 'AmbiguousNodeClaim', dueCondition, message: owner.message };
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
  const veto = vetoOf(node, claim, rules.poolVeto, now);
  if (veto !== undefined) return { kind: 'vetoed', dueCondition, veto, message: `${message}; ${veto.message}` };
  const other = otherAtWork(node, claim, asked, now);
  if (other !== undefined) {
    const why = `${message}; somebody else is at work on the node: ${other.what}`;
    return { kind: 'blocked', reason: 'BeingDisrupted', dueCondition, message: why };
  }
  const { priority = 0 } = entry.statement;
  const terms: Terms = { priority, ...termsOf(settings, entry) };
  const ladder = ladderOf(terms, claim?.terminationGracePeriod);
  return { kind: 'due', dueCondition, claim, severity, terms, ladder, dueSince, message };
}

/** Clocks that cannot be right. */
const doubtsOf = (unhealthy: readonly UnhealthyStatement[]): readonly string[] =>
  unhealthy.flatMap(({ doubt, condition: { type, lastTransitionTime: time } }) =>
    doubt === undefined
      ? []
      : [`the clock that wrote ${type} is ${doubt}: its time is ${time === undefined ? '(none)' : toTimestamp(time)}`],
  );

/** An instance of its own that Karpenter has nothing to do with: one of Karpenter's may only be waiting for its NodeClaim to show. */
function isUnmanaged({ providerID, labels, ownerClaim }: NodeView): boolean {
  return providerID !== undefined && labels[NODE_POOL_LABEL] === undefined && ownerClaim === undefined;
}

/** Being deleted, and its deadline has passed. */
function isTerminatingForcefully(claim: NodeClaimView, now: EpochMs): boolean {
  return claim.deletionTime !== undefined && endsBy(claim, now);
}

/** The pool of a node is that of its NodeClaim; its own label counts only while there is none for certain. */
export function poolOf(node: NodeView, owner: Owner): string | undefined {
  return (owner.kind === 'claim' ? owner.claim : node).labels[NODE_POOL_LABEL];
}

/** Karpenter's own, on Nodes and NodeClaims; exactly `"true"`. */
const KARPENTER_VETO = 'karpenter.sh/do-not-repair';

/** The veto that holds longest, or undefined. */
export function vetoOf(
  node: NodeView,
  claim: NodeClaimView | undefined,
  pool: Vetoer | undefined,
  now: EpochMs,
): Veto | undefined {
  const carriers = [
    { kind: 'Node' as const, object: node },
    ...(claim === undefined ? [] : [{ kind: 'NodeClaim' as const, object: claim }]),
  ];
  const vetoes = carriers.flatMap(({ kind, object: { name, uid, annotations } }) => {
    const by: Vetoer = { kind, name, uid, value: annotations[DO_NOT_REPAIR_ANNOTATION] };
    const message = `${KARPENTER_VETO} on ${kind} ${name} holds until it is removed`;
    const karpenters: Veto = { until: undefined, message, invalid: false, by };
    return [readVeto(by, now) ?? [], annotations[KARPENTER_VETO] === 'true' ? karpenters : []].flat();
  });
  const pools = pool === undefined ? [] : (readVeto(pool, now) ?? []);
  return [...vetoes, pools].flat().toSorted((a, b) => (b.until ?? Infinity) - (a.until ?? Infinity))[0];
}

/**
 * `"true"` holds until it is taken away, an RFC 3339 instant until then, and any other value as `"true"` does (I6: its author wanted the
 * node left alone).
 */
function readVeto(by: Vetoer, now: EpochMs): Veto | undefined {
  if (by.value === undefined) return undefined;
  const on = `curfew.dev/do-not-repair on ${by.kind} ${by.name}`;
  if (by.value === 'true') return { until: undefined, message: `${on} holds until it is removed`, invalid: false, by };
  const until = parseTimestamp(by.value);
  if (until === undefined) {
    const value = quoteCut(by.value, 64);
    const message = `${on} holds until it is removed: its value must be "true" or an RFC 3339 instant, got ${value}`;
    return { until: undefined, message, invalid: true, by };
  }
  if (isDue(now, until)) return undefined;
  return { until, message: `${on} holds until ${toTimestamp(until)}`, invalid: false, by };
}

const COUNTS_FOR = hours(1);

const REBOOT_COUNTS_FOR = minutes(40);

const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler';

const AUTOSCALER_HOLDS_FOR = minutes(15);

/** An instance that somebody has stopped. */
const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';

const taintOf = ({ taints }: Pick<NodeView, 'taints'>, key: string) => taints?.find(each => each.key === key);

const isTrueForOthers = (list: readonly NodeCondition[] | undefined, type: string): boolean =>
  list?.some(each => each.type === type && each.status === 'True' && !isOwnCondition(each)) === true;

/** By which mark Karpenter says that it reboots the node. */
export function isRebooting(node: NodeView, claim: NodeClaimView | undefined): string | undefined {
  if (isTrueForOthers(claim?.conditions, 'Rebooting')) return 'condition Rebooting of the NodeClaim';
  return taintOf(node, 'karpenter.sh/rebooting') && 'taint karpenter.sh/rebooting';
}

/** By which mark it says that it is going to disrupt the node. */
export function isMarkedForDisruption(node: NodeView, claim: NodeClaimView | undefined): string | undefined {
  if (taintOf(node, 'karpenter.sh/disrupted')) return 'taint karpenter.sh/disrupted';
  return isTrueForOthers(claim?.conditions, 'DisruptionReason')
    ? 'condition DisruptionReason of the NodeClaim'
    : undefined;
}

/** @param asked what stands for the node in other systems, by its name */
export function otherAtWork(
  node: NodeView,
  claim: NodeClaimView | undefined,
  asked: string | undefined,
  now: EpochMs,
): Other | undefined {
  const other = (what: string, countsFor: DurationMs = COUNTS_FOR): Other => ({ what, countsFor });
  const reboot = isRebooting(node, claim);
  if (reboot !== undefined) return other(reboot, REBOOT_COUNTS_FOR);
  // What terminates it has set that taint, and a repair may force a termination.
  if (claim?.deletionTime === undefined && node.deletionTime === undefined) {
    const marked = isMarkedForDisruption(node, claim);
    if (marked !== undefined) return other(marked);
  }
  const removal = taintOf(node, AUTOSCALER_TAINT);
  const since = removal && Number(removal.value) * 1000;
  const isRead = since !== undefined && Number.isSafeInteger(since);
  if (isRead && !isDue(now, addDuration(toEpochMs(since), AUTOSCALER_HOLDS_FOR)))
    return other(`taint ${AUTOSCALER_TAINT}`);
  if (isTrueForOthers(node.conditions, 'MaintenanceInProgress')) return other('condition MaintenanceInProgress');
  return asked === undefined ? undefined : other(asked);
}

/** Its owner has stopped it: it is neither unhealthy nor well. */
export const isStopped = ({ taints }: Pick<NodeView, 'taints'>): boolean =>
  taints?.some(({ key }) => key === SHUTDOWN_TAINT) === true;
