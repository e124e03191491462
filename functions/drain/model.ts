/** What a node's drains are made of: requests, the drain under way, and how earlier ones ended. Plain data, without rules. */
import type { HealthEvent, QuarantineStatus } from '../../shared/domain/health-event.ts';
import type { Refusals } from '../../shared/domain/refusal.ts';
import { seconds, type DurationMs, type EpochMs } from '../../shared/domain/time.ts';
import type { DrainScope } from './pods.ts';

/** By at most so much, for two clocks that write whole seconds. */
export const CLOCKS_DIFFER = seconds(5);

/** Somebody asks for a drain of the node. */
export interface DrainRequest {
  /** Unique: a request with the same id is the same request. */
  readonly id: string;
  /** `source` of the bus event. */
  readonly requestedBy: string;
  /** For templates, scope and overrides; of a `DrainRequested` the same in that shape. */
  readonly event: HealthEvent;
  readonly quarantine: QuarantineStatus | undefined;
  /** All pods go at once, whatever configuration and limits say. */
  readonly allPods?: boolean;
  /** `DeleteAfterTimeout` counts from there: when NVSentinel stored it, else when it was put on the bus, else when it arrived. Absent in records of before. */
  readonly time?: EpochMs;
  readonly said?: Said;
}

/** When something was said, by each clock that states it. */
export interface Said {
  /** By the monitor: `generatedTimestamp`. */
  readonly generatedTime?: EpochMs;
  /** When NVSentinel stored it: `createdAt`. */
  readonly createdTime?: EpochMs;
  /** When NVSentinel's exporter made the CloudEvent of it. */
  readonly exportedTime?: EpochMs;
  /** When it was put on the bus. */
  readonly sentTime?: EpochMs;
}

/** What a bus event means to the drains of its node. */
export type Incoming =
  /** `receivedTime`: first receipt, by which its age is judged; undefined: it has none. */
  | {
      readonly kind: 'drain';
      readonly request: DrainRequest;
      readonly receivedTime?: EpochMs | undefined;
      /** A `DrainRequested`: who sent it waits for the answer. */
      readonly isRequest?: true;
    }
  /** A monitor reports that a fault is over; nobody says that a quarantine is. */
  | {
      readonly kind: 'recovered';
      readonly event: HealthEvent;
      readonly said?: Said | undefined;
      /** Somebody waits for the answer to it. */
      readonly asked?: DrainRequest;
    }
  /** The quarantine of the whole node is over. */
  | { readonly kind: 'unQuarantined'; readonly id: string; readonly said?: Said | undefined }
  /** A person took back the quarantine of this one event. */
  | { readonly kind: 'cancelled'; readonly id: string }
  /** A person took back the request on the Node. */
  | { readonly kind: 'withdrawn'; readonly id: string };

/** NVSentinel's words. */
export type DrainStatus = 'Succeeded' | 'Failed' | 'Cancelled' | 'AlreadyDrained';

export interface DrainOutcome {
  readonly status: DrainStatus;
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
  /** Pods that should have gone and were not waited for, as `namespace/name (why)`. */
  readonly left: readonly string[];
}

/** What keeps new pods away while a drain is under way; when that is taken back, the drain is cancelled. */
export interface Hold {
  /** The node carried NVSentinel's quarantine annotation. */
  readonly quarantined: boolean;
  readonly cordon: 'own' | 'other' | 'none';
}

/** How a custom drain stands. */
export interface CustomProgress {
  readonly name: string;
  readonly namespace: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  /** UID of the custom resource; undefined until it was created or adopted. */
  readonly uid?: string;
  readonly createdTime: EpochMs;
  /** Times that it was created again because somebody had removed it. */
  readonly recreated: number;
  /** Its resourceVersion when it was last seen, and since when it has had it. */
  readonly seen?: { readonly resourceVersion: string; readonly since: EpochMs };
}

/** How often the pods of one controller, or of one name, came back and were evicted for it. */
export interface Return {
  /** UID of the controller, else `namespace/name`. */
  readonly of: string;
  readonly times: number;
  /** When they were evicted last. */
  readonly time: EpochMs;
}

