/**
 * All list-watches over one queue: those of `resources.ts`, which run always, those that only a draining node needs, and those of the
 * kinds that FinalizerRules, the custom drain and templates name.
 */
import type { KindWatch } from '../shared/contract/cluster-event.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import type { ResourceType } from '../shared/domain/kubernetes-object.ts';
import { durationBetween, type EpochMs } from '../shared/domain/time.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { ClusterWatch } from '../shared/ports/cluster-watch.ts';
import type { MetricSink } from '../shared/ports/metrics.ts';
import type { RandomSource } from './backoff.ts';
import { createCustomResources } from './custom-resources.ts';
import { createListeners } from './listeners.ts';
import type { ResourceStats } from './stats.ts';
import { inBackground } from './keep-going.ts';
import type { Log } from './log.ts';
import type { MetricName } from './metric-names.ts';
import { createNodeMessages } from './node-messages.ts';
import { createNodePods, type SwitchedWatch } from './node-pods.ts';
import { queueingConsumer, type ObjectListener } from './queueing-consumer.ts';
import type { ChangeQueue } from './queue.ts';
import { DRAIN_RESOURCES, type WatchedResource } from './resources.ts';
import type { ForwarderSettings } from './settings.ts';
import { createSwitchedWatch } from './switched-watch.ts';
import { createTracker, type Tracker } from './tracker.ts';
import { createWatchSupervisor, type ObjectConsumer, type WatchSupervisor } from './watch.ts';
import type { WatchStatus } from './watch-status.ts';

export interface WatchesDeps {
  readonly watch: ClusterWatch;
  readonly queue: ChangeQueue;
  readonly clock: Clock;
  readonly metrics: MetricSink;
  readonly log: Log;
  readonly random?: RandomSource | undefined;
  readonly settings: ForwarderSettings;
  readonly resources: readonly WatchedResource[];
  /** Somebody asks to have everything published again. */
  readonly onRepublish: () => void;
}

export interface Watches {
  /** Runs until `signal` aborts. Once only. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** UIDs of all tracked objects. */
  uids(): readonly string[];
  /** Publishes an object as it was last seen, because everything is published again. */
  repeat(uid: string, signal: AbortSignal): Promise<void>;
  /** How the watch stands that the object of this UID asks for. */
  watchOf(uid: string): KindWatch | undefined;
  stats(now: EpochMs, startTime: EpochMs): readonly ResourceStats[];
}

/** One list-watch, and what it knows. */
interface Watch {
  readonly resource: WatchedResource;
  readonly tracker: Tracker;
  readonly consumer: ObjectConsumer;
  readonly supervisor: WatchSupervisor;
  run(signal: AbortSignal): Promise<void>;
}

