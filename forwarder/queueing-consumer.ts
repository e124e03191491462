/** What a watch sees, compared with what was known, into the queue. */
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import type { MetricName } from './metric-names.ts';
import type { ChangeQueue } from './queue.ts';
import type { WatchedResource } from './resources.ts';
import type { ObjectChange, Tracker } from './tracker.ts';
import type { ObjectConsumer } from './watch.ts';

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
  /** What is published of a change. Default: the change. */
  readonly toPublish?: (change: ObjectChange) => readonly ObjectChange[];
}

/**
 * The tracker remembers a change as soon as it is offered. That is safe because an offer is refused only when the forwarder
 * stops, and the next one starts with an empty memory.
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
    present(object, signal, initial) {
      listener?.present(object);
      return offer(tracker.observe(object, clock.now(), initial), signal);
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
