/**
 * From the queue to the bus: full batches, only the failed entries again, nothing dropped but what the bus refuses for good,
 * and that with an audit line (I9). One call at a time: while it runs, the queue gathers the next batch.
 */
import type { KindWatch } from '../shared/contract/cluster-event.ts';
import { addDuration, durationBetween, toDurationMs, type DurationMs } from '../shared/domain/time.ts';
import { messageOf, RetryableError } from '../shared/errors.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { EventBus, PublishOutcome } from '../shared/ports/event-bus.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import { backoffDelay, type BackoffRange, type RandomSource } from './backoff.ts';
import {
  HEALTHY,
  healthChange,
  nextHealth,
  pauseAfter,
  type BusHealth,
  type BusProblem,
  type BusStep,
} from './bus-health.ts';
import { toEntry } from './cluster-event.ts';
import { keepGoing } from './keep-going.ts';
import type { Log } from './log.ts';
import type { MetricName } from './metric-names.ts';
import type { QueuedChange } from './queue-entries.ts';
import { keyOf, type ChangeQueue } from './queue.ts';
import { linkAbort, orAborted } from './inactivity.ts';
import type { ObjectChange } from './tracker.ts';

export interface PublishTimings {
  /** After calls that brought nothing to the bus. */
  readonly callBackoff: BackoffRange;
  /** For one entry that the bus could not take. */
  readonly entryBackoff: BackoffRange;
}

export interface PublishDeps {
  readonly cluster: string;
  /** State of the watch that the object of this UID asks for; undefined if it asks for none. */
  readonly watchOf?: ((uid: string) => KindWatch | undefined) | undefined;
  readonly queue: ChangeQueue;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly metrics: MetricSink;
  readonly log: Log;
  readonly timings: PublishTimings;
  readonly random?: RandomSource | undefined;
}

export interface Publisher {
  /** Runs until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** The reason why the bus takes nothing, and since when; undefined: it takes events. */
  problem(): BusProblem | undefined;
}

/** An operator cures these (a missing permission), so the entry is kept although the bus calls them final. */
const CURABLE_CODE = /NotAuthorized|AccessDenied/;

/** An answer that is shorter than the batch says nothing about the rest: as if it had failed. */
const NO_OUTCOME = { kind: 'retry', code: 'NoOutcome' } as const;

/** Nobody reads it; creating one with its stack for each wait would cost more than the wait. */
const OTHER_CAME_FIRST = new Error('the other came first');

/** A publisher while it runs. */
interface RunningPublisher extends PublishDeps {
  readonly health: () => BusHealth;
  readonly on: (step: BusStep) => void;
  readonly count: (name: MetricName, dimensions?: Readonly<Record<string, string>>) => void;
}

/**
 * One call of the bus at a time. A call that fails as a whole is tried again without limit; an entry that the bus
 * refuses for good is dropped with an audit line, unless an operator can cure it.
 */
export function createPublisher(deps: PublishDeps): Publisher {
  const { queue, clock, log, metrics, timings } = deps;
  let health = HEALTHY;
  const running: RunningPublisher = {
    ...deps,
    health: () => health,
    on(step) {
      const before = health;
      health = nextHealth(before, step, clock.now());
      const news = healthChange(before, health);
      const depth = queue.depth();
      if (news === 'failing') log.warn({ error: health.problem?.reason, depth }, 'publishing failed');
      if (news === 'working') log.info({ depth }, 'the bus takes events again');
    },
    count: (name, dimensions) => metrics.count(name, 1, dimensions),
  };
  return {
    run: signal =>
      keepGoing(signal, {
        step: end => publishNext(running, end),
        failed: 'the publisher failed, going on',
        pause: timings.callBackoff.longest,
        clock,
        log,
      }),
    problem: () => health.problem,
  };
}

/** Takes a batch and publishes it, or waits until there is something to take. */
async function publishNext(running: RunningPublisher, signal: AbortSignal): Promise<void> {
  const { queue, clock } = running;
  const batch = queue.take(running.health().batchMax, clock.now());
  if (batch.length === 0) return untilAvailable(queue, clock, signal);
  try {
    const pause = await publishBatch(running, batch, signal);
    if (pause > 0) await clock.sleep(pause, signal);
  } finally {
    // An entry that has no end although the batch is done with would never be taken again.
    for (const queued of batch) queue.giveBack(keyOf(queued));
  }
}

