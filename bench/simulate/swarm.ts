/** How fast the swarm goes through its seeds, on all cores, as `simulate:swarm` runs them. */
import { availableParallelism } from 'node:os';
import { runTasks } from '../../simulator/swarm/tasks.ts';
import type { SeedReport } from '../../simulator/swarm/seed.ts';
import { sumUp } from '../../simulator/swarm/totals.ts';

export interface SwarmSpeed {
  readonly seeds: number;
  readonly cores: number;
  readonly nodeHours: number;
  readonly faults: number;
  readonly runMs: number;
}

/** Throws when a seed fails: a swarm that finds something has not run to its end. */
export async function measureSwarm(seeds: number, onProgress: (done: number) => void): Promise<SwarmSpeed> {
  const cores = availableParallelism();
  const tasks = Array.from({ length: seeds }, (_, index) => ({ seed: index + 1 }));
  const reports: SeedReport[] = [];
  const startTime = performance.now();
  await runTasks(tasks, cores, report => {
    reports.push(report);
    onProgress(reports.length);
    return 'continue';
  });
  const runMs = performance.now() - startTime;
  const { nodeHours, faults, failing } = sumUp(reports);
  if (failing.length > 0) throw new Error(`seeds that fail: ${failing.map(({ seed }) => seed).join(' ')}`);
  return { seeds, cores, nodeHours, faults: Object.values(faults).reduce((sum, count) => sum + count, 0), runMs };
}
