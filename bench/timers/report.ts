/** What each of the two processes answers. */
import * as z from 'zod';

const sweepSchema = z.object({ durationMs: z.number(), pagesPerShard: z.number(), wakeUps: z.number() });

export const reportSchema = z.object({
  /** Which store, in words. */
  store: z.string(),
  armMs: z.number(),
  /** Requests that changed the table while timers were armed, repeated ones included. */
  writes: z.number(),
  heapUsedBytes: z.number(),
  /** Sweeps with nothing due, and with what is due in a minute and a half. */
  quiet: z.array(sweepSchema),
  busy: z.array(sweepSchema),
  /** Milliseconds, one for each timer that was due. */
  lateness: z.array(z.number()),
  lost: z.number(),
});
export type TimersReport = z.infer<typeof reportSchema>;

export const planSchema = z.object({ armed: z.number(), due: z.number(), windowMs: z.number() });
export type Plan = z.infer<typeof planSchema>;

export const progressSchema = z.object({ what: z.string(), done: z.number(), of: z.number() });
export type TimersProgress = z.infer<typeof progressSchema>;

export const SWEEPS = 7;