/** Sends one batch and finishes its entries. Answers how long to wait before the next one. */
async function publishBatch(
  running: RunningPublisher,
  batch: readonly QueuedChange[],
  signal: AbortSignal,
): Promise<DurationMs> {
  let outcomes: readonly PublishOutcome[];
  try {
    const entries = batch.map(({ change }) => toEntry(change, running.cluster, running.watchOf));
    outcomes = await orAborted(running.bus.publish(entries), signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return callFailed(running, batch, error);
  }
  const done = batch.filter((queued, index) => finishEntry(running, queued, outcomes[index] ?? NO_OUTCOME));
  if (done.length > 0) {
    running.on({ kind: 'published' });
    return toDurationMs(0);
  }
  const [first = NO_OUTCOME] = outcomes;
  running.on({
    kind: 'failed',
    reason: first.kind === 'published' ? NO_OUTCOME.code : first.code,
    mayBeOneEntry: false,
  });
  return pauseAfter(running.health(), running.timings.callBackoff, { random: running.random });
}

/** Gives the whole batch back. What looks final (no such bus, access denied) is cured by an operator: nothing is given up. */
function callFailed(running: RunningPublisher, batch: readonly QueuedChange[], error: unknown): DurationMs {
  const { queue, clock, timings, random } = running;
  running.count('PublishFailed');
  const passing = error instanceof RetryableError;
  // An outage passes and keeps the order.
  for (const queued of batch) queue.giveBack(keyOf(queued), passing ? undefined : clock.now());
  running.on({ kind: 'failed', reason: messageOf(error), mayBeOneEntry: !passing });
  return pauseAfter(running.health(), timings.callBackoff, { random, asked: passing ? error.retryAfterMs : undefined });
}

/** Takes one outcome over into the queue. Answers whether the entry is done with. */
function finishEntry(running: RunningPublisher, queued: QueuedChange, outcome: PublishOutcome): boolean {
  const { queue, clock, count } = running;
  const { change, attempts } = queued;
  const { kind } = change.subject;
  if (outcome.kind === 'published') {
    queue.published(keyOf(queued), clock.now());
    count('EventsPublished', { kind, change: change.change });
    running.metrics.milliseconds('PublishDelay', durationBetween(change.observedTime, clock.now()));
    return true;
  }
  if (outcome.kind === 'rejected' && !CURABLE_CODE.test(outcome.code)) {
    queue.published(keyOf(queued), clock.now());
    count('EventsRejected', { kind, code: outcome.code });
    auditDropped(running.log, change, outcome);
    return true;
  }
  count('PublishRetried', { code: outcome.code });
  const delay = backoffDelay(attempts + 1, running.timings.entryBackoff, running.random);
  queue.giveBack(keyOf(queued), addDuration(clock.now(), delay));
  return false;
}

function auditDropped(
  log: Log,
  { change, subject, resourceVersion }: ObjectChange,
  { code, message }: PublishOutcome & { readonly kind: 'rejected' },
): void {
  const line = { audit: true, decision: 'dropped', reason: code, error: message, change, subject, resourceVersion };
  log.error(line, 'the bus refused an event');
}

/** Resolves when there may be something to take. Rejects when `signal` aborts first. */
async function untilAvailable(queue: ChangeQueue, clock: Clock, signal: AbortSignal): Promise<void> {
  const availability = queue.availability(clock.now());
  if (availability.kind === 'now') return;
  if (availability.kind === 'empty') return queue.offered(signal);
  // Whichever comes first: the delay of an entry is over, or something new arrives.
  const { controller: first, unlink } = linkAbort(signal);
  try {
    const delay = durationBetween(clock.now(), availability.time);
    await Promise.race([clock.sleep(delay, first.signal), queue.offered(first.signal)]);
  } finally {
    unlink();
    first.abort(OTHER_CAME_FIRST);
  }
}
