/** What repair remembers about one pool: attempts under way, and what its passes must know of each other. Types only. */
import type { DurationMs, EpochMs } from '../../../shared/domain/time.ts';
import type { RepairIncident } from '../incident.ts';

/** One rung of the ladder as it is carried out; `DrainThenTerminate` of the block is the two rungs `Drain` and `Terminate`. */
export type RungType = 'Reboot' | 'Drain' | 'CustomResource' | 'Terminate';

/** An action of the ladder with its time. */
export interface Rung {
  readonly type: RungType;
  readonly timeout: DurationMs;
  readonly template?: string | undefined;
}

/**
 * One act on one node. `intended` is written before the first call; `accepted` after the act was taken; `refused` when it certainly was
 * not, and is tried again as an attempt of its own; `observed` stands for an act that mode `Observe` leaves out. An intended attempt
 * whose run ended is resolved by looking, never by repeating (I4). It stays until the Node is gone or well again, and counts against
 * the pool's budget until then.
 */
export interface RepairAttempt {
  /** Counts the attempts at this node, from 1. */
  readonly number: number;
  readonly phase: 'intended' | 'refused' | 'accepted' | 'observed';
  readonly intendedTime: EpochMs;
  readonly node: { readonly name: string; readonly uid: string };
  /** Absent for a node that Karpenter does not manage. */
  readonly claim?: { readonly name: string; readonly uid: string } | undefined;
  readonly incident: RepairIncident;
  /** Place on the ladder `repair.actions`, from 0. */
  readonly rung: number;
  readonly action: RungType;
  /** An act before it was carried out and did not help: whatever condition the node has by now, this is still the same repair. */
  readonly escalates?: true | undefined;
  /** `observed`: the last act of this repair that mode `Observe` did not leave out; in mode `Enforce` the ladder goes on after it. */
  readonly carriedOut?: CarriedOut | undefined;
  /** When the next rung follows if the node is still unhealthy; undefined for a termination. */
  readonly until?: EpochMs | undefined;
  /** `refused`: when it is tried again; `intended`: when EC2, which refused to say what came of it, is asked again. */
  readonly retryTime?: EpochMs | undefined;
  /** How the act itself ended, before `until`. */
  readonly answer?: RungAnswer | undefined;
  /** Nothing was done: it was impossible, or refused until its time was over. */
  readonly notTaken?: true | undefined;
  /** Since when the node is well, although the act has not shown yet. */
  readonly wellTime?: EpochMs | undefined;
  /** `Terminate`: the annotation's value that this attempt sets, so that it is known as ours (I7). */
  readonly terminationTimestamp?: string | undefined;
  /** What somebody else had set there before; given back when the attempt is called off. */
  readonly previousTimestamp?: string | undefined;
  /** `Reboot`: the machine's boot ID before. */
  readonly bootID?: string | undefined;
  /** `Drain`, `CustomResource`: what the request is known by, the same for each try; `Terminate`: the drain before it. */
  readonly requestId?: string | undefined;
  /** Custom resources that this repair has made, to be deleted at its end. */
  readonly resources?: readonly MadeResource[] | undefined;
  /** Those that a run set out to make, written before: one that ended in between leaves them to be found (I7). */
  readonly mayHaveMade?: readonly ResourceName[] | undefined;
}

/** Which act of the ladder was carried out. */
export interface CarriedOut {
  readonly rung: number;
  readonly action: RungType;
}

/** `succeeded`: the drain is over. `failed`: it cannot help any more. `stopped`: a person took it back, and nothing follows. */
export interface RungAnswer {
  readonly kind: 'succeeded' | 'failed' | 'stopped';
  readonly message: string;
}

export interface ResourceName {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface MadeResource extends ResourceName {
  readonly uid: string;
}

/** How fast repairs begin again after an outage: 1, 2, 4 … a minute. */
export interface Ramp {
  /** This step allows 2 to the power of `step` repairs. */
  readonly step: number;
  /** When the step's first repair began. */
  readonly stepTime: EpochMs;
  /** Repairs begun in this step. */
  readonly granted: number;
}

export interface PoolState {
  /** When the latest pass began. */
  readonly passTime: EpochMs;
  /** It has not ended yet. Passes of a pool never overlap: one that looks for long would be overtaken again and again. */
  readonly underWay?: true | undefined;
  /** Something changed since it began: another pass follows it. */
  readonly wanted?: true | undefined;
  /** The same after a change that can wait, for the pool was calm. */
  readonly changed?: true | undefined;
  /**
   * By the latest pass terminations alone are under way, nothing is held, and no limit counts them with those of other pools: nothing
   * follows from a change of their Nodes and NodeClaims but that their end is noted, and the next look can wait.
   */
  readonly calm?: true | undefined;
  readonly attempts: readonly RepairAttempt[];
  /** Outages by which the latest pass held a due repair: `cluster`, or `zone/<name>`. */
  readonly outages: readonly string[];
  readonly ramp?: Ramp | undefined;
  /** Repairs within the window of `futility`: condition, and when. */
  readonly repairs: readonly { readonly condition: string; readonly time: EpochMs }[];
  /** What could not be taken back of repairs that are over. */
  readonly left?: readonly Leftover[] | undefined;
  readonly said: Said;
}

/** What an attempt left, and the API server does not let us take back, as admission policies can want it. */
export interface Leftover {
  /** Its resources are all that it made. */
  readonly attempt: RepairAttempt;
  /** Why not, as it was said. */
  readonly message: string;
  readonly retryTime: EpochMs;
}

/** What was said about which node, in short: one letter by a hash of its UID. */
export interface Said {
  /** When the Events of what was said are recorded once more. */
  readonly againTime: EpochMs;
  readonly nodes: Readonly<Record<string, string>>;
}
