/**
 * When an incident starts and ends (docs/node-repair.md). Each statement that is true has a clock of its own. The clock
 * starts at the condition's transition, but never before the Node was made, and at the first look if that time cannot
 * be right. The record keeps the clock: an agent may write a new time with each report. Pure.
 */
import { cumulativeDueTime } from './flapping.ts';
import type { DueCondition } from '../attempt-record.ts';
import type { Clock, Episode, Incident, NodeRecord } from '../record.ts';
import type { Blocker, DueNode, RepairRules, UnhealthyStatement } from './verdict.ts';
import { formatDuration } from '../../../shared/domain/go-duration.ts';
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
  hours,
  isDue,
  isReportDue,
  latest,
  minutes,
  seconds,
  toTimestamp,
} from '../../../shared/domain/time.ts';

export const readableSettings = ({ settings }: Pick<RepairRules, 'settings'>): RepairSettings | undefined =>
  settings === undefined || 'invalid' in settings ? undefined : settings;

/** An event comes within seconds of its change: a transition further back was written by a clock that is behind. */
const LONGEST_LAG = minutes(10);

/** An incident is over when no rule has called the node unhealthy for this long. */
export const HEALTHY_FOR = minutes(5);

/** An incident of the same condition goes on in the ladder for this long after the last act. */
export const GOES_ON_WITHIN = minutes(24 * 60);

/** An event about a transition that is no older is about that very transition. */
const FRESH = minutes(1);

/** A pass that sees a condition before its event waits this long for it. The event shows whether the time can be right. */
const HEARD_WITHIN = minutes(1);

export interface ClockContext {
  readonly now: EpochMs;
  readonly settings: RepairSettings;
  readonly record: Pick<NodeRecord, 'clocks' | 'episodes'> | undefined;
  /** When the forwarder saw the change that asked for this look; undefined: no change asked for it. */
  readonly observedTime?: EpochMs | undefined;
  /** The same, if this very node has changed. */
  readonly ownTime?: EpochMs | undefined;
  /** No event has named the node since the last pass, which looked at it. */
  readonly isUnprompted?: boolean;
}

/** Every statement that is true of the node, with its clock. */
export function unhealthyStatementsOf(
  node: Pick<NodeView, 'conditions' | 'creationTime'>,
  observed: ClockContext,
): readonly UnhealthyStatement[] {
  return matchStatements(node, statementsOf(observed.settings)).map((match): UnhealthyStatement => {
    const key = keyOfStatement(match.statement);
    const kept = observed.record?.clocks[key];
    const { lastTransitionTime: stated } = match.condition;
    if (kept !== undefined && stated !== undefined) {
      const clock = clockAfter(kept, stated, observed);
      if (clock !== undefined) return { ...match, key, start: clock.start, clock };
    }
    const { start, doubt } = startOf(match, node, observed);
    const { now, ownTime, observedTime, isUnprompted = false } = observed;
    // Keep `first` only for a start that an event confirmed. Drop it if an event came before this transition: the node may have been healthy in between.
    const mayHaveStayed = stated === undefined || !isBefore(ownTime, stated);
    const first = mayHaveStayed ? (kept?.first ?? (kept?.seenTime === undefined ? kept?.start : undefined)) : undefined;
    const isUnheard = isUnprompted && observedTime === undefined && isOlder(stated, now);
    const clock =
      start === undefined
        ? undefined
        : { start, stated, ...(first !== undefined && { first }), ...(isUnheard && { seenTime: now }) };
    return { ...match, key, start, clock, doubt };
  });
}

/**
 * The clock of a statement that was true at the last look. Its condition may get a new time although its status stayed;
 * its own event, which comes at once, proves that. Without such an event the node may have been healthy for a while (I3).
 *
 * | the time that is stated | the event of the node | the clock |
 * |---|---|---|
 * | is kept, and no event has named it | of that change: the time was written by a clock that is behind | starts anew |
 * | | none, and none has named the node since | stays |
 * | | any other | stays, and is heard of |
 * | is no later than the kept one | fresh, and a first start is kept | starts at that |
 * | | of an earlier change | stays, without a first start |
 * | | any other | stays |
 * | is later | fresh | goes on from its first start |
 * | | any other | starts anew |
 */
