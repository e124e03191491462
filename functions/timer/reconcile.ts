/**
 * The minute sweep: every due record's owner gets a wake-up in its inbox. It makes sure that no timer is lost; the punctual path
 * for near timers is the owner's own delayed message. Duplicates are harmless, so nothing is remembered between sweeps.
 */
import type { FunctionDeps, Reconcile } from '../../shared/ports/function-deps.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { oldestOverdue, sweepHorizon, wakeUpDelay } from './decide.ts';

type Deps = Pick<FunctionDeps, 'dueIndex' | 'wakeUps' | 'clock' | 'metrics'>;

const PAGE_SIZE = 500;
/** A bound on one sweep's work; what is left is first in line at the next tick, a minute later. */
const MAX_PAGES_PER_SHARD = 40;

export function createReconciler(deps: Deps): Reconcile {
  return async message => {
    if (message.kind === 'tick') await sweep(deps);
  };
}

async function sweep(deps: Deps): Promise<void> {
  const shards = Array.from({ length: deps.dueIndex.shardCount }, (_, shard) => sweepShard(deps, shard));
  // Every shard gets its chance before a failure of one sends the tick back to the queue.
  const outcomes = await Promise.allSettled(shards);
  const failed = outcomes.find(outcome => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const overdue = outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value : 0));
  deps.metrics.milliseconds('OldestOverdueTimer', Math.max(0, ...overdue));
}

/** Answers how late the shard's oldest record is, in milliseconds. */
async function sweepShard({ dueIndex, wakeUps, clock }: Deps, shard: number): Promise<number> {
  const horizon = sweepHorizon(clock.now());
  let oldest: EpochMs | undefined;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES_PER_SHARD; page++) {
    const due = await dueIndex.queryDue(shard, horizon, { limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) });
    const now = clock.now();
    if (due.records.length > 0) {
      await wakeUps.send(
        due.records.map(({ owner, subject, nextWakeTime }) => ({
          wakeUp: { owner, subject, wakeTime: nextWakeTime, repeated: true },
          delay: wakeUpDelay(now, nextWakeTime),
        })),
      );
    }
    oldest ??= due.records[0]?.nextWakeTime;
    cursor = due.cursor;
    if (cursor === undefined) break;
  }
  return oldestOverdue(clock.now(), oldest === undefined ? [] : [oldest]);
}
