/**
 * Changes that wait for the bus: at most one entry per object and detail-type. So an outage of the bus costs memory by the number of objects,
 * never by the number of events. The latest state of an object wins. `queue-entries.ts` keeps the entries; who has to wait, waits here.
 *
 * - Q1 nothing is lost: an offered change is published, or merged into a newer one of the same object that is.
 * - Q2 the bound holds: an offer for an object without an entry waits for room. The watch that offers it stops reading, and what
 *   it misses meanwhile comes with its resume or relist.
 * - Q3 an object is in at most one batch at a time.
 */
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../shared/domain/time.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import type { MetricName } from './metric-names.ts';
import type { PublishInterval } from './publish-interval.ts';
import {
  availabilityOf,
  createQueueEntries,
  giveBackChange,
  dropPublishInterval,
  putChange,
  settleChange,
  takeChanges,
  type Availability,
  type QueuedChange,
} from './queue-entries.ts';
import type { WatchedResource } from './resources.ts';
import { keyOfChange, type ObjectChange, type Tracker } from './tracker.ts';
import type { ObjectConsumer } from './watch.ts';

/** A queued change; `key` names its entry. */
export const keyOf = ({ change }: QueuedChange): string => keyOfChange(change);

export interface ChangeQueue {
  /** Queues the change; waits while the queue is full. Resolves to whether it was merged. Rejects when `signal` aborts first. */
  offer(change: ObjectChange, signal: AbortSignal): Promise<'queued' | 'merged'>;
  /** Up to `limit` changes, oldest first. Each must end in `published` or `giveBack`. */
  take(limit: number, now: EpochMs): readonly QueuedChange[];
  published(key: string, now: EpochMs): void;
  /**
   * Puts a taken change back in its place. With `notBefore` it goes to the end, and is not taken before then: changes that cannot
   * be published do not stand in the way of those that can.
   */
  giveBack(key: string, notBefore?: EpochMs): void;
  /** From now on no change waits for the interval: the forwarder stops. */
  dropInterval(): void;
  availability(now: EpochMs): Availability;
  /** Resolves at the next offer. Rejects when `signal` aborts first. */
  offered(signal: AbortSignal): Promise<void>;
  /** Resolves when nothing waits or is in flight any more. Rejects when `signal` aborts first. */
  emptied(signal: AbortSignal): Promise<void>;
  /** Number of objects that wait or are in flight. */
  depth(): number;
}

/**
 * @param objectsMax entries; an offer for one more waits (Q2)
 * @param publishInterval without it no change waits for the one before
 */
export function createChangeQueue(objectsMax: number, publishInterval?: PublishInterval): ChangeQueue {
  const entries = createQueueEntries(publishInterval);
  const { byKey } = entries;
  const room = createGate();
  const arrival = createGate();
  const empty = createGate();
  return {
    async offer(change, signal) {
      signal.throwIfAborted();
      const key = keyOfChange(change);
      while (!byKey.has(key) && byKey.size >= objectsMax) await room.opened(signal);
      const { outcome, isSooner } = putChange(entries, change);
      // The publisher that waits for the earliest change need not look again for a later one.
      if (isSooner) arrival.open();
      return outcome;
    },
    take: (limit, now) => takeChanges(entries, limit, now),
    published(key, now) {
      if (!settleChange(entries, key, now)) return;
      room.open();
      if (byKey.size === 0) empty.open();
    },
    giveBack: (key, notBefore) => giveBackChange(entries, key, notBefore),
    dropInterval() {
      dropPublishInterval(entries);
      arrival.open();
    },
    availability: now => availabilityOf(entries, now),
    offered: signal => arrival.opened(signal),
    async emptied(signal) {
      while (byKey.size > 0) await empty.opened(signal);
    },
    depth: () => byKey.size,
  };
}

/** Lets everybody pass who waits at the moment it is opened. */
function createGate(): { opened(signal: AbortSignal): Promise<void>; open(): void } {
  const waiting = new Set<() => void>();
  return {
    opened(signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const pass = (): void => {
          waiting.delete(pass);
          signal.removeEventListener('abort', refuse);
          resolve();
        };
        const refuse = (): void => {
          waiting.delete(pass);
          reject(signal.reason);
        };
        waiting.add(pass);
        signal.addEventListener('abort', refuse, { once: true });
      });
    },
    open() {
      for (const pass of waiting) pass();
    },
  };
}

/** Hears of every tracked object of a resource, whether or not something is published. Must not throw. */
export interface ObjectListener {
  present(object: KubernetesObject): void;
  gone(uid: string): void;
}

export interface QueueingConsumerDeps {
  readonly resource: WatchedResource;
  readonly tracker: Tracker;
  readonly queue: ChangeQueue;
  readonly clock: Clock;
  readonly metrics: MetricSink;
  readonly listener?: ObjectListener | undefined;
  /** Event that is published of a change. Default: the change. */
  readonly toPublish?: (change: ObjectChange) => readonly ObjectChange[];
}

/**
 * Puts into the queue what a watch sees, compared with what was known. The tracker remembers a change as soon as it is offered. That is safe
 * because an offer is refused only when the forwarder stops, and the next one starts with an empty memory.
 */
export function queueingConsumer(deps: QueueingConsumerDeps): ObjectConsumer {
  const { tracker, queue, clock, listener, toPublish = change => [change] } = deps;
  const dimensions = { resource: deps.resource.type.resource };
  const count = (name: MetricName): void => deps.metrics.count(name, 1, dimensions);

  async function offer(change: ObjectChange | undefined, signal: AbortSignal): Promise<void> {
    if (change === undefined) return count('EventsSuppressed');
    for (const each of toPublish(change)) {
      if ((await queue.offer(each, signal)) === 'merged') count('EventsCoalesced');
    }
  }

  return {
    present(object, signal, initial, since) {
      listener?.present(object);
      return offer(tracker.observe(object, clock.now(), initial, since), signal);
    },
    gone(object, signal) {
      listener?.gone(object.metadata.uid);
      return offer(tracker.removeObject(object, clock.now()), signal);
    },
    async onlyPresent(uids, signal) {
      let gone = 0;
      for (const uid of tracker.uids()) {
        if (uids.has(uid)) continue;
        listener?.gone(uid);
        await offer(tracker.remove(uid, clock.now()), signal);
        gone += 1;
      }
      return gone;
    },
  };
}
