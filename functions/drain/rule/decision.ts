/** Decisions about the drains of a node. */
import type { EpochMs } from '../../../shared/domain/time.ts';
import type { AwaitedResource, CustomDrainDecision } from './custom-drain.ts';
import type { PodPlan } from './pod-plan.ts';
import type { ActiveDrain, DrainRecord, EndingPhase, Cordon } from '../record.ts';
import type { DrainOutcome, DrainRequest, DrainStatus, FinishedDrain } from '../request-record.ts';
import type { DrainConditionState } from './observation.ts';

/** The decision about a request. */
export type RequestDecision =
  /** Its end is known: it was answered before, or needs no drain. */
  | {
      readonly kind: 'answer';
      readonly record: DrainRecord;
      readonly answer: FinishedDrain;
      /** `repeated`: it ended before, and is answered again; `tooOld`: it is older than `maxEventAge`. */
      readonly novelty: 'new' | 'repeated' | 'tooOld';
    }
  | {
      readonly kind: 'take';
      readonly record: DrainRecord;
      readonly request: DrainRequest;
      readonly position: 'next' | 'joins' | 'follows';
      /** Ends of requests that this one replaces. */
      readonly replacedEnds: readonly FinishedDrain[];
    };

/** The end of requests by a message, or with the quarantine of the node. */
export interface Cancellation {
  readonly record: DrainRecord;
  readonly because: string;
  /** Ends of requests without a drain of their own. */
  readonly answers: readonly FinishedDrain[];
  /** Nothing keeps the node cordoned any more: our cordon and our state come off. */
  readonly releasesNode: boolean;
  /** The message itself is answered after that. */
  readonly answersMessage: boolean;
}

/** The end of a drain, as its requests, the Node and the record get it. */
export interface EndPlan {
  /** The end of each request of the drain. */
  readonly ended: readonly FinishedDrain[];
  /** Outcome that the state label tells: `Cancelled` for a node that is open again. */
  readonly status: DrainStatus;
  /** State that the Node's conditions show. */
  readonly shown: DrainConditionState;
  readonly uncordon: boolean;
  /** The record that follows. */
  readonly record: DrainRecord;
  /** Record that follows if the deletion of the custom resource is refused; undefined: the end waits for it, or there is none. */
  readonly recordIfResourceStays: DrainRecord | undefined;
}

/**
 * `UnreadablePolicy`: a policy that may select the pool cannot be read, and may say `Observe`. `UnreadableQuarantine`: nobody can say
 * whether an earlier drain covers what is asked for. `RecoveryDeferred`: the faults that it is for are over, if that lasts.
 */
export type PauseReason =
  | 'NoConfiguration'
  | 'ObserveMode'
  | 'KindNotServed'
  | 'UnreadablePolicy'
  | 'UnreadableLimits'
  | 'UnreadableQuarantine'
  | 'RecoveryDeferred';

export type DrainDecision =
  /** Nothing is under way. `until`: earlier drains are remembered that long; undefined: nothing is. */
  | { readonly kind: 'idle'; readonly record: DrainRecord; readonly until: EpochMs | undefined }
  /** A run that was overtaken left marks of an ended drain on the Node: they are taken off (I7). */
  | { readonly kind: 'tidy'; readonly status: DrainStatus; readonly uncordon: boolean }
  /** The Node's conditions about a drain are not true any more: those of the last end stand in their place, if it still holds. */
  | { readonly kind: 'correctConditions'; readonly shown: 'drained' | 'nothing'; readonly message: string }
  /** Somebody has uncordoned the node after its drain: the next cordon is not ours (I7). */
  | { readonly kind: 'disownCordon' }
  /** Custom resources of ended drains are left. */
  | { readonly kind: 'deleteLeft' }
  | RequestDecision
  /** The fault comes and goes: its recovery ends nothing yet. */
  | { readonly kind: 'deferRecovery'; readonly record: DrainRecord; readonly message: string }
  /** Requests, or the drain under way, are called off. */
  | ({ readonly kind: 'cancel' } & Cancellation)
  /** Something has to be mended, or a policy says `Observe`. */
  | { readonly kind: 'pause'; readonly reason: PauseReason; readonly message: string }
  /** Only the record changes: a fault is over for which nothing was asked, or the drain under way is no longer paused. */
  | { readonly kind: 'note'; readonly record: DrainRecord }
  | {
      readonly kind: 'begin';
      readonly record: DrainRecord;
      readonly active: ActiveDrain;
      /** The request in the message in hand, if it begins with this drain. */
      readonly takenRequest: DrainRequest | undefined;
      /** The preparation that follows at once, by the same look; undefined: the drain waits in the queue, or is prepared already. */
      readonly next: Preparation | undefined;
    }
  | Preparation
  /** The drain leaves the queue; its time-outs count from now. */
  | { readonly kind: 'start'; readonly record: DrainRecord; readonly active: ActiveDrain }
  /** Other nodes of the pool are drained first. */
  | { readonly kind: 'queue'; readonly active: ActiveDrain; readonly message: string; readonly until: EpochMs }
  | {
      readonly kind: 'drain';
      readonly active: ActiveDrain;
      readonly plan: PodPlan;
      /** Nothing has moved for hours. */
      readonly isStuck: boolean;
      /** The next instant at which the deadline, or the report of a stuck drain, changes this. */
      readonly until: EpochMs | undefined;
    }
  | Exclude<CustomDrainDecision, AwaitedResource>
  /** @property isStuck nothing has moved for hours */
  | (AwaitedResource & { readonly isStuck: boolean })
  | {
      readonly kind: 'finish';
      readonly active: ActiveDrain;
      readonly outcome: DrainOutcome;
      /** The plan for pods that are not waited for, but still deleted or evicted. */
      readonly plan: PodPlan | undefined;
    }
  /** The end was decided before: the Node, the custom resource and all who asked learn of it. */
  | { readonly kind: 'close'; readonly active: ActiveDrain; readonly ending: EndingPhase; readonly plan: EndPlan };

export type DecisionOf<Kind extends DrainDecision['kind']> = Extract<DrainDecision, { kind: Kind }>;

/** The node is not as the drain needs it: cordoned, its pods watched, its state shown. */
export interface Preparation {
  readonly kind: 'prepare';
  readonly active: ActiveDrain;
  readonly cordon: Cordon;
  readonly showDraining: boolean;
  /** The plan for the pods, which follows; undefined: the custom drain follows. */
  readonly plan: PodPlan | undefined;
}
