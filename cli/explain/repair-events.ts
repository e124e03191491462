/**
 * Reads the Events of a node about its repair: which act is under way, what follows, and what holds it. They also tell
 * when the repair is due, for which only Curfew's table has all facts (earlier unhealthy times, a wrong clock of the
 * machine). The API server forgets Events after about an hour; marks on the Node say what they can after that.
 */
import { withPastTense } from '../../functions/repair/explain.ts';
import { EVENT_REASONS } from '../../shared/contract/reasons.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { isOwnCondition } from '../../shared/domain/node-drain-conditions.ts';
import type { NodeView } from '../../shared/domain/node.ts';
import { addDuration, type EpochMs, isDue, minutes, parseTimestamp } from '../../shared/domain/time.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { objectsOf } from '../../shared/ports/read-answer.ts';
import type { LifecycleExplanation, RepairExplanation } from './lifecycle.ts';

/** One Event. */
export interface RepairEvent {
  readonly reason: string;
  readonly message: string;
  readonly time: EpochMs;
}

/** By the UID of the Node, the newest first. */
export type EventsByNode = ReadonlyMap<string, readonly RepairEvent[]>;

const {
  nodeRepairStarted,
  nodeRepairStuck,
  nodeRepairBlocked,
  nodeRepairVetoed,
  nodeRepairScheduled,
  nodeRepairActionFailed,
} = EVENT_REASONS;

/** Reasons of Events about an act, and about what may follow it. */
const OF_ACTS: readonly string[] = [
  nodeRepairStarted,
  nodeRepairStuck,
  nodeRepairBlocked,
  nodeRepairVetoed,
  nodeRepairActionFailed,
  EVENT_REASONS.nodeRepairSucceeded,
  EVENT_REASONS.nodeRepairObserved,
];
const READ: readonly string[] = [...OF_ACTS, nodeRepairScheduled];

/** The order of Events of the same second: the act is the newest, and before it comes what holds the next one. */
const RANKS: readonly string[] = [nodeRepairBlocked, nodeRepairStarted];

/** The age after which an Event no longer holds: a report that is still true is repeated after an hour. */
const HOLDS_FOR = minutes(62);

/** @param name of one Node; undefined: of all */
export async function loadRepairEvents(kubernetes: KubernetesApi, name?: string): Promise<EventsByNode> {
  const fieldSelector = `involvedObject.kind=Node${name === undefined ? '' : `,involvedObject.name=${name}`}`;
  const events = objectsOf(await kubernetes.list(RESOURCES.Event, { fieldSelector }), { ifNotServed: 'throw' });
  const byNode = new Map<string, RepairEvent[]>();
  for (const event of events) {
    const uid = aboutUid(event);
    const [reason, message] = [textOf(event['reason']), textOf(event['message'])];
    const time = parseTimestamp(textOf(event['lastTimestamp']));
    if (uid === undefined || time === undefined || !READ.includes(reason) || isOfWhatIsLeft(reason, message)) continue;
    byNode.set(uid, [...(byNode.get(uid) ?? []), { reason, message, time }]);
  }
  const rank = ({ reason }: RepairEvent): number => RANKS.indexOf(reason);
  for (const list of byNode.values()) list.sort((a, b) => b.time - a.time || rank(b) - rank(a));
  return byNode;
}

/**
 * Whether the Event only says that something an act has made or set cannot be taken back: that tells nothing of an act
 * under way.
 */
const isOfWhatIsLeft = (reason: string, message: string): boolean =>
  reason === nodeRepairActionFailed && !message.includes(' could not be carried out: ');

/** The explanation with what was said of the node. */
export function withRepairEvents(
  lifecycle: LifecycleExplanation,
  node: NodeView,
  events: readonly RepairEvent[] = [],
  now: EpochMs,
): LifecycleExplanation {
  const repair =
    underWay(lifecycle.repair, node, events, now) ?? stillHeld(dueBy(lifecycle.repair, events, now), events, now);
  return { ...lifecycle, repair };
}

/** An act that has begun and is not over. */
function underWay(
  repair: RepairExplanation,
  node: NodeView,
  events: readonly RepairEvent[],
  now: EpochMs,
): RepairExplanation | undefined {
  const last = events.find(({ reason }) => OF_ACTS.includes(reason));
  const reboot = node.conditions.find(
    each => each.type === 'MaintenanceInProgress' && each.status === 'True' && isOwnCondition(each),
  );
  const isUnhealthy = repair.dueTime !== undefined && repair.kind !== 'tolerate';
  if (last?.reason === nodeRepairStuck && isUnhealthy)
    return { ...repair, kind: 'stuck', since: last.time, message: last.message };
  if (last?.reason === nodeRepairStarted && (isUnhealthy || reboot !== undefined) && hasTime(last.message, now))
    return {
      ...repair,
      kind: 'underWay',
      since: last.time,
      message: `${last.message}${heldNext(repair, last.message)}`,
    };
  if (reboot === undefined) return undefined;
  const { lastTransitionTime: since } = reboot;
  return { ...repair, kind: 'underWay', since, message: `Curfew reboots the machine: ${reboot.message}` };
}

/** Words about what holds the action that the Event has promised: settings or marks may have changed since. */
const heldNext = ({ heldBy }: RepairExplanation, promise: string): string =>
  heldBy === undefined || !promise.includes('; after it, ') ? '' : `; what follows is held: ${heldBy}`;

/** A termination has no end of its own. */
function hasTime(message: string, now: EpochMs): boolean {
  const until = parseTimestamp(/ has time until (\S+?)[;:]? /.exec(`${message} `)?.[1] ?? '');
  return until === undefined || !isDue(now, until);
}

/**
 * Takes the due time from the Event of the first look at the incident: Curfew knew earlier unhealthy times then, and
 * what it had seen of a clock.
 */
function dueBy(repair: RepairExplanation, events: readonly RepairEvent[], now: EpochMs): RepairExplanation {
  if (repair.kind !== 'tolerate' && repair.kind !== 'due') return repair;
  const last = events.find(({ reason }) => reason === nodeRepairScheduled);
  const [clause, text = ''] = /, repair is due at (\S+)$/.exec(last?.message ?? '') ?? [];
  const dueTime = parseTimestamp(text);
  if (last === undefined || clause === undefined || dueTime === undefined || dueTime === repair.dueTime) return repair;
  const kind = isDue(now, dueTime) ? 'due' : 'tolerate';
  return { ...repair, kind, dueTime, message: last.message.slice(0, -clause.length) };
}

/** Limits on concurrent repairs, a ramp, futility, exhausted actions; or an act that could not be carried out, and is not under way any more. */
function stillHeld(repair: RepairExplanation, events: readonly RepairEvent[], now: EpochMs): RepairExplanation {
  if (repair.kind !== 'due' && repair.kind !== 'blocked') return repair;
  const last = events.find(({ reason }) => OF_ACTS.includes(reason));
  if (last === undefined || isDue(now, addDuration(last.time, HOLDS_FOR))) return repair;
  if (last.reason === nodeRepairActionFailed) return { ...repair, message: `${repair.message}; ${last.message}` };
  if (repair.kind === 'blocked' || last.reason !== nodeRepairBlocked) return repair;
  return { ...repair, kind: 'blocked', message: `${repair.message}; held: ${withPastTense(last.message, now)}` };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function aboutUid(event: KubernetesObject): string | undefined {
  const about = event['involvedObject'];
  return isJsonObject(about) && typeof about['uid'] === 'string' ? about['uid'] : undefined;
}
