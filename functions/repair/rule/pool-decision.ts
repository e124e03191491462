/** Input and output of `decide` for a pool. Types only. */
import type { PoolRecord } from '../pool-record.ts';
import type { ConcurrencyLimits } from './concurrency-limits.ts';
import type { GuardInputs } from './guards.ts';
import type { ActionAttempt, Rank } from './verdict.ts';
import type { DueFinding, NodeFinding } from './finding.ts';
import type { RepairRules } from './settings-in-force.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';

export interface PoolObservation {
  readonly now: EpochMs;
  readonly pool: string | undefined;
  readonly rules: RepairRules;
  readonly findings: readonly NodeFinding[];
  readonly state: PoolRecord;
  /** Facts that the guards count; undefined: nothing may be repaired. */
  readonly guardInputs: GuardInputs | undefined;
  /** Answers of EC2 about the nodes that it is to confirm, by UID. */
  readonly answers?: ReadonlyMap<string, string> | undefined;
  /** Creates the limits of zone and cluster, by the UIDs that the pool itself has in flight. */
  readonly concurrencyLimits?: ((own: ReadonlySet<string>) => ConcurrencyLimits) | undefined;
}

export type GrantedRepair = ActionAttempt & { readonly finding: DueFinding; readonly rank: Rank };

export interface PoolDecision {
  readonly findings: readonly NodeFinding[];
  readonly granted: readonly GrantedRepair[];
  /** UIDs that count as in flight before anything is granted. */
  readonly inFlight: ReadonlySet<string>;
  /** The record of the pool if all granted acts are accepted. */
  readonly state: PoolRecord;
  readonly wakeTime: EpochMs | undefined;
  /** A freeze or a zone outage holds repairs: passes are a minute apart. */
  readonly isOutage: boolean;
}