/** Watches of drains and of custom kinds start and stop by themselves while `run` lasts. */
export function createWatches(deps: WatchesDeps): Watches {
  const { clock, metrics, log, random, queue, settings } = deps;
  const common = { clock, metrics, log, random, watch: deps.watch };
  /** The watches that know something now. */
  const running = new Set<Watch>();
  let whole: AbortSignal | undefined;
  const messages = createNodeMessages({
    clock,
    nodes: () => nodePods.nodes,
    trackers: () => trackersOf('Node'),
  });

  function createWatch(
    resource: WatchedResource,
    options: { listener?: ObjectListener | undefined; onStatus?: (status: WatchStatus) => void; dynamic?: true } = {},
  ): Watch {
    const timings = options.dynamic === true ? { ...settings.watch, ...settings.customResources } : settings.watch;
    const tracker = createTracker(resource, { watchedNodes: nodePods.nodes.names });
    const consumer = queueingConsumer({
      resource,
      tracker,
      queue,
      clock,
      metrics,
      listener: options.listener,
      toPublish: change => messages.toPublish(change),
    });
    const supervisor = createWatchSupervisor({ resource, consumer, timings, onStatus: options.onStatus, ...common });
    const watch: Watch = {
      resource,
      tracker,
      consumer,
      supervisor,
      async run(signal) {
        running.add(watch);
        await supervisor.run(signal);
        running.delete(watch);
      },
    };
    return watch;
  }

  interface Why {
    readonly changed: readonly string[];
    readonly resync?: true;
  }

  async function repeat(uid: string, why: Why, signal: AbortSignal, watches: Iterable<Watch> = running): Promise<void> {
    for (const { tracker, resource } of watches) {
      const change = tracker.repeat(uid, clock.now(), why);
      if (change === undefined) continue;
      countRepeat(resource.type);
      await queue.offer(change, signal);
    }
  }
  function countRepeat({ resource }: ResourceType): void {
    const name: MetricName = 'EventsRepeated';
    metrics.count(name, 1, { resource });
  }

  const customResources = createCustomResources({
    ...common,
    timings: { ...settings.watch, ...settings.customResources },
    kindsMax: settings.customResources.kindsMax,
    watcherOf(resource, onStatus) {
      const watch = createWatch(resource, { onStatus, dynamic: true });
      return {
        run: signal => watch.run(signal),
        allGone: async signal => void (await watch.consumer.onlyPresent(new Set(), signal)),
        async repeatAll(signal) {
          for (const uid of watch.tracker.uids()) await repeat(uid, { changed: [], resync: true }, signal, [watch]);
        },
      };
    },
    onChange(ownerUid) {
      if (whole === undefined) return;
      inBackground(repeat(ownerUid, { changed: ['watch'] }, whole), whole, log, 'telling how a watch stands failed');
    },
  });

  const drainWatches = DRAIN_RESOURCES.map((resource): SwitchedWatch =>
    createSwitchedWatch(
      onStatus => createWatch(resource, { onStatus, dynamic: true }),
      () => whole,
    ),
  );
  const nodePods = createNodePods({
    ...common,
    settings: { ...settings.nodePods, listTimeout: settings.watch.listTimeout, backoff: settings.watch.backoff },
    drainWatches,
    seed: pod => trackersOf('Pod').forEach(tracker => tracker.seed(pod)),
    release: nodeName => [...running].forEach(({ tracker }) => tracker.releaseNode(nodeName)),
    async onWatched(nodeName, signal) {
      const change = messages.nodeChange(nodeName, 'podsWatched');
      if (change === undefined) return;
      countRepeat(RESOURCES.Node);
      await queue.offer(change, signal);
    },
  });
  const listeners = createListeners({
    nodes: nodePods.nodes,
    want: (owner, role, kind) => customResources.want(owner, role, kind),
    onRepublish: deps.onRepublish,
  });
  const always = deps.resources.map(resource => createWatch(resource, { listener: listeners[resource.kind] }));
  const trackers = new Map<string, Tracker[]>();
  for (const { resource, tracker } of always) {
    trackers.set(resource.kind, [...(trackers.get(resource.kind) ?? []), tracker]);
  }

  function trackersOf(kind: string): readonly Tracker[] {
    return trackers.get(kind) ?? [];
  }

  return {
    async run(signal) {
      whole = signal;
      customResources.start(signal);
      nodePods.start(signal);
      await Promise.all(always.map(watch => watch.run(signal)));
    },
    uids: () => [...running].flatMap(({ tracker }) => [...tracker.uids()]),
    repeat: (uid, signal) => repeat(uid, { changed: [], resync: true }, signal),
    watchOf: uid => customResources.watchOf(uid),
    stats: (now, startTime) =>
      [...new Set([...always, ...running])].map(watch => {
        const { state, lastContactTime, problem } = watch.supervisor.status();
        return {
          resource: watch.resource.type.resource,
          optional: !always.includes(watch),
          state,
          objects: watch.tracker.size(),
          staleness: durationBetween(lastContactTime ?? startTime, now),
          problem,
        };
      }),
  };
}
