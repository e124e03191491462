/**
 * One supervised list-watch of one resource: it never ends before it is told to, whatever the API server or the consumer does.
 * `watch-position.ts` says what follows what.
 *
 * - W1 objects missing from a relist are reported as gone, so no deletion is lost.
 * - W2 an exception of the consumer costs that object a delay, until the next list, and nothing else.
 * - W3 a stream that says nothing, not even a bookmark, is not trusted: it is cut, and a list looks for what was missed.
 */
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { addDuration, durationBetween, type DurationMs, type EpochMs, isDue, minutes } from '../shared/domain/time.ts';
import { messageOf, RetryableError } from '../shared/errors.ts';
import type { Clock } from '../shared/ports/clock.ts';
import { WatchExpired, type ClusterWatch, type WatchEvent } from '../shared/ports/cluster-watch.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import type { BackoffRange, RandomSource } from './backoff.ts';
import { keepGoing } from './keep-going.ts';
import { listPages, selectionOf } from './list-pages.ts';
import type { Log } from './log.ts';
import type { MetricName } from './metric-names.ts';
import type { WatchedResource } from './resources.ts';
import { guardInactivity, guardedMessages } from './inactivity.ts';
import { delayAfter, next, START, type WatchPosition, type WatchStep } from './watch-position.ts';
import { createWatchHealth, type WatchHealth, type WatchStatus } from './watch-status.ts';

/** Receives the objects. Each call may wait (for room in the queue); the supervisor reads on only then. */
export interface ObjectConsumer {
  /**
   * `initial`: found by the first list, so it was probably there before this process. `since`: found by a list after a
   * time in which nothing was heard, and when that began.
   */
  present(object: KubernetesObject, signal: AbortSignal, initial: boolean, since?: EpochMs): Promise<void>;
  gone(object: KubernetesObject, signal: AbortSignal): Promise<void>;
  /** A list was read to its end: whatever else was known is gone. Answers how many that were. */
  onlyPresent(uids: ReadonlySet<string>, signal: AbortSignal): Promise<number>;
}

export interface WatchTimings {
  readonly pageSize: number;
  /** Time that the server is asked to keep a watch open. */
  readonly watchTimeout: DurationMs;
  /** Servers send a bookmark about once a minute: a watch without any message for this long is cut. The only guard against silence. */
  readonly longestInactivity: DurationMs;
  /** Time that one page of a list may take. */
  readonly listTimeout: DurationMs;
  readonly notServedPoll: DurationMs;
  readonly backoff: BackoffRange;
}

export interface WatchDeps {
  readonly resource: WatchedResource;
  readonly watch: ClusterWatch;
  readonly consumer: ObjectConsumer;
  readonly clock: Clock;
  readonly metrics: MetricSink;
  readonly log: Log;
  readonly timings: WatchTimings;
  readonly random?: RandomSource | undefined;
  /** Called after each list and each failure. Must not throw. */
  readonly onStatus?: ((status: WatchStatus) => void) | undefined;
}

