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
import type { KindWatcher } from './kind-watch.ts';
import { createNodeMessages, type NodeMessages } from './node-messages.ts';
import { createNodePods, type SwitchedWatch } from './node-pods.ts';
import { type ChangeQueue, type ObjectListener, queueingConsumer } from './queue.ts';
import { DRAIN_RESOURCES, type WatchedResource } from './resources.ts';
import type { ForwarderSettings } from './settings.ts';
import { createSwitchedWatch } from './switched-watch.ts';
import { createTracker, type Tracker } from './tracker.ts';
import { createWatchSupervisor, type ObjectConsumer, type WatchSupervisor } from './watch.ts';
import type { WatchStatus } from './watch-status.ts';
import type { WatchedNodeNames } from './watched-nodes.ts';

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
  /** State of the watch that the object of this UID asks for. */
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

interface CreateWatch {
  /** `watchedNodes`: names of the nodes whose pods are published. */
  readonly watchedNodes: WatchedNodeNames;
  readonly toPublish: NodeMessages['toPublish'];
  readonly listener?: ObjectListener | undefined;
  readonly onStatus?: ((status: WatchStatus) => void) | undefined;
  /** It starts and stops while the forwarder runs. */
  readonly isSwitched?: true;
  /** The watches that know something now. */
  readonly running: Set<Watch>;
}

function createWatch(deps: WatchesDeps, resource: WatchedResource, options: CreateWatch): Watch {
  const { clock, metrics, queue, settings } = deps;
  const { listener, onStatus, running, toPublish, watchedNodes } = options;
  const timings = options.isSwitched === true ? { ...settings.watch, ...settings.customResources } : settings.watch;
  const tracker = createTracker(resource, { watchedNodes });
  const consumer = queueingConsumer({ resource, tracker, queue, clock, metrics, listener, toPublish });
  const supervisor = createWatchSupervisor({ ...commonOf(deps), resource, consumer, timings, onStatus });
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

const commonOf = ({ clock, metrics, log, random, watch }: WatchesDeps) => ({ clock, metrics, log, random, watch });

interface RepeatReason {
  readonly changed: readonly string[];
  readonly resync?: true;
}
const EVERYTHING: RepeatReason = { changed: [], resync: true };

/** Publishes an object as it was last seen, by whichever of the watches knows it. */
async function repeat(
  { clock, metrics, queue }: Pick<WatchesDeps, 'clock' | 'metrics' | 'queue'>,
  watches: Iterable<Watch>,
  { uid, why }: { readonly uid: string; readonly why: RepeatReason },
  signal: AbortSignal,
): Promise<void> {
  for (const { tracker, resource } of watches) {
    const change = tracker.repeat(uid, clock.now(), why);
    if (change === undefined) continue;
    countRepeat(metrics, resource.type);
    await queue.offer(change, signal);
  }
}

function countRepeat(metrics: MetricSink, { resource }: ResourceType): void {
  const name: MetricName = 'EventsRepeated';
  metrics.count(name, 1, { resource });
}

/** The watch of a custom kind, as `custom-resources.ts` runs it. */
const kindWatcher = (deps: WatchesDeps, watch: Watch): KindWatcher => ({
  run: signal => watch.run(signal),
  allGone: async signal => void (await watch.consumer.onlyPresent(new Set(), signal)),
  async repeatAll(signal) {
    for (const uid of watch.tracker.uids()) await repeat(deps, [watch], { uid, why: EVERYTHING }, signal);
  },
});

function statsOf({ resource, supervisor, tracker }: Watch, optional: boolean, startTime: EpochMs, now: EpochMs) {
  const { state, lastContactTime, problem } = supervisor.status();
  return {
    resource: resource.type.resource,
    optional,
    state,
    objects: tracker.size(),
    staleness: durationBetween(lastContactTime ?? startTime, now),
    problem,
  };
}

/** Watches of drains and of custom kinds start and stop by themselves while `run` lasts. */
export function createWatches(deps: WatchesDeps): Watches {
  const { clock, metrics, log, queue, settings } = deps;
  const common = commonOf(deps);
  const running = new Set<Watch>();
  let whole: AbortSignal | undefined;
  const messages = createNodeMessages({
    clock,
    nodes: () => nodePods.nodes,
    trackers: () => trackersOf('Node'),
  });
  const create = (resource: WatchedResource, options: Pick<CreateWatch, 'listener' | 'onStatus' | 'isSwitched'>) =>
    createWatch(deps, resource, {
      ...options,
      running,
      watchedNodes: nodePods.nodes.names,
      toPublish: change => messages.toPublish(change),
    });

  const customResources = createCustomResources({
    ...common,
    timings: { ...settings.watch, ...settings.customResources },
    kindsMax: settings.customResources.kindsMax,
    watcherOf: (resource, onStatus) => kindWatcher(deps, create(resource, { onStatus, isSwitched: true })),
    onChange(uid) {
      if (whole === undefined) return;
      const told = repeat(deps, running, { uid, why: { changed: ['watch'] } }, whole);
      inBackground(told, whole, log, 'telling how a watch stands failed');
    },
  });

  const drainWatches = DRAIN_RESOURCES.map((resource): SwitchedWatch =>
    createSwitchedWatch(
      onStatus => create(resource, { onStatus, isSwitched: true }),
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
      countRepeat(metrics, RESOURCES.Node);
      await queue.offer(change, signal);
    },
  });
  const listeners = createListeners({
    nodes: nodePods.nodes,
    want: (owner, role, kind) => customResources.want(owner, role, kind),
    onRepublish: deps.onRepublish,
  });
  const always = deps.resources.map(resource => create(resource, { listener: listeners[resource.kind] }));
  const trackersOf = (kind: string): readonly Tracker[] =>
    always.filter(({ resource }) => resource.kind === kind).map(({ tracker }) => tracker);

  return {
    async run(signal) {
      whole = signal;
      customResources.start(signal);
      nodePods.start(signal);
      await Promise.all(always.map(watch => watch.run(signal)));
    },
    uids: () => [...running].flatMap(({ tracker }) => [...tracker.uids()]),
    repeat: (uid, signal) => repeat(deps, running, { uid, why: EVERYTHING }, signal),
    watchOf: uid => customResources.watchOf(uid),
    stats: (now, startTime) =>
      [...new Set([...always, ...running])].map(watch => statsOf(watch, !always.includes(watch), startTime, now)),
  };
}
