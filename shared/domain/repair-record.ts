/** What the repair function has promised about one node: the open incident and the attempt at repair, if one was begun. */
import type { EpochMs } from './time.ts';

/** The unhealthy condition that is due first. */
export interface RepairIncident {
  readonly conditionType: string;
  readonly conditionStatus: string;
  readonly lastTransitionTime: EpochMs;
  readonly dueTime: EpochMs;
}

/**
 * `intended` is written before the first call; `accepted` after the API server took the deletion. An intended attempt whose run
 * ended is resolved by looking at the NodeClaim, never by repeating (I4).
 */
export interface RepairAttempt {
  readonly number: number;
  readonly nodeClaimName: string;
  readonly nodeClaimUid: string;
  readonly phase: 'intended' | 'accepted';
  readonly intendedTime: EpochMs;
  /** Value of the termination timestamp annotation that this attempt sets, so that it can be recognised as ours (I7). */
  readonly terminationTimestamp: string;
}

export interface RepairRecord {
  readonly incident: RepairIncident;
  readonly attempt?: RepairAttempt;
  /** Why the repair is held, as it was last reported. */
  readonly blocked?: string;
  /** In `Observe` mode: the repair that would have happened was reported. */
  readonly reported?: boolean;
}

export function sameIncident(a: RepairIncident, b: RepairIncident): boolean {
  return (
    a.conditionType === b.conditionType &&
    a.conditionStatus === b.conditionStatus &&
    a.lastTransitionTime === b.lastTransitionTime &&
    a.dueTime === b.dueTime
  );
}
