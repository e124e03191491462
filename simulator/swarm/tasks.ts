/** Seeds run side by side, in threads or in this one. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SeedReport } from './seed.ts';
import { runTask, type SeedTask } from './run-task.ts';

/**
 * Runs the tasks in their order, `jobs` at a time; reports come as they end. No further task is begun once `onReport` has answered
 * `stop`. Rejects when a thread dies.
 */
export async function runTasks(
  tasks: readonly SeedTask[],
  jobs: number,
  onReport: (report: SeedReport) => 'continue' | 'stop',
): Promise<void> {
  const waiting = tasks.values();
  let stopped = false;
  const drain = async (run: (task: SeedTask) => Promise<SeedReport>): Promise<void> => {
    for (const task of waiting) {
      if (stopped) return;
      stopped = onReport(await run(task)) === 'stop' || stopped;
    }
  };
  if (jobs <= 1) return drain(runTask);
  const threads = Array.from({ length: Math.min(jobs, tasks.length) }, () => new Thread());
  try {
    await Promise.all(threads.map(thread => drain(task => thread.run(task))));
  } finally {
    await Promise.all(threads.map(thread => thread.end()));
  }
}

/** A run leaves little behind: with room for the young, the collector has next to nothing to copy. */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 128 };

class Thread {
  readonly #worker = new Worker(new URL('worker.ts', import.meta.url), { resourceLimits: THREAD_LIMITS });

  async run(task: SeedTask): Promise<SeedReport> {
    const died = new AbortController();
    const answer = once(this.#worker, 'message', { signal: died.signal });
    const exit = once(this.#worker, 'exit', { signal: died.signal });
    this.#worker.postMessage(task);
    try {
      const [report]: readonly unknown[] = await Promise.race([answer, exit]);
      if (!isReport(report)) throw new Error(`the thread ended in seed ${task.seed}`);
      return report;
    } finally {
      died.abort();
      answer.catch(() => undefined);
      exit.catch(() => undefined);
    }
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

function isReport(value: unknown): value is SeedReport {
  return typeof value === 'object' && value !== null && 'nodeHours' in value;
}
