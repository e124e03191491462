/**
 * One supervised list-watch of one resource: it never ends before it is told to, whatever the API server or the consumer does.
 *
 *   start ─▶ list ─ok─▶ watch ─ends─▶ watch from the last resourceVersion
 *             │ ▲          ├─ error ─▶ after a delay, watch again; after several in a row, list
 *   not served│ │          └─ 410, or silence ─▶ list, compare, report what is gone
 *    (30 s)   └─┘
 *
 * - W1 objects missing from a relist are reported as gone, so no deletion is lost.
 * - W2 an exception of the consumer costs that object a delay, until the next list, and nothing else.
 * - W3 a stream that says nothing, not even a bookmark, is not trusted: it is cut, and a list looks for what was missed.
 */
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { durationBetween, toDurationMs, type DurationMs } from '../shared/domain/time.ts';
import { messageOf, RetryableError } from '../shared/errors.ts';
import type { Clock } from '../shared/ports/clock.ts';
import { WatchExpired, type ClusterWatch, type WatchEvent } from '../shared/ports/cluster-watch.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import { backoffDelay, type BackoffRange, type RandomSource } from './backoff.ts';
import { guardSilence, guardedMessages } from './silence.ts';
import { listPages, selectionOf } from './list-pages.ts';
import type { Log } from './log.ts';
import type { MetricName } from './metric-names.ts';
import type { WatchedResource } from './resources.ts';
import { createStanding, type WatchStatus } from './watch-standing.ts';

/** Receives the objects. Each call may wait (for room in the queue); the supervisor reads on only then. */
export interface ObjectConsumer {
  /** `initial`: found by the first list, so it was probably there before this process. */
  present(object: KubernetesObject, signal: AbortSignal, initial: boolean): Promise<void>;
  gone(object: KubernetesObject, signal: AbortSignal): Promise<void>;
  /** A list was read to its end: whatever else was known is gone. Answers how many that were. */
  onlyPresent(uids: ReadonlySet<string>, signal: AbortSignal): Promise<number>;
}

