/**
 * What is remembered of the drains of one node: the requests, the drain under way, and how earlier ones ended. The schema is the type; how a
 * record is stored is in `codec.ts`. Version 1 knew nothing of the end of a quarantine, version 2 nothing of drains that wait for their turn,
 * version 3 nothing of error codes, and of ends the last hundred alone.
 */
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import type { HealthEvent } from '../../shared/domain/health-event.ts';
import { toDurationMs, type EpochMs } from '../../shared/domain/time.ts';
import { refusalsSchema } from '../../shared/lifecycle/refusals.ts';
import { heldEvictionsSchema } from '../../shared/pods/drain-pods.ts';
import type { DrainScope } from './pods.ts';

const duration = z.pipe(
  z.number(),
  z.transform((ms: number) => toDurationMs(ms)),
);
/** What is undefined is stored as null. */
const orUndefined = <Schema extends z.ZodMiniType>(schema: Schema) =>
  z.pipe(
    z.nullable(schema),
    z.transform((value: z.output<Schema> | null) => value ?? undefined),
  );
const list = <Schema extends z.ZodMiniType>(schema: Schema) => z.readonly(z.array(schema));

const overrides = z.object({ force: z.boolean(), skip: z.boolean() });
const event: z.ZodMiniType<HealthEvent> = z.object({
  id: z.string(),
  nodeName: z.string(),
  version: z.number(),
  agent: z.string(),
  componentClass: z.string(),
  checkName: z.string(),
  isFatal: z.boolean(),
  isHealthy: z.boolean(),
  message: z.string(),
  recommendedAction: z.number(),
  recommendedActionName: z.exactOptional(z.string()),
  customRecommendedAction: z.string(),
  errorCode: z.array(z.string()),
  entitiesImpacted: z.array(z.object({ entityType: z.string(), entityValue: z.string() })),
  metadata: z.record(z.string(), z.string()),
  generatedTimestamp: orUndefined(z.object({ seconds: z.number(), nanos: z.number() })),
  quarantineOverrides: orUndefined(overrides),
  drainOverrides: orUndefined(overrides),
  processingStrategy: z.number(),
});

const said = z.object({
  /** When the monitor made it: `generatedTimestamp`. */
  generatedTime: z.exactOptional(instant),
  /** When NVSentinel stored it: `createdAt`. */
  createdTime: z.exactOptional(instant),
  /** When NVSentinel's exporter made the CloudEvent of it. */
  exportedTime: z.exactOptional(instant),
  /** When it was put on the bus. */
  sentTime: z.exactOptional(instant),
});
/** When something was said, by each clock that states it. */
export type Said = Readonly<z.output<typeof said>>;

const request = z.object({
  /** Unique: a request with the same id is the same request. */
  id: z.string(),
  /** `source` of the bus event. */
  requestedBy: z.string(),
  /** For templates, scope and overrides; of a `DrainRequested` the same in that shape. */
  event,
  /** A `QuarantineStatus`. */
  quarantine: orUndefined(z.string()),
  /** All pods go at once, whatever configuration and limits say. */
  allPods: z.exactOptional(z.boolean()),
  /** `DeleteAfterTimeout` counts from there: when NVSentinel stored it, else when it was put on the bus, else when it arrived. Absent in records of before. */
  time: z.exactOptional(instant),
  said: z.exactOptional(said),
});
/** Somebody asks for a drain of the node. */
export type DrainRequest = Readonly<z.output<typeof request>>;

const scope: z.ZodMiniType<DrainScope> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('full') }),
  z.object({ kind: z.literal('entities'), entities: z.array(z.string()) }),
]);

const status = z.enum(['Succeeded', 'Failed', 'Cancelled', 'AlreadyDrained']);
/** NVSentinel's words. */
export type DrainStatus = z.output<typeof status>;

const outcome = z.object({
  status,
  /** One CamelCase word. */
  reason: z.string(),
  message: z.string(),
  /** Pods that should have gone and were not waited for, as `namespace/name (why)`. */
  left: list(z.string()),
});
export type DrainOutcome = Readonly<z.output<typeof outcome>>;

const hold = z.object({
  /** The node carried NVSentinel's quarantine annotation. */
  quarantined: z.boolean(),
  cordon: z.enum(['own', 'other', 'none']),
});
/** What keeps new pods away while a drain is under way; when that is taken back, the drain is cancelled. */
export type Hold = Readonly<z.output<typeof hold>>;

const custom = z.object({
  name: z.string(),
  namespace: z.string(),
  group: z.string(),
  version: z.string(),
  kind: z.string(),
  resource: z.string(),
  /** UID of the custom resource; undefined until it was created or adopted. */
  uid: z.exactOptional(z.string()),
  createdTime: instant,
  /** Times that it was created again because somebody had removed it. */
  recreated: z.number(),
  /** Its resourceVersion when it was last seen, and since when it has had it. */
  seen: z.exactOptional(z.object({ resourceVersion: z.string(), since: instant })),
});
/** How a custom drain stands. */
export type CustomProgress = Readonly<z.output<typeof custom>>;

const comeBack = z.object({
  /** UID of the controller, else `namespace/name`. */
  of: z.string(),
  times: z.number(),
  /** When they were evicted last. */
  time: instant,
});
/** How often the pods of one controller, or of one name, came back and were evicted for it. */
export type Return = Readonly<z.output<typeof comeBack>>;

