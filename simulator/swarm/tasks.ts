/** Seeds run side by side, in threads or in this one. */
import { runInThreads } from '../threads.ts';
import type { SeedReport } from './seed.ts';
import { runTask, type SeedTask } from './run-task.ts';

/** As `runInThreads`. */
export function runTasks(
  tasks: readonly SeedTask[],
  jobs: number,
  onReport: (report: SeedReport) => 'continue' | 'stop',
): Promise<void> {
  const module = new URL('worker.ts', import.meta.url);
  return runInThreads(tasks, jobs, { module, run: runTask, isReport }, onReport);
}

function isReport(value: unknown): value is SeedReport {
  return typeof value === 'object' && value !== null && 'nodeHours' in value;
}
