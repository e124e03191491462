/** The settings of the forwarder that can be tuned, and their defaults. */
import { hours, minutes, seconds, type DurationMs } from '../shared/domain/time.ts';
import type { NodePodsSettings } from './node-pods.ts';
import type { PublishIntervalSettings } from './publish-interval.ts';
import type { PublishTimings } from './publish.ts';
import type { ResyncSettings } from './resync.ts';
import type { WatchTimings } from './watch.ts';

export interface ForwarderSettings {
  /** Stands in every event, so that one bus can serve several clusters. */
  readonly cluster: string;
  /** The most objects that wait for the bus; after that, watches wait. About 1 KB each. */
  readonly queuedObjectsMax: number;
  /** A resource of which nothing was heard for so long is stale: the forwarder is not ready. */
  readonly staleAfter: DurationMs;
  /** Time that `stop` waits for the queue to be published. */
  readonly drainTimeout: DurationMs;
  /** A sign of life on the bus, so that an alarm can ring without it; without a period, none. */
  readonly heartbeatPeriod?: DurationMs;
  readonly publishInterval: PublishIntervalSettings;
  readonly resync: ResyncSettings;
  readonly watch: WatchTimings;
  /** For the kinds that FinalizerRules and the custom drain name. */
  readonly customResources: Pick<WatchTimings, 'notServedPoll' | 'backoff'> & { readonly kindsMax: number };
  readonly nodePods: Pick<NodePodsSettings, 'linger' | 'readyWithin'>;
  readonly publish: PublishTimings;
}

export const DEFAULT_SETTINGS: Omit<ForwarderSettings, 'cluster'> = {
  queuedObjectsMax: 50_000,
  staleAfter: minutes(5),
  drainTimeout: seconds(10),
  publishInterval: {
    period: seconds(30),
    burst: 3,
    ofPart: {
      // Pods that go together are looked at together, and the last of them soon.
      pods: { period: seconds(0.25), burst: 1 },
      // A drain and its end are four changes, most of them its own: who asks again after it waits for none of them.
      drain: { burst: 12 },
      unschedulable: { burst: 12 },
    },
  },
  resync: { period: hours(4), perSecondMax: 20 },
  customResources: {
    notServedPoll: minutes(1),
    backoff: { first: seconds(5), longest: minutes(5) },
    kindsMax: 40,
  },
  nodePods: { linger: minutes(5), readyWithin: seconds(30) },
  watch: {
    pageSize: 200,
    watchTimeout: minutes(5),
    // Two bookmarks and a half.
    longestInactivity: seconds(150),
    listTimeout: minutes(1),
    notServedPoll: seconds(30),
    backoff: { first: seconds(1), longest: seconds(30) },
  },
  publish: {
    callBackoff: { first: seconds(1), longest: seconds(20) },
    entryBackoff: { first: seconds(1), longest: minutes(1) },
  },
};
