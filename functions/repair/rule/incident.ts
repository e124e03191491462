/**
 * An incident: which entry of the settings decides, when the node is due, when the incident ends
 * (docs/node-repair.md), and what the record keeps of it. Pure.
 */
import { cumulativeDueTime } from './flapping.ts';
import type { DueCondition } from '../attempt-record.ts';
import type { Episode, Incident, NodeRecord } from '../node-record.ts';
import type { UnhealthyStatement } from './verdict.ts';
import type { RepairRules } from './settings-in-force.ts';
import { formatDuration } from '../../../shared/domain/go-duration.ts';
import type { RepairSettings } from '../../../shared/domain/repair-policy.ts';
import {
  addDuration,
  earliest,
  type EpochMs,
  hours,
  isDue,
  isReportDue,
  latest,
  minutes,
  toTimestamp,
} from '../../../shared/domain/time.ts';

export const readableSettings = ({ settings }: Pick<RepairRules, 'settings'>): RepairSettings | undefined =>
  settings === undefined || 'invalid' in settings ? undefined : settings;

/** An incident is over when no rule has called the node unhealthy for this long. */
export const HEALTHY_FOR = minutes(5);

/** An incident of the same condition goes on in the ladder for this long after the last act. */
export const GOES_ON_WITHIN = minutes(24 * 60);

/** A pass that sees a condition before its event waits this long for it. The event shows whether the time can be right. */
const HEARD_WITHIN = minutes(1);

export type Health =
  | { readonly kind: 'healthy' }
  | { readonly kind: 'noTransitionTime'; readonly message: string }
  | {
      readonly kind: 'unhealthy';
      readonly dueCondition: DueCondition;
      /** A message with the condition and its due time. */
      readonly message: string;
      /** Number of statements that are true: how unhealthy the node is. */
      readonly severity: number;
      /** The statement that decides. */
      readonly entry: UnhealthyStatement;
      /** Time since which any of the statements has been due. */
      readonly dueSince: EpochMs;
    };

/** A statement with its onset, and when it is due. */
interface Timed {
  readonly entry: UnhealthyStatement;
  readonly start: EpochMs;
  readonly dueTime: EpochMs;
}

const priorityOf = ({ entry: { statement } }: Timed): number => statement.priority ?? 0;

/**
 * Judges the health of the node by the entry that decides. Among those that are due it is the one with the highest
 * priority, then the one that is due first, then the first listed.
 *
 * @param episodes read only with `flapping`
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
      const { statement, onset } = entry;
      if (onset === undefined) return [];
      const { start, seenTime } = onset;
      const tolerated = addDuration(start, statement.toleration);
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

/** The end of a message about a condition: when the repair is due. */
const dueClause = ({ dueTime }: Pick<DueCondition, 'dueTime'>): string => `, repair is due at ${toTimestamp(dueTime)}`;

/** The message without that end, for a caller that shows the time by itself. */
export const withoutDueClause = (message: string, dueCondition: DueCondition): string =>
  message.replace(dueClause(dueCondition), '');

/** The incident as of now; undefined: it is over, or never began. */
export function incidentAt(incident: Incident | undefined, isUnhealthy: boolean, now: EpochMs): Incident | undefined {
  if (incident === undefined) return undefined;
  const { healthySince, interrupted, ...unhealthyIncident } = incident;
  if (healthySince !== undefined && isDue(now, addDuration(healthySince, HEALTHY_FOR))) return undefined;
  if (isUnhealthy) return { ...unhealthyIncident, taken: incident.taken.filter(key => key !== interrupted) };
  // An incident in which nothing was done needs no memory.
  if (incident.taken.length === 0 && incident.recovering === undefined) return undefined;
  return healthySince === undefined ? { ...incident, healthySince: now } : incident;
}

/** Whether a repair mended the node a moment ago: it did not come back by itself. */
export const isMended = ({ incident }: Pick<NodeRecord, 'incident'>): boolean =>
  incident?.healthySince !== undefined && incident.taken.length > 0;

/**
 * Whether a node is followed although its repair is over: it was mended a moment ago, or its replacement still has
 * marks.
 */
export const outlastsRepair = (record: NodeRecord | undefined): boolean =>
  record !== undefined && (isMended(record) || record.leftovers?.replacement !== undefined);

/** State of a node, by which `isRecordNeeded` says whether its record is kept. */
export type SeenNode =
  /** The Node is there. @property isSaid its verdict has been reported */
  | { readonly kind: 'present'; readonly isSaid: boolean }
  /** Nothing is wrong with the node. Its acts and its last report are kept for a while yet. */
  | { readonly kind: 'healthy'; readonly now: EpochMs }
  /** The node is to be forgotten. */
  | { readonly kind: 'gone' };

/** The record of a healthy node keeps its acts for this long, and its last report until that may be repeated. */
const ACTS_KEPT_FOR = hours(24);

/**
 * Whether the record of a node is kept: it says something that the live Node does not. Leftovers that were not taken
 * back are never forgotten (I7).
 */
export function isRecordNeeded(
  { attempt, leftovers, incident, otherWork, episodes, onsets, acts, reported }: NodeRecord,
  seen: SeenNode,
): boolean {
  if (attempt !== undefined || leftovers !== undefined) return true;
  if (seen.kind === 'gone') return false;
  if (incident !== undefined || otherWork !== undefined || episodes.length > 0) return true;
  const hasOnsets = Object.keys(onsets).length > 0;
  if (seen.kind === 'present') return acts.length > 0 || reported !== undefined || (hasOnsets && !seen.isSaid);
  const { now } = seen;
  const isSaidLately = reported !== undefined && !isReportDue(now, reported.time);
  return hasOnsets || isSaidLately || acts.some(({ time }) => !isDue(now, addDuration(time, ACTS_KEPT_FOR)));
}

/** The incident with an action that is left out of its list from now on. */
export const withSkipped = (incident: Incident, key: string): Incident => ({
  ...incident,
  skipped: [...new Set([...(incident.skipped ?? []), key])],
});

/** The part of an incident that the record keeps once it is over. */
export function endOf({ incident, acts }: NodeRecord): Pick<NodeRecord, 'lastIncident'> | undefined {
  const last = acts.at(-1);
  const key = incident?.taken.at(-1);
  if (incident === undefined || last === undefined || key === undefined) return undefined;
  return { lastIncident: { type: incident.type, key, time: last.time } };
}
