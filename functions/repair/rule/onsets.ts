/**
 * Finds since when a node is unhealthy (docs/node-repair.md). Each statement that is true has an onset: the transition
 * time of the condition, but no time before the Node was created, and the first look if the time cannot be right. The
 * record keeps the onset, since an agent may write a new time with each report. Pure.
 */
import type { NodeRecord, Onset } from '../node-record.ts';
import type { UnhealthyStatement } from './verdict.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import {
  keyOfStatement,
  matchStatements,
  type RepairSettings,
  statementsOf,
  type UnhealthyMatch,
} from '../../../shared/domain/repair-policy.ts';
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
} from '../../../shared/domain/time.ts';

/** An event comes within seconds of its change: a transition further back was written by a clock that is behind. */
const LONGEST_LAG = minutes(10);

/** An event that comes within this time of a transition is about that very transition. */
const FRESH = minutes(1);

export interface OnsetContext {
  readonly now: EpochMs;
  readonly settings: RepairSettings;
  readonly record: Pick<NodeRecord, 'onsets' | 'episodes'> | undefined;
  /** Time at which the forwarder saw the change that asked for this look; undefined: no change asked for it. */
  readonly observedTime?: EpochMs | undefined;
  /** Time at which the forwarder saw the change of this very node; undefined: this node has not changed. */
  readonly ownTime?: EpochMs | undefined;
  /** No event has named the node since the last pass, which looked at it. */
  readonly isUnprompted?: boolean;
}

/** Every statement that is true of the node, with its onset. */
export function unhealthyStatementsOf(
  node: Pick<NodeView, 'conditions' | 'creationTime'>,
  observed: OnsetContext,
): readonly UnhealthyStatement[] {
  return matchStatements(node, statementsOf(observed.settings)).map((match): UnhealthyStatement => {
    const key = keyOfStatement(match.statement);
    const kept = observed.record?.onsets[key];
    const { lastTransitionTime: stated } = match.condition;
    if (stated === undefined) return { ...match, key, onset: undefined };
    const sameOnset = kept && onsetAfter(kept, stated, observed);
    if (sameOnset !== undefined) return { ...match, key, onset: sameOnset };
    const statusStart = statusStartOf(match, key, observed.record);
    const { start, doubt } = startOf(match, node, observed, { stated, statusStart });
    const { now, ownTime, observedTime, isUnprompted = false } = observed;
    // Keep `first` only for a start that an event confirmed. Drop it if an event came before this transition: the node
    // may have been healthy in between.
    const mayHaveStayed = !isBefore(ownTime, stated);
    const first = mayHaveStayed ? (kept?.first ?? (kept?.seenTime === undefined ? kept?.start : undefined)) : undefined;
    const isUnheard = statusStart === undefined && isUnprompted && observedTime === undefined && isOlder(stated, now);
    const onset = {
      start,
      stated,
      ...(first !== undefined && { first }),
      ...(isUnheard && { seenTime: now }),
      ...clockOffsetAt(stated, ownTime, kept),
      ...(statusStart !== undefined && statusStart < start && { statusStart }),
    };
    return { ...match, key, onset, doubt };
  });
}

/**
 * The onset of a statement that was true at the last look; undefined: it starts anew. Its condition may get a new time
 * although its status stayed; its own event, which comes at once, proves that. Without such an event the node may have
 * been healthy for a while (I3). An event of the node is fresh if it was seen within a minute of the stated time, and
 * this look is as well.
 *
 * | stated time | what caused this look | onset |
 * |---|---|---|
 * | It is the recorded one, unconfirmed (`seenTime`). | The event of that change, over 10 minutes late: the clock is behind. | It starts anew. |
 * | | No event has named the node since the last pass. | It stays, and is still not confirmed. |
 * | | Anything else. | It stays, and is confirmed. |
 * | It is no later than the recorded one, or none is recorded. | A fresh event, and a first start is recorded. | It starts at the first start. |
 * | | An event of the node that was seen before the stated time. | It stays, without the first start. |
 * | | Anything else. | It stays. |
 * | It is later than the recorded one. | A fresh event. | It keeps its first start, or else its start. |
 * | | Anything else. | It starts anew. |
 */
function onsetAfter(kept: Onset, stated: EpochMs, observed: OnsetContext): Onset | undefined {
  const { now, ownTime, isUnprompted = false } = observed;
  const { seenTime, ...heard } = kept;
  const { first, ...certain } = kept;
  if (seenTime !== undefined && kept.stated === stated) {
    const isOfThatChange = ownTime !== undefined && isDue(addDuration(seenTime, CLOCK_SKEW), ownTime);
    if (isOfThatChange && isOlder(stated, ownTime)) return undefined;
    if (isUnprompted) return kept;
    return heard;
  }
  const isOfEarlier = isBefore(ownTime, stated);
  const isFresh =
    ownTime !== undefined &&
    ((!isOfEarlier && ownTime - stated <= FRESH && Math.abs(now - stated) <= FRESH) ||
      (isByClockOf(kept, stated, ownTime) && now - ownTime <= FRESH));
  const { clockOffset } = kept;
  const moved = { stated, ...(clockOffset !== undefined && { clockOffset }) };
  if (kept.stated === undefined || stated <= kept.stated) {
    if (isFresh && first !== undefined) return { start: first, ...moved };
    if (isOfEarlier) return certain;
    return kept;
  }
  if (isFresh) return { start: first ?? kept.start, ...moved };
  return undefined;
}

