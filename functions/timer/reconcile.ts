/**
 * The minute sweep: the owner of every record that is due, or is within 90 s, gets a wake-up in its inbox, but where it has sent one itself. It makes sure that no timer is lost; the punctual path
 * for near timers is the owner's own delayed message. Duplicates are harmless, so nothing is remembered between sweeps, except which
 * unreadable entries were parked.
 */
import { throwFailures } from '../../shared/cluster/in-parallel.ts';
import { METRICS } from '../../shared/contract/metrics.ts';
import { addDuration, hours, type EpochMs } from '../../shared/domain/time.ts';
import type { FunctionDeps, Reconcile } from '../../shared/ports/function-deps.ts';
import type { UnreadableDueRecord } from '../../shared/ports/record-store.ts';
import { lookAtCanary } from './canary.ts';
import { decide, oldestOverdue, sweepHorizon } from './decide.ts';

type TimerDeps = Pick<FunctionDeps, 'dueIndex' | 'records' | 'wakeUps' | 'deadLetters' | 'clock' | 'metrics'>;

const OWNER = 'timer';
const PAGE_SIZE = 500;
/** A bound on one sweep's work; what is left is first in line at the next tick, a minute later. */
const MAX_PAGES_PER_SHARD = 40;
/** An entry that is still unreadable after this long is parked once more. */
const PARKED_AGAIN_AFTER = hours(7 * 24);

/** Serves ticks alone; anything else in its inbox is done with at once. */
export function createReconciler(deps: TimerDeps): Reconcile {
  return async message => {
    switch (message.kind) {
      case 'tick':
        return sweep(deps);
      case 'clusterEvent':
      case 'customResource':
      case 'busEvent':
      case 'wakeUp':
        return;
    }
  };
}

/** The timer as it is deployed: after each sweep it looks at the canary. In a simulation no table vanishes by itself. */
export function createWatchedReconciler(deps: TimerDeps): Reconcile {
  const reconcile = createReconciler(deps);
  return async message => {
    await reconcile(message);
    if (message.kind === 'tick') await lookAtCanary(deps);
  };
}

async function sweep(deps: TimerDeps): Promise<void> {
  const shards = Array.from({ length: deps.dueIndex.shardCount }, (_, shard) => sweepShard(deps, shard));
  // Every shard gets its chance before a failure of one sends the tick back to the queue.
  const outcomes = await Promise.allSettled(shards);
  throwFailures(outcomes);
  const overdue = outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value : 0));
  deps.metrics.milliseconds(METRICS.oldestOverdueTimer, Math.max(0, ...overdue));
}

/** Answers how late the shard's oldest record is, in milliseconds. */
async function sweepShard(deps: TimerDeps, shard: number): Promise<number> {
  const { dueIndex, wakeUps, clock } = deps;
  const horizon = sweepHorizon(clock.now());
  let oldest: EpochMs | undefined;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES_PER_SHARD; page++) {
    const due = await dueIndex.queryDue(shard, horizon, { limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) });
    const now = clock.now();
    const sent = due.records.flatMap(record => {
      const decision = decide(record, now);
      if (decision.kind === 'leave') return [];
      const { owner, subject, nextWakeTime } = record;
      return [{ wakeUp: { owner, subject, wakeTime: nextWakeTime, repeated: true }, delay: decision.delay }];
    });
    if (sent.length > 0) await wakeUps.send(sent);
    for (const entry of due.unreadable) await park(deps, entry);
    oldest ??= due.records[0]?.nextWakeTime;
    cursor = due.cursor;
    if (cursor === undefined) break;
  }
  return oldestOverdue(clock.now(), oldest === undefined ? [] : [oldest]);
}

/** Says that an entry of the index cannot be read, each time as a metric and once in the dead-letter queue; its shard goes on. */
async function park(deps: TimerDeps, { id, explanation }: UnreadableDueRecord): Promise<void> {
  deps.metrics.count(METRICS.unreadableRecord);
  const claim = await deps.records.put(
    {
      owner: OWNER,
      id: `unreadable/${id}`,
      subject: { apiVersion: 'curfew.dev/v1alpha1', kind: 'Record', name: id },
      state: { schemaVersion: 1 },
      expireTime: addDuration(deps.clock.now(), PARKED_AGAIN_AFTER),
    },
    0,
  );
  if (claim.kind === 'lostRace') return;
  await deps.deadLetters.park({
    function: OWNER,
    body: JSON.stringify({ id }),
    reason: 'UnreadableRecord',
    explanation,
  });
}
