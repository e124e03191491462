/** What can be tuned in the forwarder, and the values it has when nobody does. */
import { minutes, seconds, type DurationMs } from '../shared/domain/time.ts';
import type { PublishTimings } from './publish.ts';
import type { WatchTimings } from './watch.ts';

export interface ForwarderSettings {
  /** Stands in every event, so that one bus can serve several clusters. */
  readonly cluster: string;
  /** The most objects that wait for the bus; after that, watches wait. About 1 KB each. */
  readonly queuedObjectsMax: number;
  /** A resource of which nothing was heard for so long is stale: the forwarder is not ready. */
  readonly staleAfter: DurationMs;
  /** How long `stop` waits for the queue to be published. */
  readonly drainTimeout: DurationMs;
  /** A sign of life on the bus, so that an alarm can ring without it; without a period, none. */
  readonly heartbeatPeriod?: DurationMs;
  readonly watch: WatchTimings;
  readonly publish: PublishTimings;
}

export const DEFAULT_SETTINGS: Omit<ForwarderSettings, 'cluster'> = {
  queuedObjectsMax: 50_000,
  staleAfter: minutes(5),
  drainTimeout: seconds(10),
  watch: {
    pageSize: 500,
    watchTimeout: minutes(5),
    // Two bookmarks and a half.
    longestSilence: seconds(150),
    listTimeout: minutes(1),
    notServedPoll: seconds(30),
    backoff: { first: seconds(1), longest: seconds(30) },
  },
  publish: {
    callBackoff: { first: seconds(1), longest: seconds(20) },
    entryBackoff: { first: seconds(1), longest: minutes(1) },
  },
};
