/**
 * The one message shape of every inbox: an EventBridge event. Rules deliver it as it is; wake-ups and the tick are sent to SQS in
 * the same shape, so a function has one code path.
 */
import * as z from './zod.ts';

export const envelopeSchema = z.object({
  id: z.optional(z.string()),
  source: z.string().check(z.minLength(1)),
  'detail-type': z.string().check(z.minLength(1)),
  time: z.optional(z.string()),
  detail: z.record(z.string(), z.unknown()),
});
export type Envelope = z.infer<typeof envelopeSchema>;

/** One entry of PutEvents. `detail` is sent as JSON text. */
export interface BusEntry {
  readonly source: string;
  readonly detailType: string;
  readonly detail: Readonly<Record<string, unknown>>;
}