function clockAfter(kept: Clock, stated: EpochMs, observed: ClockContext): Clock | undefined {
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
  const isFresh = ownTime !== undefined && !isOfEarlier && ownTime - stated <= FRESH && Math.abs(now - stated) <= FRESH;
  if (kept.stated === undefined || stated <= kept.stated) {
    if (isFresh && first !== undefined) return { start: first, stated };
    if (isOfEarlier) return certain;
    return kept;
  }
  if (isFresh) return { start: first ?? kept.start, stated };
  return undefined;
}

function startOf(
  { statement, condition }: UnhealthyMatch,
  { creationTime }: Pick<NodeView, 'creationTime'>,
  { now, observedTime }: ClockContext,
): Pick<UnhealthyStatement, 'start' | 'doubt'> {
  const { lastTransitionTime: stated } = condition;
  if (stated === undefined) return { start: undefined };
  if (!isDue(addDuration(now, CLOCK_SKEW), stated)) return { start: now, doubt: 'ahead' };
  if (observedTime !== undefined && isOlder(stated, observedTime)) return { start: now, doubt: 'behind' };
  const start = creationTime === undefined ? stated : latest(stated, creationTime);
  // The transition time is that of the status: nobody says since when the reason stands.
  return { start: statement.reason === undefined || now - start <= seconds(1) ? start : now };
}

/** Whether the event was seen before that transition, and so is of another change of the node. */
const isBefore = (seen: EpochMs | undefined, stated: EpochMs): boolean =>
  seen !== undefined && !isDue(addDuration(seen, CLOCK_SKEW), stated);

/** Whether a change that was seen at that time is older than any event of it. */
const isOlder = (stated: EpochMs | undefined, seen: EpochMs): boolean =>
  stated !== undefined && seen - stated > LONGEST_LAG;

export type Health =
  | { readonly kind: 'healthy' }
  | { readonly kind: 'noTransitionTime'; readonly message: string }
  | {
      readonly kind: 'unhealthy';
      readonly dueCondition: DueCondition;
      /** The condition and its due time in words. */
      readonly message: string;
      /** How many statements are true: how unhealthy the node is. */
      readonly severity: number;
      /** The statement that decides. */
      readonly entry: UnhealthyStatement;
      /** Since when any of them has been due. */
      readonly dueSince: EpochMs;
    };

/** A statement with its clock, and when it is due. */
interface Timed {
  readonly entry: UnhealthyStatement;
  readonly start: EpochMs;
  readonly dueTime: EpochMs;
}

const priorityOf = ({ entry: { statement } }: Timed): number => statement.priority ?? 0;

/**
 * The entry that decides: of those that are due the one with the highest priority, then that which is due first, then
 * the first listed.
 *
 * @param episodes looked at only with `flapping`
 */
