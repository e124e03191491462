/**
 * What the forwarder publishes: a hint that an object changed, with its identity and the names of the projected parts that did.
 * Functions look at the live object; nothing here is acted on.
 */
import * as z from './zod.ts';
import { SOURCES } from './names.ts';
import { subjectSchema } from './subject.ts';
import type { BusEntry } from './envelope.ts';

export const CLUSTER_EVENT_VERSION = 1;

export const clusterEventSchema = z.object({
  schemaVersion: z.literal(CLUSTER_EVENT_VERSION),
  cluster: z.string().check(z.minLength(1)),
  /** `Deleted` is also sent for an object that a relist no longer finds. */
  change: z.enum(['Added', 'Modified', 'Deleted']),
  subject: z.extend(subjectSchema, { uid: z.string().check(z.minLength(1)) }),
  resourceVersion: z.string(),
  /** Projected parts that differ from what was last published, e.g. `conditions`, `annotations`; sorted. */
  changed: z.array(z.string()),
  /** Labels and references that let a function find what else is concerned without a read. */
  hints: z.object({
    nodePool: z.optional(z.string()),
    nodeName: z.optional(z.string()),
    providerID: z.optional(z.string()),
  }),
  /** Orders and groups on a bus that can: node name or UID. */
  groupKey: z.string(),
  /** Equal for two publications of the same fact. */
  eventKey: z.string(),
  /** When the forwarder saw it, RFC 3339 with milliseconds. */
  observedTime: z.string(),
});
export type ClusterEvent = z.infer<typeof clusterEventSchema>;

/** `NodeChanged`, `NodeClaimChanged`, …: rules select by it. */
export function detailTypeFor(kind: string): string {
  return `${kind}Changed`;
}

export function toBusEntry(event: ClusterEvent): BusEntry {
  return { source: SOURCES.forwarder, detailType: detailTypeFor(event.subject.kind), detail: event };
}