/**
 * The offset of the clock that wrote a transition, by the event of that transition. Without an event the known offset
 * stays: the event may still come.
 */
function clockOffsetAt(
  stated: EpochMs,
  ownTime: EpochMs | undefined,
  kept: Onset | undefined,
): Pick<Onset, 'clockOffset'> {
  const clockOffset = ownTime === undefined ? (kept?.clockOffset ?? 0) : stated - ownTime;
  return Math.abs(clockOffset) > FRESH ? { clockOffset } : {};
}

/** Whether a clock that is as wrong as before wrote this time for the change that the event tells of. */
const isByClockOf = ({ clockOffset }: Onset, stated: EpochMs, ownTime: EpochMs): boolean =>
  clockOffset !== undefined && Math.abs(stated - ownTime - clockOffset) <= FRESH;

/**
 * The start of another statement of this type and status that was true of this very transition: only the reason has
 * changed. undefined: there is none.
 */
function statusStartOf(
  { statement: { type, status }, condition }: UnhealthyMatch,
  key: string,
  record: OnsetContext['record'],
): EpochMs | undefined {
  const ofStatus = keyOfStatement({ type, status });
  const starts = Object.entries(record?.onsets ?? {}).flatMap(([each, { start, stated, statusStart = start }]) => {
    const isSame = stated !== undefined && stated === condition.lastTransitionTime;
    return isSame && each !== key && (each === ofStatus || each.startsWith(`${ofStatus}~`)) ? [statusStart] : [];
  });
  return starts.reduce<EpochMs | undefined>(earliest, undefined);
}

/**
 * The start of a new onset.
 * @param statusStart defined: only the reason has changed, which says nothing of the clock that wrote the transition
 */
function startOf(
  { statement }: UnhealthyMatch,
  { creationTime }: Pick<NodeView, 'creationTime'>,
  { now, observedTime }: OnsetContext,
  { stated, statusStart }: { readonly stated: EpochMs; readonly statusStart: EpochMs | undefined },
): Pick<UnhealthyStatement, 'doubt'> & { readonly start: EpochMs } {
  if (!isDue(addDuration(now, CLOCK_SKEW), stated)) return { start: now, doubt: 'ahead' };
  const isTold = observedTime !== undefined && statusStart === undefined;
  // The event of a statement with a reason may be about the reason alone. An old transition time then does not mean a
  // wrong clock, and the last line of this function picks the start.
  if (isTold && statement.reason === undefined && isOlder(stated, observedTime)) return { start: now, doubt: 'behind' };
  const start = statusStart ?? latest(stated, creationTime ?? stated);
  // The transition time is that of the status: nobody says since when the reason stands.
  return { start: statement.reason === undefined || now - start <= seconds(1) ? start : now };
}

/** Whether the event was seen before that transition, and so is about another change of the node. */
const isBefore = (seen: EpochMs | undefined, stated: EpochMs): boolean =>
  seen !== undefined && !isDue(addDuration(seen, CLOCK_SKEW), stated);

/** Whether that transition is too old at that time for an event about it: over 10 minutes. */
const isOlder = (stated: EpochMs, seen: EpochMs): boolean => seen - stated > LONGEST_LAG;

/** Messages about clocks that cannot be right. */
export const doubtsOf = (unhealthy: readonly UnhealthyStatement[]): readonly string[] =>
  unhealthy.flatMap(({ doubt, condition: { type, lastTransitionTime: time } }) =>
    doubt === undefined
      ? []
      : [`the clock that wrote ${type} is ${doubt}: its time is ${time === undefined ? '(none)' : toTimestamp(time)}`],
  );

/** The onsets as the record keeps them after this look. */
export const onsetsOf = (unhealthy: readonly UnhealthyStatement[]): NodeRecord['onsets'] =>
  Object.fromEntries(unhealthy.flatMap(({ key, onset }) => (onset === undefined ? [] : [[key, onset]])));

/** Onsets whose conditions still have their status: all that can be said without settings. */
export const onsetsStill = ({ conditions }: NodeView, { onsets }: NodeRecord): NodeRecord['onsets'] =>
  Object.fromEntries(
    Object.entries(onsets).filter(([key]) => conditions.some(({ type, status }) => key === `${type}=${status}`)),
  );

export const isStillUnhealthy = (node: NodeView, record: NodeRecord): boolean => {
  const { conditionType, conditionStatus } = record.attempt?.dueCondition ?? {};
  const isOfAttempt = node.conditions.some(({ type, status }) => type === conditionType && status === conditionStatus);
  return isOfAttempt || Object.keys(onsetsStill(node, record)).length > 0;
};