export function judgeHealth(
  unhealthy: readonly UnhealthyStatement[],
  {
    now,
    settings,
    episodes,
  }: { readonly now: EpochMs; readonly settings: RepairSettings; readonly episodes: readonly Episode[] },
): Health {
  const [some] = unhealthy;
  if (some === undefined) return { kind: 'healthy' };
  const timed = unhealthy
    .flatMap((entry): Timed[] => {
      const { start, statement, clock } = entry;
      if (start === undefined) return [];
      const tolerated = addDuration(start, statement.toleration);
      const seenTime = clock?.seenTime;
      const dueTime = seenTime === undefined ? tolerated : latest(tolerated, addDuration(seenTime, HEARD_WITHIN));
      return [{ entry, start, dueTime }];
    })
    .toSorted((a, b) => a.dueTime - b.dueTime);
  const [soonest] = timed;
  const [first = soonest] = timed
    .filter(({ dueTime }) => isDue(now, dueTime))
    .toSorted((a, b) => priorityOf(b) - priorityOf(a));
  if (first === undefined || soonest === undefined) {
    const { type, status } = some.condition;
    const message = `${type}=${status} has no lastTransitionTime that can be read: how long it lasts is not known`;
    return { kind: 'noTransitionTime', message };
  }
  const { entry, start, dueTime } = first;
  const since = timed.map(each => each.start).reduce((least, time) => earliest(least, time));
  const flappingTime = settings.flapping && cumulativeDueTime(since, episodes, settings.flapping);
  const isFlapping = flappingTime !== undefined && flappingTime < dueTime;
  const { statement, condition } = entry;
  const field = isFlapping ? 'spec.repair.flapping' : statement.field;
  const dueCondition: DueCondition = {
    conditionType: condition.type,
    conditionStatus: condition.status,
    lastTransitionTime: start,
    dueTime: isFlapping ? flappingTime : dueTime,
    ...(field !== undefined && { field }),
    ...(statement.priority !== undefined && statement.priority > 0 && { priority: statement.priority }),
  };
  const why =
    isFlapping && settings.flapping !== undefined
      ? `unhealthy for ${formatDuration(settings.flapping.unhealthyFor)} in all within ${formatDuration(settings.flapping.window)}`
      : `tolerated ${formatDuration(statement.toleration)}`;
  const message = `${condition.type}=${condition.status} since ${toTimestamp(start)}, ${why}${dueClause(dueCondition)}`;
  const dueSince = earliest(soonest.dueTime, isFlapping ? flappingTime : undefined);
  return { kind: 'unhealthy', dueCondition, message, severity: unhealthy.length, entry, dueSince };
}

/** When a repair is due, at the end of what is said of a condition. */
const dueClause = ({ dueTime }: Pick<DueCondition, 'dueTime'>): string => `, repair is due at ${toTimestamp(dueTime)}`;

/** The message for who says beside it when that is. */
export const withoutDueClause = (message: string, dueCondition: DueCondition): string =>
  message.replace(dueClause(dueCondition), '');

/** Clocks that cannot be right, in words. */
export const doubtsOf = (unhealthy: readonly UnhealthyStatement[]): readonly string[] =>
  unhealthy.flatMap(({ doubt, condition: { type, lastTransitionTime: time } }) =>
    doubt === undefined
      ? []
      : [`the clock that wrote ${type} is ${doubt}: its time is ${time === undefined ? '(none)' : toTimestamp(time)}`],
  );

/** What is remembered of the clocks after this look. */
export const clocksOf = (unhealthy: readonly UnhealthyStatement[]): NodeRecord['clocks'] =>
  Object.fromEntries(unhealthy.flatMap(({ key, clock }) => (clock === undefined ? [] : [[key, clock]])));

/** The incident as of now; undefined: it is over, or never began. */
export function incidentAt(incident: Incident | undefined, isUnhealthy: boolean, now: EpochMs): Incident | undefined {
  if (incident === undefined) return undefined;
  const { healthySince, ...rest } = incident;
  if (healthySince !== undefined && isDue(now, addDuration(healthySince, HEALTHY_FOR))) return undefined;
  if (isUnhealthy) return rest;
  // An incident in which nothing was done needs no memory.
  if (incident.taken.length === 0 && incident.recovering === undefined) return undefined;
  return healthySince === undefined ? { ...incident, healthySince: now } : incident;
}

/** Its repair has mended the node a moment ago: it did not come back by itself. */
export const isMended = ({ incident }: Pick<NodeRecord, 'incident'>): boolean =>
  incident?.healthySince !== undefined && incident.taken.length > 0;

/** What has to be followed of a node although its repair is over: that it was mended, and the marks of a replacement. */
export const outlastsRepair = (record: NodeRecord | undefined): boolean =>
  record !== undefined && (isMended(record) || record.ours?.replacement !== undefined);

