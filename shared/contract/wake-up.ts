import * as z from './zod.ts';
import { FUNCTION_NAMES, SOURCES, WAKE_UP } from './names.ts';
import { subjectSchema } from './subject.ts';
import type { Envelope } from './envelope.ts';
import type { WakeUp } from '../ports/inbox.ts';
import { toEpochMs, type EpochMs } from '../domain/time.ts';

/** Functions are rolled out one by one: each reads its own version and the next one, as with cluster events. */
export const WAKE_UP_VERSION = 1;

export const wakeUpSchema = z.object({
  schemaVersion: z.int().check(z.gte(1), z.lte(WAKE_UP_VERSION + 1)),
  owner: z.enum(FUNCTION_NAMES),
  subject: subjectSchema,
  /** Epoch milliseconds. */
  wakeTime: z.pipe(
    z.number(),
    z.transform((ms: number): EpochMs => toEpochMs(ms)),
  ),
  /** Sent again every minute while it is due. */
  repeated: z.optional(z.boolean()),
});

export function toWakeUpEnvelope(wakeUp: WakeUp): Envelope {
  return { source: SOURCES.timer, 'detail-type': WAKE_UP, detail: { schemaVersion: WAKE_UP_VERSION, ...wakeUp } };
}