/** The drain under way. */
export interface ActiveDrain {
  readonly id: string;
  /** All that this drain answers. */
  readonly requests: readonly DrainRequest[];
  readonly scope: DrainScope;
  readonly startTime: EpochMs;
  readonly force: boolean;
  readonly hold?: Hold;
  /** Of the Node when the drain prepared it: an event of this version says nothing new. */
  readonly nodeVersion?: string;
  /** UIDs of pods that are still there, and whose owners were warned of the deletion. */
  readonly warned: readonly string[];
  /** When pods are deleted, by the last look: nobody was warned of a later instant. Absent in records of before. */
  readonly deleteTime?: EpochMs;
  /**
   * UIDs of pods that this drain has set out to evict or delete, and that are still there: noted before, so that no run that is overtaken
   * goes uncounted.
   */
  readonly tried?: readonly string[];
  /** How many pods it had set out to evict or delete, and are not there any more. */
  readonly gone?: number;
  /** Those, and the ones that are about to go. */
  readonly drained: number;
  /** Passes in a row in which an eviction was not granted, or a pod had changed. */
  readonly refusals: number;
  /** Evictions that are not asked for again for a moment, by UID of the pod. */
  readonly heldEvictions?: Readonly<Record<string, { readonly message: string; readonly until: EpochMs }>>;
  /** What was said last. */
  readonly reported?: string;
  readonly custom?: CustomProgress;
  /** It waits until fewer nodes of its pool are drained; absent: it has begun, and never had to wait. */
  readonly queue?: { readonly since: EpochMs; /** Its Node is marked as taking a place. */ readonly takes: boolean };
  /** How long it was held since it began, or since it waits: the deadline stood still. */
  readonly pausedFor?: DurationMs;
  /** The fewest pods that were left, and since when; when it was said last that nothing moves. */
  readonly progress?: { readonly pods: number; readonly time: EpochMs; readonly saidTime?: EpochMs };
  /** Pods that came back onto the node. */
  readonly returns?: readonly Return[];
  /** Why the custom drain was given up for the fallback mode. */
  readonly fellBack?: string;
  /** Decided, and about to be reported. */
  readonly end?: DrainOutcome & { readonly time: EpochMs };
  /** Ids of requests of which somebody said after that that what they were for is over. */
  readonly over?: readonly string[];
}

/** How one request ended. */
export interface FinishedDrain extends DrainOutcome {
  readonly id: string;
  readonly scope: DrainScope;
  readonly drained: number;
  readonly startTime: EpochMs;
  readonly endTime: EpochMs;
  /** Which fault the request was about. */
  readonly fault: Fault;
  /** That fault is over. */
  readonly recovered: boolean;
  readonly said?: Said;
}

/** A fault as monitors identify it: a recovery names the same. */
export interface Fault {
  readonly agent: string;
  readonly componentClass: string;
  readonly checkName: string;
  /** `type/value`; empty: the whole check. */
  readonly entities: readonly string[];
  /** Error codes; empty: all of the check. Absent in records of before: any. */
  readonly codes?: readonly string[];
}

/** The latest end of a quarantine: of events that were said before it, and come later, none is drained for. */
export interface QuarantineEnd {
  readonly said: Said;
  /** When it arrived. */
  readonly time: EpochMs;
}

/** A word that a fault, or some of its entities, are over: events about it that were said before, and come later, drain nothing. */
export interface Recovery {
  readonly fault: Fault;
  readonly said: Said;
  /** When it arrived. */
  readonly time: EpochMs;
}

/** A request that ended, of which nothing is left but that it did. */
export interface AnsweredRequest {
  readonly id: string;
  readonly status: DrainStatus;
  readonly endTime: EpochMs;
}

export interface DrainRecord {
  readonly active?: ActiveDrain;
  /** Wait for the active drain to end, or for a configuration. */
  readonly requests: readonly DrainRequest[];
  /** Newest last. */
  readonly finished: readonly FinishedDrain[];
  /** Those that ended before the ones in `finished`, newest last. Absent in records of before. */
  readonly answered?: readonly AnsweredRequest[];
  /** Of what is held: what was said last. */
  readonly reported?: string;
  /** Since when drains are held: their time-outs stand still. */
  readonly heldSince?: EpochMs;
  readonly quarantineEnd?: QuarantineEnd;
  readonly recoveries?: readonly Recovery[];
  /** Changes of Node, custom resource and pods that are refused. */
  readonly refusals?: Refusals;
  /** When a Warning on the Node said last that an event is too old. */
  readonly staleSaid?: EpochMs;
}

export const NO_DRAINS: DrainRecord = { requests: [], finished: [] };
