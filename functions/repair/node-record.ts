/**
 * The record of a node that is unhealthy, or was acted on in the last day: since when, what was done, and what was said.
 * The schema is the type.
 */
import { actionType, attempt, deadlineAnnotation, named, replacement } from './attempt-record.ts';
import { instant } from '../../shared/contract/instant.ts';
import * as z from '../../shared/contract/zod.ts';
import { refusalsSchema } from '../../shared/lifecycle/refusals.ts';

export const list = <Schema extends z.ZodMiniType>(schema: Schema) => z.readonly(z.array(schema));

export const resourceName = z.object({
  group: z.string(),
  version: z.string(),
  resource: z.string(),
  namespace: z.optional(z.string()),
  name: z.string(),
});

export const madeResource = z.extend(resourceName, { uid: z.string() });

export type MadeResource = Readonly<z.output<typeof madeResource>>;

const act = z.object({ key: z.string(), action: actionType, time: instant, bootID: z.optional(z.string()) });

/** An act that was taken. */
export type Act = Readonly<z.output<typeof act>>;

const episode = z.object({
  startTime: instant,
  endTime: z.optional(instant),
  /** The conditions that it began with. */
  began: z.optional(list(z.object({ type: z.string(), status: z.string() }))),
});

/** A time in which the node was unhealthy; one without an end goes on. */
export type Episode = Readonly<z.output<typeof episode>>;

const leftovers = z.object({
  /** A drain that was asked for, by its request. */
  drain: z.optional(z.string()),
  /** The action that others may have been asked for, while nothing tells: it goes on under the same request (I4). */
  requested: z.optional(z.object({ key: z.string(), requestId: z.string() })),
  resources: z.optional(list(madeResource)),
  /** Those that a run set out to make, written before: one that ended in between leaves them to be found (I7). */
  mayHaveMade: z.optional(list(resourceName)),
  /** The cordon and the condition of a reboot. */
  maintenance: z.optional(z.literal(true)),
  /** `ReplaceThenTerminate`: recorded before it is made. */
  replacement: z.optional(replacement),
  /** Of a termination that was called off: its annotation. */
  annotation: z.optional(z.extend(deadlineAnnotation, { claim: named })),
});

/** What this repair has made or set, to be taken back at its end (I7). */
export type RepairLeftovers = Readonly<z.output<typeof leftovers>>;

const incident = z.object({
  /** Of the entry that decided last. */
  type: z.string(),
  /** Actions that were accepted, by their keys. */
  taken: list(z.string()),
  /** Replacements that did not become ready: not taken, and skipped where something follows. */
  skipped: z.optional(list(z.string())),
  /** Since when no rule has been unhealthy. */
  healthySince: z.optional(instant),
  /** The action that still had time when the node was well again. It counts as not taken once the node is unhealthy again. */
  interrupted: z.optional(z.string()),
  /** How long others that had just come back held it. */
  recovering: z.optional(z.object({ totalMs: z.number(), since: z.optional(instant) })),
});

/** It goes on until no rule has been unhealthy for a while (`rule/incident.ts`). */
export type Incident = Readonly<z.output<typeof incident>>;

const onset = z.object({
  /** When it began to be true. */
  start: instant,
  /** The transition time that its condition stated then, or last. */
  stated: z.optional(instant),
  /** The start that counts again, once a change event says that only the time has moved. */
  first: z.optional(instant),
  /** When a pass first saw it, before any event. The event of its change may still come. */
  seenTime: z.optional(instant),
  /** Since when its status counts, where only the reason has changed since. */
  statusStart: z.optional(instant),
});

export type Onset = Readonly<z.output<typeof onset>>;

export const nodeSchema = z.object({
  name: z.string(),
  pool: z.optional(z.string()),
  /** Of each statement that is true, by its key. */
  onsets: z.record(z.string(), onset),
  incident: z.optional(incident),
  /** Of the incident before: its condition type, and the action that was taken last. */
  lastIncident: z.optional(z.object({ type: z.string(), key: z.optional(z.string()), time: instant })),
  /** Taken in the last day, or for as long as an allowance counts them. */
  acts: list(act),
  number: z.int(),
  /** Replacements that were asked for, for their names. */
  launched: z.optional(z.int()),
  attempt: z.optional(attempt),
  refusals: z.optional(refusalsSchema),
  leftovers: z.optional(leftovers),
  episodes: list(episode),
  /** The other controller at work on it, and when that was first seen. */
  otherWork: z.optional(z.object({ what: z.string(), time: instant })),
  /** The code that was reported last, with its time, and the times of all codes of the last hour. */
  reported: z.optional(
    z.object({ code: z.string(), time: instant, times: z._default(z.record(z.string(), instant), {}) }),
  ),
});

export type NodeRecord = Readonly<z.output<typeof nodeSchema>>;
