/**
 * From the queue to the bus: full batches, only the failed entries again, nothing dropped but what the bus refuses for good,
 * and that with an audit line (I9). One call at a time: while it runs, the queue gathers the next batch.
 */
import type { KindWatch } from '../shared/contract/cluster-event.ts';
import { addDuration, durationBetween, toDurationMs, type DurationMs, type EpochMs } from '../shared/domain/time.ts';
import { messageOf, RetryableError } from '../shared/errors.ts';
import type { Clock } from '../shared/ports/clock.ts';
import { MAX_ENTRIES_PER_CALL, type EventBus, type PublishOutcome } from '../shared/ports/event-bus.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import { backoffDelay, type BackoffRange, type RandomSource } from './backoff.ts';
import { toEntry } from './cluster-event.ts';
import { keepGoing } from './keep-going.ts';
import type { Log } from './log.ts';
import type { MetricName } from './metric-names.ts';
import { keyOf, type ChangeQueue, type QueuedChange } from './queue.ts';
import { orAborted } from './silence.ts';

export interface PublishTimings {
  /** After calls that brought nothing to the bus. */
  readonly callBackoff: BackoffRange;
  /** For one entry that the bus could not take. */
  readonly entryBackoff: BackoffRange;
}

export interface PublishDeps {
  readonly cluster: string;
  /** How the watch stands that the object of this UID asks for; undefined where it asks for none. */
  readonly watchOf?: ((uid: string) => KindWatch | undefined) | undefined;
  readonly queue: ChangeQueue;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly metrics: MetricSink;
  readonly log: Log;
  readonly timings: PublishTimings;
  readonly random?: RandomSource | undefined;
}

export interface BusProblem {
  readonly reason: string;
  readonly since: EpochMs;
}

export interface Publisher {
  /** Runs until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Why the bus takes nothing, and since when, if so. */
  problem(): BusProblem | undefined;
}

/** An operator cures these (a missing permission), so the entry is kept although the bus calls them final. */
const CURABLE_CODE = /NotAuthorized|AccessDenied/;

/** An answer that is shorter than the batch says nothing about the rest: as if it had failed. */
const NO_OUTCOME = { kind: 'retry', code: 'NoOutcome' } as const;

/** Nobody reads it; creating one with its stack for each wait would cost more than the wait. */
const OTHER_CAME_FIRST = new Error('the other came first');

/**
 * One call of the bus at a time. A call that fails as a whole is tried again without limit; an entry that the bus
 * refuses for good is dropped with an audit line, unless an operator can cure it.
 */
