/** A child's usage as its parent reads it. */
import * as z from 'zod';
import type { Usage } from './usage.ts';

export const usageSchema: z.ZodType<Usage> = z.object({
  cpuMs: z.number(),
  rssBytes: z.number(),
  peakRssBytes: z.number(),
  heapUsedBytes: z.number(),
});