const active = z.object({
  id: z.string(),
  /** All that this drain answers. */
  requests: list(request),
  scope,
  startTime: instant,
  force: z.boolean(),
  hold: z.exactOptional(hold),
  /** The Node's resourceVersion when the drain prepared it: an event of this version says nothing new. */
  nodeVersion: z.exactOptional(z.string()),
  /** UIDs of pods that are still there, and whose owners were warned of the deletion. */
  warned: list(z.string()),
  /** When pods are deleted, by the last look: nobody was warned of a later instant. Absent in records of before. */
  deleteTime: z.exactOptional(instant),
  /**
   * UIDs of pods that this drain has set out to evict or delete, and that are still there: noted before, so that no run that is overtaken
   * goes uncounted.
   */
  tried: z.exactOptional(list(z.string())),
  /** How many pods it had set out to evict or delete, and are not there any more. */
  gone: z.exactOptional(z.number()),
  /** Those, and the ones that are about to go. */
  drained: z.number(),
  /** Passes in a row in which an eviction was not granted, or a pod had changed. */
  refusals: z.number(),
  /** Evictions that are not asked for again for a moment, by UID of the pod. */
  heldEvictions: z.exactOptional(z.readonly(heldEvictionsSchema)),
  /** What was said last. */
  reported: z.exactOptional(z.string()),
  custom: z.exactOptional(custom),
  /** It waits until fewer nodes of its pool are drained; absent: it has begun, and never had to wait. `takes`: its Node is marked as taking a place. */
  queue: z.exactOptional(z.object({ since: instant, takes: z.boolean() })),
  /** How long it was held since it began, or since it waits: the deadline stood still. */
  pausedFor: z.exactOptional(duration),
  /** The fewest pods that were left, and since when; when it was said last that nothing moves. */
  progress: z.exactOptional(z.object({ pods: z.number(), time: instant, saidTime: z.exactOptional(instant) })),
  /** Pods that came back onto the node. */
  returns: z.exactOptional(list(comeBack)),
  /** Why the custom drain was given up for the fallback mode. */
  fellBack: z.exactOptional(z.string()),
  /** Decided, and about to be reported. */
  end: z.exactOptional(z.extend(outcome, { time: instant })),
  /** Ids of requests of which somebody said after that that what they were for is over. */
  over: z.exactOptional(list(z.string())),
});
/** The drain under way. */
export type ActiveDrain = Readonly<z.output<typeof active>>;

const fault = z.object({
  agent: z.string(),
  componentClass: z.string(),
  checkName: z.string(),
  /** `type/value`; empty: the whole check. */
  entities: list(z.string()),
  /** Error codes; empty: all of the check. Absent in records of before: any. */
  codes: z.exactOptional(list(z.string())),
});
/** A fault as monitors identify it: a recovery names the same. */
export type Fault = Readonly<z.output<typeof fault>>;

const finished = z.extend(outcome, {
  id: z.string(),
  scope,
  drained: z.number(),
  startTime: instant,
  endTime: instant,
  /** Which fault the request was about. */
  fault,
  /** The fault is over. */
  recovered: z.boolean(),
  said: z.exactOptional(said),
});
/** How one request ended. */
export type FinishedDrain = Readonly<z.output<typeof finished>>;

/** Stored short, for there are thousands: id, status, end. */
const answered = z.pipe(
  z.tuple([z.string(), status, instant]),
  z.transform(([id, ended, endTime]) => ({ id, status: ended, endTime })),
);
/** A request that ended, of which nothing is left but that it did. */
export type AnsweredRequest = Readonly<z.output<typeof answered>>;

/** The latest end of a quarantine: of events that were said before it, and come later, none is drained for. Before version 4 it had one time alone. */
const quarantineEnd = z.union([
  z.object({ said, /** When it arrived. */ time: instant }),
  z.pipe(
    z.object({ saidTime: instant, time: instant }),
    z.transform(({ saidTime, time }): { said: Said; time: EpochMs } => ({
      said: { createdTime: saidTime, sentTime: saidTime },
      time,
    })),
  ),
]);

const recovery = z.object({ fault, said, /** When it arrived. */ time: instant });
/** A word that a fault, or some of its entities, are over: events about it that were said before, and come later, drain nothing. */
export type Recovery = Readonly<z.output<typeof recovery>>;

/** What is remembered of all drains of a node. */
export const drainSchema = z.object({
  active: z.exactOptional(active),
  /** Wait for the active drain to end, or for a configuration. */
  requests: list(request),
  /** Newest last. */
  finished: list(finished),
  /** Those that ended before the ones in `finished`, newest last. Absent in records of before. */
  answered: z.exactOptional(list(answered)),
  /** The last thing that was said of a drain that is held. */
  reported: z.exactOptional(z.string()),
  /** Since when drains are held: their time-outs stand still. */
  heldSince: z.exactOptional(instant),
  quarantineEnd: z.exactOptional(quarantineEnd),
  recoveries: z.exactOptional(list(recovery)),
  /** When a Warning on the Node said last that an event is too old. */
  staleSaid: z.exactOptional(instant),
  /** Changes of Node, custom resource and pods that are refused. */
  refusals: z.exactOptional(refusalsSchema),
});
export type DrainRecord = Readonly<z.output<typeof drainSchema>>;

export const NO_DRAINS: DrainRecord = { requests: [], finished: [] };

/** The id of the record of the node with this UID. */
export const recordIdOf = (nodeUid: string): string => `node/${nodeUid}`;
