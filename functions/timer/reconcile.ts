/**
 * The minute sweep. Sends a wake-up to the owner of every record due within 90 s, except where the owner has sent its
 * own. It makes sure that no timer is lost: near timers fire by the owner's delayed message. Duplicates are harmless, so
 * nothing is remembered between sweeps, except which unreadable entries were parked.
 */
import { METRICS } from '../../shared/contract/metrics.ts';
import {
  addDuration,
  durationBetween,
  hours,
  toDurationMs,
  type DurationMs,
  type EpochMs,
} from '../../shared/domain/time.ts';
import { joinFailures, messageOf } from '../../shared/errors.ts';
import type { FunctionDeps } from '../../shared/ports/function-deps.ts';
import type { UnreadableDueRecord } from '../../shared/ports/record-store.ts';
import { decide, SWEEP_AHEAD } from './decide.ts';

export type TimerDeps = Pick<
  FunctionDeps,
  'dueIndex' | 'records' | 'wakeUps' | 'deadLetters' | 'audit' | 'clock' | 'metrics'
>;

const OWNER = 'timer';
const PAGE_SIZE = 500;
/** A bound on one sweep's work; what is left is first in line at the next tick, a minute later. */
const MAX_PAGES_PER_SHARD = 40;
/** Time after which an entry that is still unreadable is parked once more. */
const PARKED_AGAIN_AFTER = hours(7 * 24);

/** Sweeps all shards. A failure stops nothing else: every shard, page and inbox gets its chance before the tick goes back to the queue. */
export async function sweep(deps: TimerDeps): Promise<void> {
  const failures: unknown[] = [];
  const attempt = (work: Promise<void>): Promise<void> => work.catch((error: unknown) => void failures.push(error));
  let overdue = toDurationMs(0);
  const sweepOne = async (shard: number): Promise<void> => {
    const late = await sweepShard(deps, shard, attempt);
    overdue = toDurationMs(Math.max(overdue, late));
  };
  await Promise.all(Array.from({ length: deps.dueIndex.shardCount }, (_, shard) => attempt(sweepOne(shard))));
  deps.metrics.milliseconds(METRICS.oldestOverdueTimer, overdue);
  if (failures.length > 0) throw joinFailures(failures);
}

/** Sweeps one shard, and answers how late its oldest record is, in milliseconds. */
async function sweepShard(
  deps: TimerDeps,
  shard: number,
  attempt: (work: Promise<void>) => Promise<void>,
): Promise<DurationMs> {
  const { dueIndex, clock } = deps;
  const horizon = addDuration(clock.now(), SWEEP_AHEAD);
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
    await attempt(sendToAll(deps, sent));
    for (const entry of due.unreadable) await attempt(park(deps, entry));
    oldest ??= due.records[0]?.nextWakeTime;
    cursor = due.cursor;
    if (cursor === undefined) break;
  }
  return toDurationMs(oldest === undefined ? 0 : Math.max(0, durationBetween(oldest, clock.now())));
}

type Sendings = Parameters<TimerDeps['wakeUps']['send']>[0];

/** Sends all wake-ups in one call; if that fails, to each inbox by itself. */
async function sendToAll(deps: Pick<TimerDeps, 'wakeUps' | 'audit'>, sent: Sendings): Promise<void> {
  if (sent.length > 0) await deps.wakeUps.send(sent).catch((error: unknown) => sendToEach(deps, sent, error));
}

/** Sends the wake-ups of each owner by themselves. An inbox that had taken them gets them twice, which is harmless. @param error why the call for all failed */
async function sendToEach(
  { wakeUps, audit }: Pick<TimerDeps, 'wakeUps' | 'audit'>,
  sent: Sendings,
  error: unknown,
): Promise<void> {
  const byOwner = Map.groupBy(sent, ({ wakeUp }) => wakeUp.owner);
  const failures: unknown[] = [];
  for (const ofOwner of byOwner.values()) {
    await wakeUps.send(ofOwner).catch((failure: unknown) => void failures.push(failure));
  }
  if (failures.length > 0) {
    const isReported = failures.some(failure => messageOf(failure) === messageOf(error));
    throw joinFailures(isReported ? failures : [error, ...failures]);
  }
  audit.write({
    function: OWNER,
    decision: 'retry',
    reason: 'WakeUpsResent',
    message: `wake-ups were sent again, to each inbox by itself: ${messageOf(error)}`,
    kind: 'Inbox',
    name: [...byOwner.keys()].join(', '),
    details: { wakeUps: sent.length },
  });
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
