/** What a pass sees of the cluster, and what it decides. Types only. */
import type { NodeClaimView } from '../../../shared/domain/node-claim.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { RepairRules } from '../decide.ts';
import type { Episode } from '../incident.ts';
import type { Awaited, ConcurrentRepairs } from '../limits/concurrent.ts';
import type { PoolState, RepairAttempt } from './pool.ts';
import type { Verdict } from './verdict.ts';

export interface PassObservation {
  readonly now: EpochMs;
  /** undefined: the nodes without a NodePool. */
  readonly pool: string | undefined;
  readonly rules: RepairRules;
  /** All nodes of the cluster. */
  readonly nodes: readonly NodeView[];
  /** All NodeClaims of the cluster. */
  readonly claims: readonly NodeClaimView[];
  /** Remembered unhealthy times by the node's UID; empty unless `flapping` is set. */
  readonly episodes: ReadonlyMap<string, readonly Episode[]>;
  readonly state: PoolState;
  /** The repairs of all pools, where some policy limits them. */
  readonly concurrent?: ConcurrentRepairs | undefined;
}

export interface PassDecision {
  readonly verdicts: readonly Verdict[];
  /** Attempts of which something is to be taken back: they were not carried out and are not wanted any more, or are over. */
  readonly withdrawals: readonly RepairAttempt[];
  /** Attempts of which nobody has said yet that they took place, and nothing is left to look at. */
  readonly lost: readonly RepairAttempt[];
  /** The same where a look shows that they took place, or nothing can show that they did not. */
  readonly found: readonly RepairAttempt[];
  /** What is remembered if everything granted is carried out; `said` is left as it was. */
  readonly state: PoolState;
  /** When the next pass is needed; undefined: not at all, nothing is due or under way. */
  readonly wakeTime: EpochMs | undefined;
  /** What was under way before anything was granted. */
  readonly underWay: readonly RepairAttempt[];
  /** What is full that due nodes wait for. */
  readonly awaited: Awaited;
}