export function createPublisher(deps: PublishDeps): Publisher {
  const { queue, clock, log } = deps;
  const count = (name: MetricName, dimensions?: Readonly<Record<string, string>>): void =>
    deps.metrics.count(name, 1, dimensions);
  /** Calls in a row that brought nothing to the bus. */
  let failures = 0;
  let batchMax = MAX_ENTRIES_PER_CALL;
  let problem: BusProblem | undefined;

  function publishing(): void {
    if (problem !== undefined) log.info({ depth: queue.depth() }, 'the bus takes events again');
    problem = undefined;
    failures = 0;
    batchMax = Math.min(batchMax * 2, MAX_ENTRIES_PER_CALL);
  }

  /** Answers how long to leave the bus alone. */
  function failing(reason: string, retryAfterMs = 0): DurationMs {
    if (problem?.reason !== reason) log.warn({ error: reason, depth: queue.depth() }, 'publishing failed');
    problem = { reason, since: problem?.since ?? clock.now() };
    failures += 1;
    const { callBackoff } = deps.timings;
    const delay = backoffDelay(failures, callBackoff, deps.random);
    return toDurationMs(Math.max(delay, Math.min(retryAfterMs, callBackoff.longest)));
  }

  /** Sends one batch and settles its entries. Answers how long to wait before the next one. */
  async function publishBatch(batch: readonly QueuedChange[], signal: AbortSignal): Promise<DurationMs> {
    let outcomes: readonly PublishOutcome[];
    try {
      const entries = batch.map(({ change }) => toEntry(change, deps.cluster, deps.watchOf));
      outcomes = await orAborted(deps.bus.publish(entries), signal);
    } catch (error) {
      if (signal.aborted) throw error;
      // Also what looks final for the whole call (no such bus, access denied) is cured by an operator: nothing is given up.
      count('PublishFailed');
      const passing = error instanceof RetryableError;
      // An outage passes and keeps the order. Anything else may be the fault of one entry: one at a time, it harms no other.
      if (!passing) batchMax = 1;
      for (const queued of batch) queue.giveBack(keyOf(queued), passing ? undefined : clock.now());
      return failing(messageOf(error), passing ? error.retryAfterMs : 0);
    }
    const done = batch.filter((queued, index) => settle(queued, outcomes[index] ?? NO_OUTCOME));
    if (done.length > 0) {
      publishing();
      return toDurationMs(0);
    }
    const [first = NO_OUTCOME] = outcomes;
    return failing(first.kind === 'published' ? NO_OUTCOME.code : first.code);
  }

  /** Answers whether the entry is done with. */
  function settle(queued: QueuedChange, outcome: PublishOutcome): boolean {
    const { change, attempts } = queued;
    const { kind } = change.subject;
    if (outcome.kind === 'published') {
      queue.published(keyOf(queued), clock.now());
      count('EventsPublished', { kind, change: change.change });
      deps.metrics.milliseconds('PublishDelay', durationBetween(change.observedTime, clock.now()));
      return true;
    }
    if (outcome.kind === 'rejected' && !CURABLE_CODE.test(outcome.code)) {
      queue.published(keyOf(queued), clock.now());
      count('EventsRejected', { kind, code: outcome.code });
      const { subject, resourceVersion } = change;
      log.error(
        {
          audit: true,
          decision: 'dropped',
          reason: outcome.code,
          error: outcome.message,
          change: change.change,
          subject,
          resourceVersion,
        },
        'the bus refused an event',
      );
      return true;
    }
    count('PublishRetried', { code: outcome.code });
    queue.giveBack(
      keyOf(queued),
      addDuration(clock.now(), backoffDelay(attempts + 1, deps.timings.entryBackoff, deps.random)),
    );
    return false;
  }

  /** Takes a batch and publishes it, or waits until there is something to take. */
  async function step(signal: AbortSignal): Promise<void> {
    const batch = queue.take(batchMax, clock.now());
    if (batch.length === 0) return untilAvailable(queue, clock, signal);
    try {
      const pause = await publishBatch(batch, signal);
      if (pause > 0) await clock.sleep(pause, signal);
    } finally {
      // What is not settled although the batch is done with would never be taken again.
      for (const queued of batch) queue.giveBack(keyOf(queued));
    }
  }

  return {
    run: signal =>
      keepGoing(signal, {
        step,
        failed: 'the publisher failed, going on',
        pause: deps.timings.callBackoff.longest,
        clock,
        log,
      }),
    problem: () => problem,
  };
}

/** Resolves when there may be something to take. Rejects when `signal` aborts first. */
async function untilAvailable(queue: ChangeQueue, clock: Clock, signal: AbortSignal): Promise<void> {
  const availability = queue.availability(clock.now());
  if (availability.kind === 'now') return;
  if (availability.kind === 'empty') return queue.offered(signal);
  // Whichever comes first: the delay of an entry is over, or something new arrives.
  const first = new AbortController();
  const stop = (): void => first.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const delay = durationBetween(clock.now(), availability.time);
    await Promise.race([clock.sleep(delay, first.signal), queue.offered(first.signal)]);
  } finally {
    signal.removeEventListener('abort', stop);
    first.abort(OTHER_CAME_FIRST);
  }
}
