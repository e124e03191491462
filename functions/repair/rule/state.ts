/** What is remembered of a pool and of its nodes, without how it is stored (`record.ts`). Types, and how they begin. */
import type { Refusals } from '../../../shared/domain/refusal.ts';
import type { EpochMs } from '../../../shared/domain/time.ts';

interface Named {
  readonly name: string;
  readonly uid: string;
}

/** The entry that decides: the unhealthy condition that is due first. */
export interface RepairIncident {
  readonly conditionType: string;
  readonly conditionStatus: string;
  readonly lastTransitionTime: EpochMs;
  /** From when on the node may be repaired. */
  readonly dueTime: EpochMs;
  /** Where the toleration stands; absent: the provider's default. */
  readonly field?: string | undefined;
  /** Of the entry; absent: 0. */
  readonly priority?: number | undefined;
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

/** One act; `DrainThenTerminate` of the block is two, `Drain` and `Terminate`. */
export type RungType = 'Reboot' | 'Drain' | 'CustomResource' | 'Replace' | 'Terminate';

/** A NodeClaim that was made to take the place of an ill node. */
export interface Replacement {
  readonly name: string;
  /** Known once it was made. */
  readonly uid?: string | undefined;
  /** Its Node. */
  readonly node?: string | undefined;
  /** When its taint was first seen to be off. */
  readonly releasedTime?: EpochMs | undefined;
}

/** How an act itself ended, before its time was over. `stopped`: a person took it back, and nothing follows. */
export interface RungAnswer {
  readonly kind: 'succeeded' | 'failed' | 'stopped';
  readonly message: string;
}

/** A drain that a repair may have asked for, by its request. */
export interface EndedDrain {
  readonly requestId: string;
  readonly answer: RungAnswer;
}

export interface Attempt {
  /** Counts the attempts at this node, from 1. */
  readonly number: number;
  /**
   * `intended` is written before the first call, `accepted` after the act was taken. An intended attempt whose run ended is resolved by
   * looking, never by repeating (I4).
   */
  readonly phase: 'intended' | 'accepted';
  readonly time: EpochMs;
  /** Absent for a node that Karpenter does not manage. */
  readonly claim?: Named | undefined;
  readonly incident: RepairIncident;
  readonly action: RungType;
  /** Type, template and timeout: what makes it the same action (`ladder.ts`). */
  readonly key: string;
  /** When the next action may follow; of a termination, when it is stuck. */
  readonly until: EpochMs;
  /** When EC2, which refused to say what came of it, is asked again. */
  readonly askTime?: EpochMs | undefined;
  readonly answer?: RungAnswer | undefined;
  /** `Terminate`: the annotation's value that this attempt sets, so that it is known as ours (I7). */
  readonly terminationTimestamp?: string | undefined;
  /** What somebody else had set there before; given back when the attempt is called off. */
  readonly previousTimestamp?: string | undefined;
  /** `Terminate`: when what is left of the pods goes; absent: when they are gone, or at once where a timestamp was set. */
  readonly podsUntil?: EpochMs | undefined;
  /** `Reboot`: the machine's boot ID before. */
  readonly bootID?: string | undefined;
  /** `Drain`, `CustomResource`: what the request is known by, the same for each try. */
  readonly requestId?: string | undefined;
  /** `Replace`: what it launches. `Terminate`: what takes the place of the node, opened before. */
  readonly replacement?: Replacement | undefined;
}

/** An act that was taken. */
export interface Act {
  readonly key: string;
  readonly action: RungType;
  readonly time: EpochMs;
  readonly bootID?: string | undefined;
}

/** A time in which the node was unhealthy; one without an end goes on. */
export interface Episode {
  readonly startTime: EpochMs;
  readonly endTime?: EpochMs | undefined;
  /** The conditions that it began with. */
  readonly began?: readonly { readonly type: string; readonly status: string }[] | undefined;
}

/** What this repair has made or set, to be taken back at its end (I7). */
export interface Ours {
  /** A drain that was asked for, by its request. */
  readonly drain?: string | undefined;
  readonly resources?: readonly MadeResource[] | undefined;
  /** Those that a run set out to make, written before: one that ended in between leaves them to be found (I7). */
  readonly mayHaveMade?: readonly ResourceName[] | undefined;
  /** The cordon and the condition of a reboot. */
  readonly maintenance?: true | undefined;
  /** `ReplaceThenTerminate`: recorded before it is made. */
  readonly replacement?: Replacement | undefined;
  /** Of a termination that was called off: its annotation. */
  readonly annotation?:
    { readonly claim: Named; readonly set: string; readonly previous?: string | undefined } | undefined;
}

/** It goes on until no rule has been ill for a while (`illness.ts`). */
export interface Illness {
  /** Of the entry that decided last. */
  readonly type: string;
  /** Actions that were accepted, by their keys. */
  readonly taken: readonly string[];
  /** Replacements that did not become ready: not taken, and passed over where something follows. */
  readonly passed?: readonly string[] | undefined;
  /** Since when no rule has been ill. */
  readonly wellTime?: EpochMs | undefined;
  /** How long others that had just come back held it. */
  readonly settling?: { readonly totalMs: number; readonly since?: EpochMs | undefined } | undefined;
}

export interface Clock {
  /** When it began to hold. */
  readonly start: EpochMs;
  /** The transition time that its condition stated then, or last. */
  readonly stated?: EpochMs | undefined;
  /** The start that counts again, once a change event says that only the time has moved. */
  readonly first?: EpochMs | undefined;
}

export interface NodeRecord {
  readonly name: string;
  readonly pool?: string | undefined;
  /** Of each statement that holds, by its key. */
  readonly clocks: Readonly<Record<string, Clock>>;
  readonly illness?: Illness | undefined;
  /** Of the illness before: its condition type, and the action that was taken last. */
  readonly before?: { readonly type: string; readonly key?: string | undefined; readonly time: EpochMs } | undefined;
  /** Taken in the last day, or for as long as an allowance counts them. */
  readonly acts: readonly Act[];
  readonly number: number;
  /** Replacements that were asked for, for their names. */
  readonly launched?: number | undefined;
  readonly attempt?: Attempt | undefined;
  readonly refusals?: Refusals | undefined;
  readonly ours?: Ours | undefined;
  readonly episodes: readonly Episode[];
  /** When somebody else was first seen at work on it. */
  readonly others?: { readonly what: string; readonly time: EpochMs } | undefined;
  /** What was said of it last, and when; and when each thing was that was said in the last hour. */
  readonly said?:
    { readonly code: string; readonly time: EpochMs; readonly times: Readonly<Record<string, EpochMs>> } | undefined;
}

/** How fast repairs begin again after a hold: 1, 2, 4 … a minute. `granted` 0: its first minute has yet to begin. */
export interface Ramp {
  readonly step: number;
  readonly stepTime: EpochMs;
  readonly granted: number;
}

/** A termination that was accepted. */
export interface Termination {
  readonly condition: string;
  readonly time: EpochMs;
  readonly node?: string | undefined;
  /** A replacement stood there before. */
  readonly isReplaced?: true | undefined;
}

/** A pool whose launch failed launches nothing for a while: 5 minutes, twice as long after each failure, an hour at most. */
export interface LaunchPause {
  readonly failures: number;
  readonly until: EpochMs;
}

export interface PoolRecord {
  /** By UID: since when. 48 bytes each. */
  readonly inFlight: Readonly<Record<string, EpochMs>>;
  /** Of repairs that hold nobody and are not over: stuck ones, and those whose Nodes are gone. */
  readonly followed: readonly string[];
  /** Guards that held a due repair in the last pass that looked: `cluster`, `zone/<name>`, `threshold`. */
  readonly held: readonly string[];
  readonly ramp?: Ramp | undefined;
  /** After a replacement that did not become ready. */
  readonly launchPause?: LaunchPause | undefined;
  /** Of the last day, or the window of `futility`. */
  readonly terminations: readonly Termination[];
  /** How its repairs stand, for the status of policies. */
  readonly counts: { readonly held: number; readonly repairing: number };
  /** When it was said last how many nodes were not replaced. */
  readonly missingTime?: EpochMs | undefined;
  /** Attempts that an earlier version kept here; each goes into the record of its node. */
  readonly carried?: readonly CarriedAttempt[] | undefined;
}

export const NEW_POOL: PoolRecord = {
  inFlight: {},
  followed: [],
  held: [],
  terminations: [],
  counts: { held: 0, repairing: 0 },
};

/** An attempt as it stood in the record of its pool. */
export interface CarriedAttempt {
  readonly number: number;
  readonly phase: 'intended' | 'refused' | 'accepted' | 'observed';
  readonly intendedTime: EpochMs;
  readonly node: Named;
  readonly claim?: Named | undefined;
  readonly incident: Omit<RepairIncident, 'field'>;
  readonly rung: number;
  readonly action: RungType;
  readonly carriedOut?: { readonly rung: number; readonly action: RungType } | undefined;
  readonly until?: EpochMs | undefined;
  readonly answer?: RungAnswer | undefined;
  readonly notTaken?: true | undefined;
  readonly terminationTimestamp?: string | undefined;
  readonly previousTimestamp?: string | undefined;
  readonly bootID?: string | undefined;
  readonly requestId?: string | undefined;
  readonly resources?: readonly MadeResource[] | undefined;
  readonly mayHaveMade?: readonly ResourceName[] | undefined;
  /** The repair is over, and this could not be taken back. */
  readonly isLeft?: true | undefined;
}
