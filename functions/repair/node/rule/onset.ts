/**
 * Since when each repair condition is true of a node (docs/node-repair.md): its onset, by the transition time of the condition, by what
 * the record keeps of it, and by the event of the change, which shows whether the time can be right. Pure.
 */
import type { NodeRecord, Onset } from '../record.ts';
import type { NodeCondition, NodeView } from '../../../../shared/domain/node.ts';
import {
  keyOfRepairCondition,
  matchRepairConditions,
  type RepairSettings,
  repairConditionsOf,
  type UnhealthyMatch,
} from '../../../../shared/domain/repair-policy.ts';
import {
  addDuration,
  CLOCK_SKEW,
  earliest,
  type EpochMs,
  isDue,
  latest,
  minutes,
  seconds,
  toTimestamp,
} from '../../../../shared/domain/time.ts';

/** An event comes within seconds of its change: a transition further back was written by a clock that is behind. */
const LONGEST_LAG = minutes(10);

/** An event that comes within this time of a transition is about that very transition. */
const FRESH = minutes(1);

/** A repair condition that is true, and since when. */
export type UnhealthyCondition = UnhealthyMatch & { readonly key: string } & (
    | {
        readonly onset: Onset;
        /** Fault of the clock that wrote the condition's transition time. */
        readonly clockSkew?: 'behind' | 'ahead' | undefined;
      }
    /** Its condition does not say since when. */
    | { readonly onset: undefined; readonly clockSkew?: undefined }
  );

/** Context by which the start of a repair condition is judged. */
export interface OnsetContext {
  readonly now: EpochMs;
  readonly record: Pick<NodeRecord, 'onsets'> | undefined;
  /** Time at which the forwarder saw the change that asked for this look; undefined: no change asked for it. */
  readonly observedTime?: EpochMs | undefined;
  /** Time at which the forwarder saw the change of this very node; undefined: this node has not changed. */
  readonly ownTime?: EpochMs | undefined;
  /** The event of that change says whether the status of a condition changed; undefined: there is none, or it does not say. */
  readonly statusChanged?: boolean | undefined;
  /** No event has named the node since the last pass, which looked at it. */
  readonly isUnprompted?: boolean;
}

export type JudgedNode = Pick<NodeView, 'conditions' | 'creationTime'>;

/** Every repair condition of the settings that is true of the node, with its onset. */
export const unhealthyConditions = (
  node: JudgedNode,
  settings: RepairSettings,
  context: OnsetContext,
): readonly UnhealthyCondition[] =>
  matchRepairConditions(node, repairConditionsOf(settings)).map(match => withOnset(match, node, context));

/** A repair condition that is true, with its onset: the one that is recorded, or a new one. */
function withOnset(match: UnhealthyMatch, node: JudgedNode, context: OnsetContext): UnhealthyCondition {
  const key = keyOfRepairCondition(match.repairCondition);
  const kept = context.record?.onsets[key];
  const { lastTransitionTime: stated } = match.condition;
  if (stated === undefined) return { ...match, key, onset: undefined };
  const sameOnset = kept && onsetAfter(kept, stated, context);
  if (sameOnset !== undefined) return { ...match, key, onset: sameOnset };
  const statusStart = statusStartOf(match, key, context.record);
  const { start, clockSkew } = startOf(match, node, context, { stated, statusStart });
  const isKnownClock = kept !== undefined && isByClockOf(kept, stated, context.now);
  const onset = {
    start,
    stated,
    ...firstStartAt(stated, context, kept),
    ...(statusStart === undefined && isUnheard(stated, context) && { seenTime: context.now }),
    ...clockOffsetAt(stated, context, kept),
    ...(statusStart !== undefined && statusStart < start && { statusStart }),
  };
  return { ...match, key, onset, clockSkew: isKnownClock ? undefined : clockSkew };
}

/**
 * The first start that a new onset keeps: one that an event confirmed. An event before this transition means that the
 * node may have been healthy in between, and there is none.
 */
function firstStartAt(
  stated: EpochMs,
  { ownTime }: Pick<OnsetContext, 'ownTime'>,
  kept: Onset | undefined,
): Pick<Onset, 'first'> {
  if (kept === undefined || isBefore(ownTime, stated)) return {};
  const confirmedStart = kept.seenTime === undefined ? kept.start : undefined;
  const first = kept.first ?? confirmedStart;
  return first === undefined ? {} : { first };
}

/** Whether a pass finds an old transition of which no event has told: its event may still come. */
const isUnheard = (stated: EpochMs, { now, observedTime, isUnprompted = false }: OnsetContext): boolean =>
  isUnprompted && observedTime === undefined && isOlder(stated, now);

