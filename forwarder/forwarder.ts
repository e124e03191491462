/**
 * The forwarder over its ports: one supervised list-watch per resource, one tracker each, one queue, one publisher.
 *
 *   ClusterWatch ─▶ watch ─▶ tracker (project, compare) ─▶ queue (latest state, floor) ─▶ publish ─▶ EventBus
 *                                 └─ resync: everything again, every few hours ─▲
 *
 * It knows no policy and keeps no state across restarts: what exists at the start is published as `Added`, and consumers look
 * at the live object anyway. Time and chance come from outside only, so a simulation runs this very code.
 */
import { setMaxListeners } from 'node:events';
import type { DurationMs, EpochMs } from '../shared/domain/time.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { ClusterWatch } from '../shared/ports/cluster-watch.ts';
import type { EventBus } from '../shared/ports/event-bus.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import type { RandomSource } from './backoff.ts';
import { sendHeartbeats } from './heartbeat.ts';
import { SILENT_LOG, type Log } from './log.ts';
import { createPublishFloor } from './publish-floor.ts';
import { createPublisher } from './publish.ts';
import { createChangeQueue } from './queue.ts';
import { assessReadiness, type Readiness } from './readiness.ts';
import { createResync } from './resync.ts';
import { WATCHED_RESOURCES, type WatchedResource } from './resources.ts';
import { DEFAULT_SETTINGS, type ForwarderSettings } from './settings.ts';
import type { ForwarderStats } from './stats.ts';
import { createWatches } from './watches.ts';

export interface ForwarderDeps {
  readonly watch: ClusterWatch;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly metrics: MetricSink;
  readonly log?: Log;
  /** For jitter; without it every delay is exact. */
  readonly random?: RandomSource;
  /** `cluster` and whatever differs from `DEFAULT_SETTINGS`. */
  readonly config: Pick<ForwarderSettings, 'cluster'> & Partial<ForwarderSettings>;
  readonly resources?: readonly WatchedResource[];
}

export interface Forwarder {
  /** Starts watching and publishing. Once only. */
  start(): void;
  /** Stops watching, publishes what is queued for at most `drainTimeout` (0: not at all, as in a crash), ends. Safe to call twice. */
  stop(options?: { drainTimeout?: DurationMs }): Promise<void>;
  ready(): Readiness;
  stats(): ForwarderStats;
}

/** Does nothing before `start`; throws there when it is started twice: after `stop`, create another one. */
export function createForwarder(deps: ForwarderDeps): Forwarder {
  const settings: ForwarderSettings = { ...DEFAULT_SETTINGS, ...deps.config };
  const { clock, metrics, random, log = SILENT_LOG } = deps;
  const watching = unlimitedAbortController();
  const publishing = unlimitedAbortController();

  const queue = createChangeQueue(settings.queuedObjectsMax, createPublishFloor(settings.publishFloor));
  const common = { clock, metrics, log, random };

  const watches = createWatches({
    watch: deps.watch,
    queue,
    settings,
    resources: deps.resources ?? WATCHED_RESOURCES,
    onRepublish: () => resync.request(),
    ...common,
  });
  const publisher = createPublisher({
    cluster: settings.cluster,
    watchOf: uid => watches.watchOf(uid),
    queue,
    bus: deps.bus,
    timings: settings.publish,
    ...common,
  });
  const resync = createResync({
    settings: settings.resync,
    clock,
    log,
    keys: () => watches.uids(),
    publish: (uid, signal) => watches.repeat(uid, signal),
  });

  let startTime: EpochMs | undefined;
  let watchesEnded: Promise<void> = Promise.resolve();
  let resyncEnded: Promise<void> = Promise.resolve();
  let publisherEnded: Promise<void> = Promise.resolve();
  let heartbeatsEnded: Promise<void> = Promise.resolve();
  let stopped: Promise<void> | undefined;

  async function stop(drainTimeout: DurationMs): Promise<void> {
    watching.abort(new Error('stopping'));
    await watchesEnded;
    await resyncEnded;
    queue.liftFloor();
    if (drainTimeout > 0 && queue.depth() > 0) await drain(drainTimeout);
    publishing.abort(new Error('stopping'));
    await publisherEnded;
    await heartbeatsEnded;
    log.info({ unpublished: queue.depth() }, 'stopped');
  }

  async function drain(timeout: DurationMs): Promise<void> {
    const over = new AbortController();
    try {
      await Promise.race([queue.emptied(over.signal), clock.sleep(timeout, over.signal)]);
    } finally {
      over.abort(new Error('over'));
    }
  }

  function stats(): ForwarderStats {
    const now = clock.now();
    return {
      resources: watches.stats(now, startTime ?? now),
      queueDepth: queue.depth(),
      bus: publisher.problem(),
    };
  }

  const ready = (): Readiness => assessReadiness(stats(), clock.now(), settings.staleAfter);

  async function beat(): Promise<void> {
    const { cluster, heartbeatPeriod: period } = settings;
    if (period === undefined) return;
    await sendHeartbeats(
      { cluster, period, bus: deps.bus, clock, log, ready: () => ready().ready, stats },
      watching.signal,
    );
  }

  return {
    start() {
      if (startTime !== undefined) throw new Error('a forwarder is started once; create another one');
      startTime = clock.now();
      watchesEnded = watches.run(watching.signal);
      resyncEnded = resync.run(watching.signal);
      publisherEnded = publisher.run(publishing.signal);
      heartbeatsEnded = beat();
    },
    stop: options => (stopped ??= stop(options?.drainTimeout ?? settings.drainTimeout)),
    ready,
    stats,
  };
}

/** Every watch listens to the one signal, and Node warns of a leak above ten listeners. */
function unlimitedAbortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
