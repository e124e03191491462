/**
 * The record of a node that is unhealthy, or was acted on in the last day. It says since when the node is unhealthy,
 * what was done, and what was reported. The schema is the type.
 */
import { attempt, deadlineAnnotation, named, replacement } from './attempt-record.ts';
import { instant } from '../../../shared/contract/instant.ts';
import * as z from '../../../shared/contract/zod.ts';
import { storedName } from '../../../shared/custom-resource/stored-name.ts';
import { refusalsSchema } from '../../../shared/lifecycle/refusals.ts';

export const madeResource = z.extend(storedName, { uid: z.string() });

export type MadeResource = Readonly<z.output<typeof madeResource>>;

const anyAct = { key: z.string(), time: instant };

const act = z.discriminatedUnion('action', [
  /** @property bootID the boot ID before the reboot */
  z.object({ ...anyAct, action: z.literal('Reboot'), bootID: z.optional(z.string()) }),
  z.object({ ...anyAct, action: z.enum(['Drain', 'CustomResource', 'Replace', 'Terminate']) }),
]);

/** An act that was taken. */
export type Act = Readonly<z.output<typeof act>>;

const episode = z.object({
  startTime: instant,
  endTime: z.optional(instant),
  /** The conditions that the episode began with. */
  began: z.optional(z.list(z.object({ type: z.string(), status: z.string() }))),
});

/** A time in which the node was unhealthy; one without an end goes on. */
export type Episode = Readonly<z.output<typeof episode>>;

const leftovers = z.object({
  /** The id of the request for a drain. */
  drain: z.optional(z.string()),
  /**
   * The action that another controller may have been asked for, while nothing tells: it goes on under the same request
   * (I4).
   */
  requested: z.optional(z.object({ key: z.string(), requestId: z.string() })),
  resources: z.optional(z.list(madeResource)),
  /**
   * Custom resources that a run set out to make, written before. If the run ended in between, they can be found (I7).
   */
  mayHaveMade: z.optional(z.list(storedName)),
  /** The cordon and the condition of a reboot. */
  maintenance: z.optional(z.literal(true)),
  /** The replacement of `ReplaceThenTerminate`, recorded before it is made. */
  replacement: z.optional(replacement),
  /** The annotation of a termination that was called off. */
  annotation: z.optional(z.extend(deadlineAnnotation, { claim: named })),
});

/** Objects and marks that this repair has made or set, to be taken back at its end (I7). */
export type RepairLeftovers = Readonly<z.output<typeof leftovers>>;

const incident = z.object({
  /** Condition type of the entry that decided last. */
  type: z.string(),
  /** Actions that were accepted, by their keys. */
  taken: z.list(z.string()),
  /** Keys of actions whose replacement did not become ready: not taken, and skipped if another action follows. */
  skippedLaunches: z.optional(z.list(z.string())),
  /** Time since which no repair condition has called the node unhealthy. */
  healthySince: z.optional(instant),
  /** The action that still had time when the node was well again. It counts as not taken once the node is unhealthy again. */
  interrupted: z.optional(z.string()),
  /** Reason in words why the node is left alone until it is well again. */
  stopped: z.optional(z.string()),
  /**
   * Time in milliseconds for which nodes that had just come back have blocked the repair; `since`: they
   * do so now, since then.
   */
  recovering: z.optional(z.object({ totalMs: z.number(), since: z.optional(instant) })),
});

/** An incident, which goes on until no repair condition has called the node unhealthy for a while (`rule/incident.ts`). */
export type Incident = Readonly<z.output<typeof incident>>;

const onset = z.object({
  /** Time at which the repair condition began to be true. */
  start: instant,
  /** The transition time that its condition stated then, or last. */
  stated: z.optional(instant),
  /** The start before the transition time moved. It counts again if a change event shows that nothing but that time changed. */
  first: z.optional(instant),
  /** Time at which a pass first saw the repair condition, before any event. The event of its change may still come. */
  seenTime: z.optional(instant),
  /** Distance of the clock that wrote the transition from the forwarder's, in ms, if it is more than a minute. */
  clockOffset: z.optional(z.number()),
  /** Time since which the status counts, if only the reason has changed since. */
  statusStart: z.optional(instant),
});

export type Onset = Readonly<z.output<typeof onset>>;

export const nodeSchema = z.object({
  name: z.string(),
  pool: z.optional(z.string()),
  /** Onset of each repair condition that is true, by its key. */
  onsets: z.record(z.string(), onset),
  incident: z.optional(incident),
  /** The previous incident: its condition type, and the action that was taken last. */
  lastIncident: z.optional(z.object({ type: z.string(), key: z.optional(z.string()), time: instant })),
  /** Acts of the last day, or of as long as an allowance counts them. */
  acts: z.list(act),
  number: z.int(),
  /** Number of replacements that were asked for, by which their names differ. */
  launched: z.optional(z.int()),
  attempt: z.optional(attempt),
  refusals: z.optional(refusalsSchema),
  leftovers: z.optional(leftovers),
  episodes: z.list(episode),
  /** The other controller at work on it, and when that was first seen. */
  otherWork: z.optional(z.object({ what: z.string(), time: instant })),
  /** The code that was reported last, with its time, and the times of all codes of the last hour. */
  reported: z.optional(
    z.object({ code: z.string(), time: instant, times: z._default(z.record(z.string(), instant), {}) }),
  ),
});

export type NodeRecord = Readonly<z.output<typeof nodeSchema>>;
