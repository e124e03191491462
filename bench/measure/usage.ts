/** What a process has used of the machine, read by the process itself. Imports nothing else: it runs inside what is measured. */
import { cpuUsage, memoryUsage, resourceUsage } from 'node:process';

export interface Usage {
  /** User and system time since the process began, in milliseconds, over all its threads. */
  readonly cpuMs: number;
  /** Resident now. */
  readonly rssBytes: number;
  /** The most that was ever resident. */
  readonly peakRssBytes: number;
  readonly heapUsedBytes: number;
}

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
