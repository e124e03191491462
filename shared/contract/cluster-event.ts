/**
 * The event that the forwarder publishes: a hint that an object changed, with its identity and the names of the
 * projected parts that did. Functions look at the live object; nothing here is acted on, but for the state in `watch`,
 * which only the forwarder knows.
 *
 * Evolution: forwarder and functions are rolled out apart. A forwarder writes version N; functions of version N read N
 * and N + 1. So a new version only adds optional fields, keeps the meaning of the others, and gives no field a new
 * value that its enumeration lacks. A change that cannot be made in this way takes two versions. Readers drop the
 * fields that they do not know. Optional fields that no reader must understand are added without a new version.
 * `test/fixtures/events` has events of each version.
 */
import * as z from './zod.ts';
import { SOURCES } from './names.ts';
import { subjectSchema } from './subject.ts';
import type { BusEntry } from './envelope.ts';

export const CLUSTER_EVENT_VERSION = 1;

/** State of the list-watch of the kind that a FinalizerRule, or `[customDrain]` in the configuration, names. */
export const kindWatchSchema = z.object({
  group: z.string(),
  version: z.string(),
  kind: z.string(),
  /** The plural as the API server serves it; while `Watching`. */
  resource: z.optional(z.string()),
  /**
   * `Watching`: every change is published from now on. `NotServed`: the API server does not know the kind; it is looked for again.
   * `Forbidden`: the forwarder may not list or watch it. `Failing`: anything else, see the message. `TooManyKinds`: other rules
   * came first.
   */
  state: z.enum(['Watching', 'NotServed', 'Forbidden', 'Failing', 'TooManyKinds']),
  message: z.optional(z.string()),
  /** Since when it stands like this, RFC 3339 with milliseconds: an older event may arrive after a newer one. */
  since: z.string(),
});
export type KindWatch = Readonly<z.infer<typeof kindWatchSchema>>;

export const clusterEventSchema = z.object({
  schemaVersion: z.int().check(z.gte(1), z.lte(CLUSTER_EVENT_VERSION + 1)),
  cluster: z.string().check(z.minLength(1)),
  /** `Deleted` is also sent for an object that a relist no longer finds. */
  change: z.enum(['Added', 'Modified', 'Deleted']),
  // Not strict, as in records: a newer forwarder may know more of it.
  subject: z.object({ ...subjectSchema.shape, uid: z.string().check(z.minLength(1)) }),
  resourceVersion: z.string(),
  /**
   * Projected parts that differ from what was last published, e.g. `conditions`, `annotations`; sorted. Three do not stand in the object:
   *
   * - `podsWatched`, on a Node: from now on its pods are published
   * - `pods`, on a Node: some of them or of its volume attachments changed
   * - `watch`: the field of that name changed
   */
  changed: z.array(z.string()),
  /** Labels and references that let a function find what else is concerned without a read. */
  hints: z.object({
    nodePool: z.optional(z.string()),
    nodeName: z.optional(z.string()),
    providerID: z.optional(z.string()),
    /** With `podsWatched` and `pods`: the one function that waits for them; absent where several do. */
    podsFor: z.optional(z.string()),
    /** The key of the call, on the custom resource of a hook. */
    hookKey: z.optional(z.string()),
  }),
  /** Orders and groups on a bus that can: node name or UID. */
  groupKey: z.string(),
  /** Equal for two publications of the same fact. */
  eventKey: z.string(),
  /**
   * Time at which the forwarder saw the change, RFC 3339 with milliseconds. If several changes waited together, it is
   * that of the first condition that changed; after a silence, it is when the silence began.
   */
  observedTime: z.string(),
  /**
   * On a Node whose conditions changed: whether the status of one did, since what was last published. Absent: a forwarder of before does
   * not say it.
   */
  statusChanged: z.optional(z.boolean()),
  /**
   * Everything is being published: at the forwarder's start (`Added`), every few hours, or on request (`Modified`, `changed` empty).
   * Whatever else is concerned comes in events of its own, so nothing need be listed because of this one.
   */
  resync: z.optional(z.boolean()),
  /** On a FinalizerRule, and on the ConfigMap with `[customDrain]`. */
  watch: z.optional(kindWatchSchema),
});
export type ClusterEvent = z.infer<typeof clusterEventSchema>;

/** Names in `changed` that are not in the object. */
export const VIRTUAL_PARTS: ReadonlySet<string> = new Set(['pods', 'podsWatched', 'watch']);

/** `NodeChanged`, `NodeClaimChanged`, …: rules select by it. */
export function detailTypeFor(kind: string): string {
  return `${kind}Changed`;
}

/** The event as the forwarder puts it on the bus. */
export function toBusEntry(event: ClusterEvent, detailType = detailTypeFor(event.subject.kind)): BusEntry {
  return { source: SOURCES.forwarder, detailType, detail: event };
}

/**
 * Whether the event says that this part of the object is as it was, not there, or gone with the object. The parts of a new object count
 * as changed.
 */
export const leavesAlone = (event: Pick<ClusterEvent, 'change' | 'changed' | 'resync'>, part: string): boolean =>
  event.change === 'Deleted' || (!mayBeAboutAnything(event) && !event.changed.includes(part));

/**
 * The object is published once more, and did not change: because everything is. What settings apply to comes in events of its own.
 */
export const isRepublished = ({
  change,
  changed,
  resync,
}: Pick<ClusterEvent, 'change' | 'changed' | 'resync'>): boolean =>
  resync === true && change === 'Modified' && changed.length === 0;

/** Whether the changed parts of an object are of these alone. */
export const changedOnly = (
  event: Pick<ClusterEvent, 'change' | 'changed' | 'resync'>,
  parts: ReadonlySet<string>,
): boolean => !mayBeAboutAnything(event) && event.changed.every(part => parts.has(part));

/** Whether the event has no parts, or is a repeat as well. That of a new object has all its parts. */
const mayBeAboutAnything = ({
  change,
  changed,
  resync,
}: Pick<ClusterEvent, 'change' | 'changed' | 'resync'>): boolean =>
  changed.length === 0 || (resync === true && change === 'Modified');