/** How much of a node is seen when it is told whether its record lives on. */
export type SeenNode =
  /** @property isSaid what is wrong with it has been said */
  | { readonly kind: 'present'; readonly isSaid: boolean }
  /** Nothing is wrong with it: acts and words count for a while yet. */
  | { readonly kind: 'healthy'; readonly now: EpochMs }
  /** It is to be forgotten. */
  | { readonly kind: 'gone' };

/** A healthy node's acts are remembered for this long, and what was said of it until it may be said again. */
const ACTS_KEPT_FOR = hours(24);

/**
 * Whether the record of a node lives on: it says something that the live Node does not. What is not taken back is never
 * forgotten (I7).
 */
export function livesOn(
  { attempt, ours, incident, otherWork, episodes, clocks, acts, reported }: NodeRecord,
  seen: SeenNode,
): boolean {
  if (attempt !== undefined || ours !== undefined) return true;
  if (seen.kind === 'gone') return false;
  if (incident !== undefined || otherWork !== undefined || episodes.length > 0) return true;
  const hasClocks = Object.keys(clocks).length > 0;
  if (seen.kind === 'present') return acts.length > 0 || reported !== undefined || (hasClocks && !seen.isSaid);
  const { now } = seen;
  const isSaidLately = reported !== undefined && !isReportDue(now, reported.time);
  return hasClocks || isSaidLately || acts.some(({ time }) => !isDue(now, addDuration(time, ACTS_KEPT_FOR)));
}

/** The incident with an action that is left out of its list from now on. */
export const withSkipped = (incident: Incident, key: string): Incident => ({
  ...incident,
  skipped: [...new Set([...(incident.skipped ?? []), key])],
});

/** Clocks whose conditions still have their status: all that can be said without settings. */
export const clocksStill = ({ conditions }: NodeView, { clocks }: NodeRecord): NodeRecord['clocks'] =>
  Object.fromEntries(
    Object.entries(clocks).filter(([key]) => conditions.some(({ type, status }) => key === `${type}=${status}`)),
  );

export const isStillUnhealthy = (node: NodeView, record: NodeRecord): boolean => {
  const { conditionType, conditionStatus } = record.attempt?.dueCondition ?? {};
  const isOfAttempt = node.conditions.some(({ type, status }) => type === conditionType && status === conditionStatus);
  return isOfAttempt || Object.keys(clocksStill(node, record)).length > 0;
};

/** What is remembered of an incident that is over. */
export function endOf({ incident, acts }: NodeRecord): Pick<NodeRecord, 'lastIncident'> | undefined {
  const last = acts.at(-1);
  const key = incident?.taken.at(-1);
  if (incident === undefined || last === undefined || key === undefined) return undefined;
  return { lastIncident: { type: incident.type, key, time: last.time } };
}

/** The word of EC2 that confirms a repair. */
export const CONFIRMED = 'impaired';

/** No event tells that EC2 says something else. */
const CONFIRM_CHECK = minutes(1);

/** Stops the repair of a node that EC2 does not call impaired; undefined: EC2 does, or the entry does not ask (`confirm`). */
export function unconfirmed(
  { entryPolicy: { confirm }, dueCondition: { field = '' } }: DueNode,
  answer: string | undefined,
  now: EpochMs,
): Blocker | undefined {
  if (confirm === undefined || answer === CONFIRMED) return undefined;
  const says = answer ?? 'nothing';
  return {
    kind: 'entry',
    reason: 'NotConfirmed',
    message: `EC2 says ${says} of ${confirm}, and confirm waits for ${CONFIRMED}`,
    setting: { field: `${field}.confirm`, numbers: { check: confirm, says } },
    until: addDuration(now, CONFIRM_CHECK),
  };
}

/** What others may be at cannot be read: nothing begins (I6). No event tells that it can be read again. */
export function othersNotKnown(fault: string | undefined, now: EpochMs): Blocker | undefined {
  if (fault === undefined) return undefined;
  const message = `who else is at work on it is not known: ${fault}`;
  return { kind: 'others', reason: 'BeingDisrupted', message, until: addDuration(now, CONFIRM_CHECK) };
}
