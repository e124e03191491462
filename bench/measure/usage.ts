/** What a process has used of the machine, measured by the process itself. */
import { cpuUsage, memoryUsage, resourceUsage } from 'node:process';
import { z } from 'zod';

export const usageSchema = z.object({
  /** User and system time since the process began, in milliseconds, over all its threads. */
  cpuMs: z.number(),
  /** Resident now. */
  rssBytes: z.number(),
  /** The most that was ever resident. */
  peakRssBytes: z.number(),
  heapUsedBytes: z.number(),
});
export type Usage = z.infer<typeof usageSchema>;

export function readUsage(): Usage {
  const { user, system } = cpuUsage();
  const { rss, heapUsed } = memoryUsage();
  return {
    cpuMs: (user + system) / 1000,
    rssBytes: rss,
    // Node reports it in units of 1024 bytes.
    peakRssBytes: resourceUsage().maxRSS * 1024,
    heapUsedBytes: heapUsed,
  };
}
