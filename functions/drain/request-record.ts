/**
 * Record of a request for a drain, and of its end: as it is stored, the schema is the type. Version 1 knew nothing of the end of a quarantine,
 * version 3 nothing of error codes, and of ends the last hundred alone.
 */
import { drainStatusSchema } from '../../shared/contract/drain-messages.ts';
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import type { HealthEvent } from '../../shared/domain/health-event.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import type { DrainScope } from './rule/pods.ts';

/** A value that is stored as null where it is undefined. */
const orUndefined = <Schema extends z.ZodMiniType>(schema: Schema) =>
  z.pipe(
    z.nullable(schema),
    z.transform((value: z.output<Schema> | null) => value ?? undefined),
  );

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

const timestampsSchema = z.object({
  /** Time when the monitor made it: `generatedTimestamp`. */
  generatedTime: z.exactOptional(instant),
  /** Time when NVSentinel stored it: `createdAt`. */
  createdTime: z.exactOptional(instant),
  /** Time when NVSentinel's exporter made the CloudEvent of it. */
  exportedTime: z.exactOptional(instant),
  /** Time when it was put on the bus. */
  sentTime: z.exactOptional(instant),
});
/** Times when something was reported, by each clock that states it. */
export type Timestamps = Readonly<z.output<typeof timestampsSchema>>;

export const requestSchema = z.object({
  /** Unique: a request with the same id is the same request. */
  id: z.string(),
  /** `source` of the bus event. */
  requestedBy: z.string(),
  /** The HealthEvent, for templates, scope and overrides; a `DrainRequested` has that shape, too. */
  event,
  /** A `QuarantineStatus`. */
  quarantine: orUndefined(z.string()),
  /** All pods go at once, whatever configuration and limits say. */
  allPods: z.exactOptional(z.boolean()),
  /**
   * Time from which `DeleteAfterTimeout` counts: when NVSentinel stored it, else when it was put on the bus, else when it arrived. Absent in
   * older records.
   */
  time: z.exactOptional(instant),
  said: z.exactOptional(timestampsSchema),
});
/** A request for a drain of the node. */
export type DrainRequest = Readonly<z.output<typeof requestSchema>>;

export const scopeSchema: z.ZodMiniType<DrainScope> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('full') }),
  z.object({ kind: z.literal('entities'), entities: z.array(z.string()) }),
]);

/** Status of a drain, in NVSentinel's words. */
export type DrainStatus = z.output<typeof drainStatusSchema>;

export const outcomeSchema = z.object({
  status: drainStatusSchema,
  /** One CamelCase word. */
  reason: z.string(),
  message: z.string(),
  /** Pods that should have gone and were not waited for, as `namespace/name (why)`. */
  left: z.list(z.string()),
});
export type DrainOutcome = Readonly<z.output<typeof outcomeSchema>>;

const faultSchema = z.object({
  agent: z.string(),
  componentClass: z.string(),
  checkName: z.string(),
  /** Entities as `type/value`; empty: the whole check. */
  entities: z.list(z.string()),
  /** Error codes; empty: all of the check. Absent in older records: any. */
  codes: z.exactOptional(z.list(z.string())),
});
/** A fault as monitors identify it; its recovery names it alike. */
export type NodeFault = Readonly<z.output<typeof faultSchema>>;

export const finishedSchema = z.extend(outcomeSchema, {
  id: z.string(),
  scope: scopeSchema,
  drained: z.number(),
  startTime: instant,
  endTime: instant,
  /** The fault that the request was about. */
  fault: faultSchema,
  /** The fault is over. */
  recovered: z.boolean(),
  /** A monitor asked, and the node was quarantined. */
  quarantined: z.exactOptional(z.boolean()),
  said: z.exactOptional(timestampsSchema),
});
/** The end of one request. */
export type FinishedDrain = Readonly<z.output<typeof finishedSchema>>;

/** An ended request, stored short, for there are thousands: id, status, end. */
export const answeredSchema = z.pipe(
  z.tuple([z.string(), drainStatusSchema, instant]),
  z.transform(([id, ended, endTime]) => ({ id, status: ended, endTime })),
);
/** A request that ended, of which only that is remembered. */
export type AnsweredRequest = Readonly<z.output<typeof answeredSchema>>;

/** The latest end of a quarantine: events that were said before it, and come later, drain nothing. Before version 4 it had one time alone. */
export const quarantineEndSchema = z.union([
  z.object({ said: timestampsSchema, /** Time of arrival. */ time: instant }),
  z.pipe(
    z.object({ saidTime: instant, time: instant }),
    z.transform(({ saidTime, time }): { said: Timestamps; time: EpochMs } => ({
      said: { createdTime: saidTime, sentTime: saidTime },
      time,
    })),
  ),
]);

export const recoverySchema = z.object({
  fault: faultSchema,
  said: timestampsSchema,
  /** Time of arrival. */
  time: instant,
});
/** A report that a fault, or some of its entities, are over: events about it that were said before, and come later, drain nothing. */
export type Recovery = Readonly<z.output<typeof recoverySchema>>;

/** A recovery of a fault that comes and goes: it counts once it has lasted since then. */
export const deferredRecoverySchema = z.object({ event, said: z.exactOptional(timestampsSchema), since: instant });
export type DeferredRecovery = Readonly<z.output<typeof deferredRecoverySchema>>;