/**
 * The onset of a repair condition that was true at the last look; undefined: it starts anew. Its condition may get a new time
 * although its status stayed; its own event says so, or proves it by coming at once. Without such an event the node may have
 * been healthy for a while (I3). An event of the node is fresh if it was seen within a minute of the stated time, and
 * this look is as well.
 *
 * | stated time | what caused this look | onset |
 * |---|---|---|
 * | It is the recorded one, unconfirmed (`seenTime`). | The event of that change, over 10 minutes late: the clock is behind. | It starts anew. |
 * | | No event has named the node since the last pass. | It stays, and is still not confirmed. |
 * | | Anything else. | It stays, and is confirmed. |
 * | It is no later than the recorded one, or none is recorded. | An event that says that no status changed, or a fresh one that does not say, and a first start is recorded. | It starts at the first start. |
 * | | An event of the node that was seen before the stated time. | It stays, without the first start. |
 * | | Anything else. | It stays. |
 * | It is later than the recorded one. | An event that says that no status changed. | It keeps its first start, or else its start. |
 * | | An event that says that one did. | It starts anew. |
 * | | A fresh event that does not say. | It keeps its first start, or else its start. |
 * | | Anything else. | It starts anew. |
 */
function onsetAfter(kept: Onset, stated: EpochMs, context: OnsetContext): Onset | undefined {
  if (kept.seenTime !== undefined && kept.stated === stated) return unconfirmedAfter(kept, kept.seenTime, context);
  const { first, ...withoutFirst } = kept;
  const { clockOffset } = kept;
  const moved = { stated, ...(clockOffset !== undefined && { clockOffset }) };
  const isLater = kept.stated !== undefined && stated > kept.stated;
  const { statusChanged } = context;
  const hasStayed = statusChanged === undefined ? hasFreshEvent(kept, stated, context) : !statusChanged;
  if (isLater) return hasStayed ? { start: first ?? kept.start, ...moved } : undefined;
  if (hasStayed && first !== undefined) return { start: first, ...moved };
  return isBefore(context.ownTime, stated) ? withoutFirst : kept;
}

/** The onset after another look at the recorded time, which no event has confirmed yet. @param seenTime when a pass saw it first */
function unconfirmedAfter(kept: Onset, seenTime: EpochMs, context: OnsetContext): Onset | undefined {
  const { ownTime, isUnprompted = false } = context;
  const isOfThatChange = ownTime !== undefined && isDue(addDuration(seenTime, CLOCK_SKEW), ownTime);
  if (isOfThatChange && kept.stated !== undefined && isOlder(kept.stated, ownTime)) return undefined;
  const { seenTime: _, ...confirmed } = kept;
  return isUnprompted ? kept : confirmed;
}

/** Whether this look is by a fresh event of the node: by its time, or by that of a clock that is as wrong as before. */
function hasFreshEvent(kept: Onset, stated: EpochMs, { now, ownTime }: OnsetContext): boolean {
  if (ownTime === undefined) return false;
  if (isByClockOf(kept, stated, ownTime) && now - ownTime <= FRESH) return true;
  return !isBefore(ownTime, stated) && ownTime - stated <= FRESH && Math.abs(now - stated) <= FRESH;
}

/**
 * The offset of the clock that wrote a transition, by the event of that transition. Without an event the known offset
 * stays, since the event may still come; if none is known, a time in the future shows by how much the clock is ahead.
 */
function clockOffsetAt(
  stated: EpochMs,
  { now, ownTime }: Pick<OnsetContext, 'now' | 'ownTime'>,
  kept: Onset | undefined,
): Pick<Onset, 'clockOffset'> {
  const clockOffset = ownTime === undefined ? (kept?.clockOffset ?? Math.max(0, stated - now)) : stated - ownTime;
  return Math.abs(clockOffset) > FRESH ? { clockOffset } : {};
}

/** Whether a clock that is as wrong as before wrote this time for the change that the event tells of. */
const isByClockOf = ({ clockOffset }: Onset, stated: EpochMs, ownTime: EpochMs): boolean =>
  clockOffset !== undefined && Math.abs(stated - ownTime - clockOffset) <= FRESH;

/**
 * The start of another repair condition of this type and status that was true of this very transition: only the reason has
 * changed. undefined: there is none.
 */