export interface WatchTimings {
  readonly pageSize: number;
  /** How long the server is asked to keep a watch open. */
  readonly watchTimeout: DurationMs;
  /** Servers send a bookmark about once a minute: a watch without any message for this long is cut. The only guard against silence. */
  readonly longestSilence: DurationMs;
  /** How long one page of a list may take. */
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

/** After this many failures in a row the next attempt starts with a list. */
const FAILURES_BEFORE_LIST = 3;

/** Its metrics have the dimension `resource`, the plural name. */
export function createWatchSupervisor(deps: WatchDeps): WatchSupervisor {
  const { resource, clock, consumer, timings } = deps;
  const dimensions = { resource: resource.type.resource };
  const count = (name: MetricName, value = 1): void => deps.metrics.count(name, value, dimensions);

  const standing = createStanding(clock, deps.onStatus);
  /** Where the next watch starts; undefined: list first. */
  let position: string | undefined;
  let failures = 0;
  /** The consumer threw: list again once this watch is over, so that the object is not lost (W2). */
  let unhandled = false;

  /** Runs the consumer for one object; an exception stays here. */
  async function tell(object: KubernetesObject, call: () => Promise<void>, signal: AbortSignal): Promise<void> {
    count('EventsSeen');
    try {
      await call();
    } catch (error) {
      if (signal.aborted) throw error;
      unhandled = true;
      count('ConsumerFailed');
      deps.log.error(
        { ...dimensions, namespace: object.metadata.namespace, name: object.metadata.name, error: messageOf(error) },
        'handling an object failed',
      );
    }
  }

  /** Reads all pages. Answers the position to watch from; undefined when the resource is not served. */
  async function listAll(signal: AbortSignal): Promise<string | undefined> {
    unhandled = false;
    const initial = standing.status().state !== 'synced';
    const uids = new Set<string>();
    let end: string | undefined;
    for await (const page of listPages(deps, signal)) {
      end = page.kind === 'page' ? page.resourceVersion : undefined;
      for (const object of page.kind === 'page' ? page.items : []) {
        uids.add(object.metadata.uid);
        await tell(object, () => consumer.present(object, signal, initial), signal);
      }
    }
    // Believed when it is said twice: a proxy that answers 404 for a moment does not empty the cluster.
    const believed = end !== undefined || standing.status().state === 'notServed';
    if (believed) count('ObjectsDeletedUnseen', await consumer.onlyPresent(uids, signal));
    if (end !== undefined) count('ListsCompleted');
    return end;
  }

  /** Watches until the stream ends. Throws when it ends badly. */
  async function watchOnce(from: string, signal: AbortSignal): Promise<void> {
    const startTime = clock.now();
    const guard = guardSilence(clock, timings.longestSilence, signal, `watching ${resource.type.resource}`);
    count('WatchStarted');
    let messages = 0;
    try {
      const stream = deps.watch.watch(resource.type, {
        ...selectionOf(resource),
        resourceVersion: from,
        timeoutSeconds: Math.ceil((timings.watchTimeout * (1 + (deps.random?.() ?? 0) / 5)) / 1000),
        signal: guard.signal,
      });
      for await (const event of guardedMessages(stream, guard)) {
        messages += 1;
        failures = 0;
        standing.contact();
        await handle(event, signal);
        guard.alive();
      }
    } catch (error) {
      // After silence the position is doubtful: something may have been said that did not arrive (W3).
      if (guard.expired()) position = undefined;
      throw error;
    } finally {
      guard.dispose();
    }
    if (messages === 0 && durationBetween(startTime, clock.now()) < timings.backoff.first) {
      throw new RetryableError('the watch ended as soon as it was opened');
    }
    failures = 0;
    standing.contact();
  }

  async function handle(event: WatchEvent, signal: AbortSignal): Promise<void> {
    if (event.type === 'BOOKMARK') {
      position = event.resourceVersion;
      return;
    }
    const { object } = event;
    const call = (): Promise<void> =>
      event.type === 'DELETED' ? consumer.gone(object, signal) : consumer.present(object, signal, false);
    await tell(object, call, signal);
    position = object.metadata.resourceVersion;
  }

  /** One step: list or watch. */
  async function step(signal: AbortSignal): Promise<void> {
    if (position === undefined) {
      position = await listAll(signal);
      if (position === undefined) {
        failures = 0;
        if (standing.enter('notServed')) deps.log.info(dimensions, 'resource is not served, waiting for it');
        await clock.sleep(timings.notServedPoll, signal);
        return;
      }
      if (standing.enter('synced')) deps.log.info(dimensions, 'listed');
    }
    await watchOnce(position, signal);
    if (unhandled) position = undefined;
  }

  async function recover(error: unknown, signal: AbortSignal): Promise<void> {
    failures += 1;
    const expired = error instanceof WatchExpired;
    if (expired) count('WatchExpired');
    else count('WatchFailed');
    if (expired || failures >= FAILURES_BEFORE_LIST || unhandled) position = undefined;
    // An expired position is in the order of things: list at once, unless it keeps happening.
    const backoff = backoffDelay(expired ? failures - 1 : failures, timings.backoff, deps.random);
    const asked = error instanceof RetryableError ? (error.retryAfterMs ?? 0) : 0;
    const delay = toDurationMs(Math.max(backoff, Math.min(asked, timings.backoff.longest)));
    const isNews = standing.failed(error);
    if (isNews) deps.log.warn({ ...dimensions, error: messageOf(error), failures }, 'list or watch failed');
    await clock.sleep(delay, signal);
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        await step(signal)
          .catch((error: unknown) => (signal.aborted ? undefined : recover(error, signal)))
          // An abort ends the run. Should recovering itself fail, the loop goes on, and does not spin.
          .catch(() => clock.sleep(timings.backoff.longest, signal))
          .catch(() => undefined);
      }
    },
    status: () => standing.status(),
  };
}
