/** Tasks side by side: in threads, or one after the other in this one. */
import { Worker } from 'node:worker_threads';
import { invariant } from '../shared/domain/invariant.ts';

export interface Work<Task, Report, News> {
  /** The module of a thread: it calls `serveTasks`. */
  readonly module: URL;
  /** What a thread does, for doing it here. */
  readonly run: (task: Task, onNews: (news: News) => void) => Promise<Report>;
  /** Whether that is what a thread answers. */
  readonly isReport: (value: unknown) => value is Report;
  /** Called with how far a task is. */
  readonly onNews?: (news: News) => void;
}

/**
 * Runs the tasks in their order, `jobs` at a time; reports come as they end. A task is asked for when a thread is free, so it may depend on reports. No further task is begun once `onReport` has answered
 * `stop`. Rejects when a thread dies.
 */
export async function runInThreads<Task, Report, News = never>(
  tasks: Iterable<Task>,
  jobs: number,
  work: Work<Task, Report, News>,
  onReport: (report: Report) => 'continue' | 'stop',
): Promise<void> {
  const waiting = tasks[Symbol.iterator]();
  const onNews = work.onNews ?? (() => undefined);
  let stopped = false;
  const drain = async (run: (task: Task) => Promise<Report>): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
      if (stopped) return;
      stopped = onReport(await run(next.value)) === 'stop' || stopped;
    }
  };
  if (jobs <= 1) return drain(task => work.run(task, onNews));
  const threads = Array.from({ length: jobs }, () => new Thread(work, onNews));
  try {
    await Promise.all(threads.map(thread => drain(task => thread.run(task))));
  } finally {
    await Promise.all(threads.map(thread => thread.end()));
  }
}

/** A run leaves little behind: with room for the young, the collector has next to nothing to copy. */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 128 };

class Thread<Task, Report, News> {
  readonly #worker: Worker;
  readonly #work: Work<Task, Report, News>;
  readonly #onNews: (news: News) => void;

  constructor(work: Work<Task, Report, News>, onNews: (news: News) => void) {
    this.#worker = new Worker(work.module, { resourceLimits: THREAD_LIMITS });
    this.#work = work;
    this.#onNews = onNews;
  }

  run(task: Task): Promise<Report> {
    const worker = this.#worker;
    return new Promise<Report>((resolve, reject) => {
      const settle = (done: () => void): void => {
        worker.off('message', hear).off('error', fail).off('exit', exit);
        done();
      };
      const hear = (message: { readonly report: unknown } | { readonly news: News }): void => {
        if ('news' in message) return this.#onNews(message.news);
        const { report } = message;
        settle(() =>
          this.#work.isReport(report) ? resolve(report) : reject(new Error('a thread answered what is no report')),
        );
      };
      const fail = (error: unknown): void => settle(() => reject(error));
      const exit = (): void => fail(new Error(`the thread ended in ${JSON.stringify(task)}`));
      worker.on('message', hear).on('error', fail).on('exit', exit);
      worker.postMessage(task);
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** What the module of a thread calls: carries out one task at a time. What `run` throws ends the thread. */
export function serveTasks<Task, News>(
  port: { on(name: 'message', hear: (task: Task) => void): unknown; postMessage(message: unknown): void } | null,
  run: (task: Task, onNews: (news: News) => void) => Promise<unknown>,
): void {
  invariant(port !== null, 'this runs in a thread of its own');
  port.on('message', task => {
    void run(task, news => port.postMessage({ news })).then(report => port.postMessage({ report }));
  });
}