function statusStartOf(
  { repairCondition: { type, status }, condition }: UnhealthyMatch,
  key: string,
  record: OnsetContext['record'],
): EpochMs | undefined {
  const ofStatus = keyOfRepairCondition({ type, status });
  const starts = Object.entries(record?.onsets ?? {}).flatMap(([each, { start, stated, statusStart = start }]) => {
    const isSame = stated !== undefined && stated === condition.lastTransitionTime;
    return isSame && each !== key && isOfStatus(each, ofStatus) ? [statusStart] : [];
  });
  return starts.reduce<EpochMs | undefined>(earliest, undefined);
}

/**
 * The start of a new onset.
 * @param statusStart defined: only the reason has changed, which says nothing of the clock that wrote the transition
 */
function startOf(
  { repairCondition }: UnhealthyMatch,
  { creationTime }: JudgedNode,
  { now, observedTime }: OnsetContext,
  { stated, statusStart }: { readonly stated: EpochMs; readonly statusStart: EpochMs | undefined },
): Pick<UnhealthyCondition, 'clockSkew'> & { readonly start: EpochMs } {
  if (!isDue(addDuration(now, CLOCK_SKEW), stated)) return { start: now, clockSkew: 'ahead' };
  const hasEvent = observedTime !== undefined && statusStart === undefined;
  // The event of a repair condition with a reason may be about the reason alone. An old transition time then does not mean a
  // wrong clock, and the last line of this function picks the start.
  if (hasEvent && repairCondition.reason === undefined && isOlder(stated, observedTime))
    return { start: now, clockSkew: 'behind' };
  const start = statusStart ?? latest(stated, creationTime ?? stated);
  // The transition time is that of the status: nobody says since when the reason stands.
  return { start: repairCondition.reason === undefined || now - start <= seconds(1) ? start : now };
}

/** Whether the event was seen before that transition, and so is about another change of the node. */
const isBefore = (seen: EpochMs | undefined, stated: EpochMs): boolean =>
  seen !== undefined && !isDue(addDuration(seen, CLOCK_SKEW), stated);

/** Whether that transition is too old at that time for an event about it: over 10 minutes. */
const isOlder = (stated: EpochMs, seen: EpochMs): boolean => seen - stated > LONGEST_LAG;

/** Messages about clocks whose transition times cannot be right. */
export const clockSkewsOf = (unhealthy: readonly UnhealthyCondition[]): readonly string[] =>
  unhealthy.flatMap(({ clockSkew, condition: { type, lastTransitionTime: time } }) =>
    clockSkew === undefined
      ? []
      : [
          `the clock that wrote ${type} is ${clockSkew}: its time is ${time === undefined ? '(none)' : toTimestamp(time)}`,
        ],
  );

/** The onsets as the record keeps them after this look. */
export const onsetsOf = (unhealthy: readonly UnhealthyCondition[]): NodeRecord['onsets'] =>
  Object.fromEntries(unhealthy.flatMap(({ key, onset }) => (onset === undefined ? [] : [[key, onset]])));

/** Onsets whose conditions still have their status, whatever their reason: all that can be said without settings. */
export const onsetsStill = ({ conditions }: NodeView, { onsets }: NodeRecord): NodeRecord['onsets'] =>
  Object.fromEntries(
    Object.entries(onsets).filter(([key]) =>
      conditions.some(({ type, status }) => isOfStatus(key, `${type}=${status}`)),
    ),
  );

/** Whether it is the key of a repair condition about this status, with a reason or without one. */
const isOfStatus = (key: string, ofStatus: string): boolean => key === ofStatus || key.startsWith(`${ofStatus}~`);

export const isStillUnhealthy = (node: NodeView, record: NodeRecord): boolean => {
  const { conditionType, conditionStatus } = record.attempt?.dueCondition ?? {};
  const isOfAttempt = node.conditions.some(({ type, status }) => type === conditionType && status === conditionStatus);
  return isOfAttempt || Object.keys(onsetsStill(node, record)).length > 0;
};

/**
 * Whether the node may still be unhealthy, as far as anybody can say without settings: a condition of its incident has the status
 * of before, one that the provider calls unhealthy, or `Unknown`.
 */
export function mayStillBeUnhealthy(node: NodeView, record: NodeRecord): boolean {
  const { attempt, incident, onsets } = record;
  const isOfIncident = (type: string): boolean =>
    type === attempt?.dueCondition.conditionType ||
    type === incident?.type ||
    Object.keys(onsets).some(key => key.startsWith(`${type}=`));
  const isDoubtful = (condition: NodeCondition): boolean =>
    condition.status === 'Unknown' || matchRepairConditions({ conditions: [condition] }).length > 0;
  return isStillUnhealthy(node, record) || node.conditions.some(each => isOfIncident(each.type) && isDoubtful(each));
}
