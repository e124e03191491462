/** One sweep of the timer function, counted: what it reads, and how long that takes. */
import { createReconciler } from '../../functions/timer/reconcile.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import type { DueIndex } from '../../shared/ports/record-store.ts';

export interface Sweep {
  readonly durationMs: number;
  /** Pages read of the shard of which most were read. */
  readonly pagesPerShard: number;
  /** Wake-ups that it would have sent. */
  readonly wakeUps: number;
}

/** Sweeps as at `now`, without sending anything. */
export async function measureSweep(dueIndex: DueIndex, now: EpochMs): Promise<Sweep> {
  const pages = new Map<number, number>();
  let wakeUps = 0;
  const reconcile = createReconciler({
    dueIndex: {
      shardCount: dueIndex.shardCount,
      queryDue(shard, before, options) {
        pages.set(shard, (pages.get(shard) ?? 0) + 1);
        return dueIndex.queryDue(shard, before, options);
      },
    },
    records: createMemoryRecordStore(),
    deadLetters: { park: () => Promise.resolve() },
    wakeUps: {
      async send(sent) {
        wakeUps += sent.length;
      },
    },
    clock: { now: () => now, sleep: () => Promise.resolve() },
    metrics: { count: () => undefined, milliseconds: () => undefined },
  });
  const startTime = performance.now();
  await reconcile({ kind: 'tick' });
  return { durationMs: performance.now() - startTime, pagesPerShard: Math.max(...pages.values()), wakeUps };
}