export interface WatchSupervisor {
  /** Runs until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  status(): WatchStatus;
}

/** One list-watch while it runs. */
interface RunningWatch extends WatchDeps {
  readonly health: WatchHealth;
  readonly position: () => WatchPosition;
  readonly on: (step: WatchStep) => void;
  readonly count: (name: MetricName, value?: number) => void;
}

/** Its metrics have the dimension `resource`, the plural name. */
export function createWatchSupervisor(deps: WatchDeps): WatchSupervisor {
  const { clock, log, metrics } = deps;
  const health = createWatchHealth(clock, deps.onStatus);
  let position = START;
  const running: RunningWatch = {
    ...deps,
    health,
    position: () => position,
    on(step) {
      position = next(position, step);
    },
    count: (name, value = 1) => metrics.count(name, value, dimensionsOf(deps)),
  };
  return {
    run: signal =>
      keepGoing(signal, {
        step: end =>
          listOrWatch(running, end).catch((error: unknown) => (end.aborted ? undefined : recover(running, error, end))),
        failed: 'going on after a failed list or watch failed',
        pause: deps.timings.backoff.longest,
        clock,
        log,
      }),
    status: () => health.status(),
  };
}

const dimensionsOf = ({ resource }: Pick<WatchDeps, 'resource'>) => ({ resource: resource.type.resource });

async function listOrWatch(running: RunningWatch, signal: AbortSignal): Promise<void> {
  const from = running.position().from ?? (await list(running, signal));
  if (from === undefined) return running.clock.sleep(running.timings.notServedPoll, signal);
  await watchOnce(running, from, signal);
}

/** Answers the position to watch from; undefined when the resource is not served. */
async function list(running: RunningWatch, signal: AbortSignal): Promise<string | undefined> {
  const { log, health } = running;
  const from = await listAll(running, signal);
  running.on({ kind: 'listed', from });
  const message = from === undefined ? 'resource is not served, waiting for it' : 'listed';
  if (health.enter(from === undefined ? 'notServed' : 'synced')) log.info(dimensionsOf(running), message);
  return from;
}

/** The length of a silence after which the changes that a list finds may be as old as the last contact. */
const LONG_WITHOUT_A_WORD = minutes(5);

/** Reads all pages, and tells the consumer. */
async function listAll(running: RunningWatch, signal: AbortSignal): Promise<string | undefined> {
  const { clock, consumer, count, health } = running;
  running.on({ kind: 'listBegins' });
  const { state, lastContactTime: last } = health.status();
  const initial = state !== 'synced';
  const since = last !== undefined && isDue(clock.now(), addDuration(last, LONG_WITHOUT_A_WORD)) ? last : undefined;
  const uids = new Set<string>();
  let end: string | undefined;
  for await (const page of listPages(running, signal)) {
    end = page.kind === 'page' ? page.resourceVersion : undefined;
    for (const object of page.kind === 'page' ? page.items : []) {
      uids.add(object.metadata.uid);
      await consume(running, object, () => consumer.present(object, signal, initial, since), signal);
    }
  }
  // The second answer is believed, not the first: a proxy that answers 404 for a moment does not empty the cluster.
  const believed = end !== undefined || health.status().state === 'notServed';
  if (believed) count('ObjectsDeletedUnseen', await consumer.onlyPresent(uids, signal));
  if (end !== undefined) count('ListsCompleted');
  return end;
}

/** Watches until the stream ends. Throws when it ends badly. */
async function watchOnce(running: RunningWatch, from: string, signal: AbortSignal): Promise<void> {
  const { clock, random, resource, health, timings } = running;
  const startTime = clock.now();
  const guard = guardInactivity(clock, timings.longestInactivity, signal, `watching ${resource.type.resource}`);
  running.count('WatchStarted');
  let messages = 0;
  try {
    const stream = running.watch.watch(resource.type, {
      ...selectionOf(resource),
      resourceVersion: from,
      timeoutSeconds: Math.ceil((timings.watchTimeout * (1 + (random?.() ?? 0) / 5)) / 1000),
      signal: guard.signal,
    });
    for await (const event of guardedMessages(stream, guard)) {
      messages += 1;
      running.on({ kind: 'messageCame' });
      health.contact();
      await handle(running, event, signal);
      guard.alive();
    }
  } catch (error) {
    if (guard.expired()) running.on({ kind: 'fellSilent' });
    throw error;
  } finally {
    guard.dispose();
  }
  if (messages === 0 && durationBetween(startTime, clock.now()) < timings.backoff.first) {
    throw new RetryableError('the watch ended as soon as it was opened');
  }
  running.on({ kind: 'watchEnded' });
  health.contact();
}

async function handle(running: RunningWatch, event: WatchEvent, signal: AbortSignal): Promise<void> {
  if (event.type === 'BOOKMARK') return running.on({ kind: 'messageHandled', resourceVersion: event.resourceVersion });
  const { consumer } = running;
  const { object } = event;
  const call = (): Promise<void> =>
    event.type === 'DELETED' ? consumer.gone(object, signal) : consumer.present(object, signal, false);
  await consume(running, object, call, signal);
  running.on({ kind: 'messageHandled', resourceVersion: object.metadata.resourceVersion });
}

/** Runs the consumer for one object; an exception stays here. */
async function consume(
  running: RunningWatch,
  { metadata: { namespace, name } }: KubernetesObject,
  call: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  running.count('EventsSeen');
  try {
    await call();
  } catch (error) {
    if (signal.aborted) throw error;
    running.on({ kind: 'consumerFailed' });
    running.count('ConsumerFailed');
    const fields = { ...dimensionsOf(running), namespace, name, error: messageOf(error) };
    running.log.error(fields, 'handling an object failed');
  }
}

async function recover(running: RunningWatch, error: unknown, signal: AbortSignal): Promise<void> {
  const { clock, log, random, health, timings } = running;
  const expired = error instanceof WatchExpired;
  running.on({ kind: 'failed', expired });
  running.count(expired ? 'WatchExpired' : 'WatchFailed');
  const position = running.position();
  const isNew = health.failed(error);
  const fields = { ...dimensionsOf(running), error: messageOf(error), failures: position.failures };
  if (isNew) log.warn(fields, 'list or watch failed');
  const asked = error instanceof RetryableError ? error.retryAfterMs : undefined;
  await clock.sleep(delayAfter(position, { expired, asked }, timings.backoff, random), signal);
}
