/**
 * The forwarder over its ports: one supervised list-watch per resource, one tracker each, one queue, one publisher.
 *
 *   ClusterWatch ─▶ watch ─▶ tracker (project, compare) ─▶ queue (latest state, interval) ─▶ publish ─▶ EventBus
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
import { createPublishInterval } from './publish-interval.ts';
import { createPublisher, type Publisher } from './publish.ts';
import { createChangeQueue, type ChangeQueue } from './queue.ts';
import { assessReadiness, type Readiness } from './readiness.ts';
import { createResync, type Resync } from './resync.ts';
import { WATCHED_RESOURCES, type WatchedResource } from './resources.ts';
import { DEFAULT_SETTINGS, type ForwarderSettings } from './settings.ts';
import type { ForwarderStats } from './stats.ts';
import { createWatches, type Watches } from './watches.ts';

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

interface Components {
  readonly deps: ForwarderDeps;
  readonly settings: ForwarderSettings;
  readonly log: Log;
  readonly queue: ChangeQueue;
  readonly watches: Watches;
  readonly publisher: Publisher;
  readonly resync: Resync;
}

/** A forwarder that was started. */
interface RunningForwarder {
  readonly time: EpochMs;
  readonly watchesEnded: Promise<void>;
  readonly resyncEnded: Promise<void>;
  readonly publisherEnded: Promise<void>;
  readonly heartbeatsEnded: Promise<void>;
}

/** Does nothing before `start`; throws there when it is started twice: after `stop`, create another one. */
export function createForwarder(deps: ForwarderDeps): Forwarder {
  const components = connect(deps);
  const { settings } = components;
  const watching = unlimitedAbortController();
  const publishing = unlimitedAbortController();
  let started: RunningForwarder | undefined;
  let stopped: Promise<void> | undefined;

  const stats = (): ForwarderStats => statsOf(components, started?.time);
  const ready = (): Readiness => assessReadiness(stats(), deps.clock.now(), settings.staleAfter);
  return {
    start() {
      if (started !== undefined) throw new Error('a forwarder is started once; create another one');
      started = {
        time: deps.clock.now(),
        watchesEnded: components.watches.run(watching.signal),
        resyncEnded: components.resync.run(watching.signal),
        publisherEnded: components.publisher.run(publishing.signal),
        heartbeatsEnded: beat(components, { ready: () => ready().ready, stats }, watching.signal),
      };
    },
    stop: options =>
      (stopped ??= stop(components, started, {
        watching,
        publishing,
        drainTimeout: options?.drainTimeout ?? settings.drainTimeout,
      })),
    ready,
    stats,
  };
}

/** Puts the parts together; none of them runs yet. */
function connect(deps: ForwarderDeps): Components {
  const settings: ForwarderSettings = { ...DEFAULT_SETTINGS, ...deps.config };
  const { clock, metrics, random, log = SILENT_LOG } = deps;
  const queue = createChangeQueue(settings.queuedObjectsMax, createPublishInterval(settings.publishInterval));
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
  return { deps, settings, log, queue, watches, publisher, resync };
}

interface StopOptions {
  readonly watching: AbortController;
  readonly publishing: AbortController;
  readonly drainTimeout: DurationMs;
}

async function stop(
  { deps, log, queue }: Components,
  started: RunningForwarder | undefined,
  { watching, publishing, drainTimeout }: StopOptions,
): Promise<void> {
  watching.abort(new Error('stopping'));
  await started?.watchesEnded;
  await started?.resyncEnded;
  queue.dropInterval();
  if (drainTimeout > 0 && queue.depth() > 0) await drain(queue, deps.clock, drainTimeout);
  publishing.abort(new Error('stopping'));
  await started?.publisherEnded;
  await started?.heartbeatsEnded;
  log.info({ unpublished: queue.depth() }, 'stopped');
}

async function drain(queue: ChangeQueue, clock: Clock, timeout: DurationMs): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([queue.emptied(over.signal), clock.sleep(timeout, over.signal)]);
  } finally {
    over.abort(new Error('over'));
  }
}

function statsOf({ deps, watches, queue, publisher }: Components, startTime: EpochMs | undefined): ForwarderStats {
  const now = deps.clock.now();
  return {
    resources: watches.stats(now, startTime ?? now),
    queueDepth: queue.depth(),
    bus: publisher.problem(),
  };
}

async function beat(
  { deps, settings, log }: Components,
  reports: { readonly ready: () => boolean; readonly stats: () => ForwarderStats },
  signal: AbortSignal,
): Promise<void> {
  const { cluster, heartbeatPeriod: period } = settings;
  if (period === undefined) return;
  await sendHeartbeats({ cluster, period, bus: deps.bus, clock: deps.clock, log, ...reports }, signal);
}

/** Every watch listens to the one signal, and Node warns of a leak above ten listeners. */
function unlimitedAbortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
