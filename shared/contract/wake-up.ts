import { instant } from './instant.ts';
import * as z from './zod.ts';
import { FUNCTION_NAMES, SOURCES, WAKE_UP, type FunctionName } from './names.ts';
import { subjectSchema, type Subject } from './subject.ts';
import type { Envelope } from './envelope.ts';
import { toEpochMs, type EpochMs } from '../domain/time.ts';

/** A hint to `owner` to look at `subject` again, delivered `delay` from now or later. */
export interface WakeUp {
  readonly owner: FunctionName;
  readonly subject: Subject;
  /** The instant the owner asked for; it may arrive up to a second early, the batch wrapper waits out the rest. */
  readonly wakeTime: EpochMs;
  /** The sweep sends it again every minute while it is due, so it need not be retried for long. */
  readonly repeated?: boolean | undefined;
}

/** SQS carries at most 900 s; longer delays are refused by every adapter (some emulators accept them). */
export const MAX_DELAY_SECONDS = 900;

/** Functions are rolled out one by one: each reads its own version and the next one, as with cluster events. */
export const WAKE_UP_VERSION = 1;

export const wakeUpSchema = z.object({
  schemaVersion: z.int().check(z.gte(1), z.lte(WAKE_UP_VERSION + 1)),
  owner: z.enum(FUNCTION_NAMES),
  subject: subjectSchema,
  /** Epoch milliseconds. */
  wakeTime: instant,
  /** Sent again every minute while it is due. */
  repeated: z.optional(z.boolean()),
});

/**
 * The message that EventBridge Scheduler sends the finalizer function once a day: compare the cloud's instances with
 * the cluster. It is due at any time, and retried like any other wake-up; the next one does the same work.
 */
export const ORPHAN_CHECK_WAKE_UP: WakeUp = {
  owner: 'finalizer',
  subject: { apiVersion: 'curfew.dev/v1alpha1', kind: 'OrphanCheck', name: 'instances' },
  wakeTime: toEpochMs(0),
};

/** Whether a wake-up with this subject is the daily one. */
export const isOrphanCheck = ({ apiVersion, kind }: Subject): boolean =>
  kind === ORPHAN_CHECK_WAKE_UP.subject.kind && apiVersion === ORPHAN_CHECK_WAKE_UP.subject.apiVersion;

/** A wake-up as it stands in an inbox. */
export function toWakeUpEnvelope(wakeUp: WakeUp): Envelope {
  return { source: SOURCES.timer, 'detail-type': WAKE_UP, detail: { schemaVersion: WAKE_UP_VERSION, ...wakeUp } };
}
