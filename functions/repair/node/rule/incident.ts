/**
 * An incident: when it goes on and when it ends (docs/node-repair.md), and how long the record of its node is kept.
 * Pure.
 */
import type { Incident, NodeRecord } from '../record.ts';
import type { RepairInForce } from './settings-in-force.ts';
import type { RepairSettings } from '../../../../shared/domain/repair-policy.ts';
import {
  addDuration,
  type DurationMs,
  type EpochMs,
  isDue,
  isReportDue,
  minutes,
  toDurationMs,
} from '../../../../shared/domain/time.ts';

export const readableSettings = ({ settings }: Pick<RepairInForce, 'settings'>): RepairSettings | undefined =>
  settings === undefined || 'invalid' in settings ? undefined : settings;

/** An incident is over when no repair condition has called the node unhealthy for this long. */
export const HEALTHY_FOR = minutes(5);

/** An incident of the same condition goes on in the ladder for this long after the last act. */
export const GOES_ON_WITHIN = minutes(24 * 60);

/** Health of a node for its incident. `unknown`: the settings of its pool cannot be read, and so say nothing of it. */
export type HealthNow = 'healthy' | 'unhealthy' | 'unknown';

/** The incident as of now; undefined: it is over, or never began. Time in which the health is unknown is no healthy time. */
export function incidentAt(incident: Incident | undefined, health: HealthNow, now: EpochMs): Incident | undefined {
  if (incident === undefined) return undefined;
  const { healthySince, interrupted, ...unhealthyIncident } = incident;
  if (healthySince !== undefined && health === 'unknown') return { ...incident, healthySince: now };
  if (healthySince !== undefined && isDue(now, addDuration(healthySince, HEALTHY_FOR))) return undefined;
  if (health === 'unhealthy') return { ...unhealthyIncident, taken: incident.taken.filter(key => key !== interrupted) };
  // An incident in which nothing was done needs no memory.
  if (incident.taken.length === 0 && incident.recovering === undefined) return undefined;
  return healthySince === undefined ? { ...incident, healthySince: now } : incident;
}

/** The incident of a node that nodes which have just come back do not block any more: the time for which they did is added up. */
export function notBlockedByRecovering(incident: Incident, now: EpochMs): Incident {
  const { recovering, ...otherFields } = incident;
  if (recovering?.since === undefined) return incident;
  return { ...otherFields, recovering: { totalMs: recovering.totalMs + (now - recovering.since) } };
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
  /** The Node is there. @property isReported its verdict has been reported */
  | { readonly kind: 'present'; readonly isReported: boolean }
  /**
   * Nothing is wrong with the node. Its acts and its last report are kept for a while yet.
   * @property countedFor the longest time within which an action of its list counts its acts
   */
  | { readonly kind: 'healthy'; readonly now: EpochMs; readonly countedFor: DurationMs }
  /** The node is to be forgotten. */
  | { readonly kind: 'gone' };

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
  if (seen.kind === 'present') return acts.length > 0 || reported !== undefined || (hasOnsets && !seen.isReported);
  const { now, countedFor } = seen;
  // An incident goes on in its ladder for that long, too.
  const keptFor = toDurationMs(Math.max(GOES_ON_WITHIN, countedFor));
  const isReportRecent = reported !== undefined && !isReportDue(now, reported.time);
  return hasOnsets || isReportRecent || acts.some(({ time }) => !isDue(now, addDuration(time, keptFor)));
}

/** The incident with an action that is left out of its list from now on. */
export const withSkippedLaunch = (incident: Incident, key: string): Incident => ({
  ...incident,
  skippedLaunches: [...new Set([...(incident.skippedLaunches ?? []), key])],
});

/** The part of an incident that the record keeps once it is over. */
export function endOf({ incident, acts }: NodeRecord): Pick<NodeRecord, 'lastIncident'> | undefined {
  const last = acts.at(-1);
  const key = incident?.taken.at(-1);
  if (incident === undefined || last === undefined || key === undefined) return undefined;
  return { lastIncident: { type: incident.type, key, time: last.time } };
}
