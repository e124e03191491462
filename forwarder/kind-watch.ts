/** Watches one custom kind: looks until it is served, watches it, and looks again once it is no longer served. */
import type { KindWatch } from '../shared/contract/cluster-event.ts';
import type { ResourceType } from '../shared/domain/kubernetes-object.ts';
import { toIsoText, type EpochMs } from '../shared/domain/time.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { ClusterWatch } from '../shared/ports/cluster-watch.ts';
import { backoffDelay, type RandomSource } from './backoff.ts';
import {
  FIRST_LOOK,
  nextKind,
  stateOfError,
  type KindState,
  type KindStep,
  type KindTransition,
} from './kind-states.ts';
import type { Log } from './log.ts';
import { customResource, type KindRole, type WatchedResource } from './resources.ts';
import { guardInactivity, linkAbort, orAborted } from './inactivity.ts';
import type { WantedKind } from './wanted-kinds.ts';
import type { WatchTimings } from './watch.ts';
import type { WatchStatus } from './watch-status.ts';

/** A list-watch that somebody else puts together. */
export interface KindWatcher {
  /** Runs until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** The kind is gone: everything that was known of it is. */
  allGone(signal: AbortSignal): Promise<void>;
  /** Tells of everything that is known of it once more. */
  repeatAll(signal: AbortSignal): Promise<void>;
}

export interface KindWatchDeps {
  readonly watch: ClusterWatch;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: RandomSource | undefined;
  readonly timings: WatchTimings;
  readonly watcherOf: (resource: WatchedResource, onStatus: (status: WatchStatus) => void) => KindWatcher;
}

/** One kind in one role. */
export interface KindToWatch {
  readonly kind: WantedKind;
  readonly role: KindRole;
}

export interface WatchOfKind {
  /** Runs until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Shows a state that does not come from the API server. */
  show(state: KindState): void;
  status(): KindWatch | undefined;
  /** The list-watch that runs, or ran last. */
  watcher(): KindWatcher | undefined;
}

/** The watch of one kind while it runs. */
interface RunningKindWatch extends KindWatchDeps {
  readonly target: KindToWatch;
  readonly progress: () => KindTransition['progress'];
  readonly on: (step: KindStep) => KindTransition;
  readonly watcher: () => KindWatcher | undefined;
  readonly watchWith: (watcher: KindWatcher) => void;
}

/** @param onStatus called after each change of `status` */
export function createWatchOfKind(deps: KindWatchDeps, target: KindToWatch, onStatus: () => void): WatchOfKind {
  const { clock, log } = deps;
  const { kind, role } = target;
  let status: KindWatch | undefined;
  let watcher: KindWatcher | undefined;
  let progress = FIRST_LOOK;

  function show(state: KindState): void {
    if (status?.state === state.state && status.message === state.message) return;
    status = statusOf(target, state, clock.now());
    log.info({ ...status, role }, 'watch of a custom resource');
    onStatus();
  }
  const running: RunningKindWatch = {
    ...deps,
    target,
    progress: () => progress,
    on(step) {
      const next = nextKind(kind, progress, step);
      ({ progress } = next);
      if (next.shows !== undefined) show(next.shows);
      return next;
    },
    watcher: () => watcher,
    watchWith(made) {
      watcher = made;
    },
  };
  return {
    async run(signal) {
      try {
        while (!signal.aborted) await findAndWatch(running, signal);
      } catch (error) {
        if (!signal.aborted) show(stateOfError(error));
      }
    },
    show,
    status: () => status,
    watcher: () => watcher,
  };
}

const statusOf = (
  { kind: { group, version, kind } }: KindToWatch,
  { state, message, resource }: KindState,
  now: EpochMs,
): KindWatch => ({
  group,
  version,
  kind,
  ...(resource !== undefined && { resource }),
  state,
  ...(message !== undefined && { message }),
  since: toIsoText(now),
});

async function findAndWatch(running: RunningKindWatch, signal: AbortSignal): Promise<void> {
  const { clock, random, timings } = running;
  const type = await untilServed(running, signal);
  running.on({ kind: 'found' });
  await whileServed(running, type, signal);
  await clock.sleep(backoffDelay(running.progress().misses, timings.backoff, random), signal);
}

/** Looks until the kind is served. */
async function untilServed(running: RunningKindWatch, signal: AbortSignal): Promise<ResourceType> {
  const { clock, random, timings, target, watch } = running;
  const { kind } = target;
  for (;;) {
    try {
      const type = await discover(running, kind, signal, guarded => watch.resolve(kind, guarded));
      if (type !== undefined) return type;
      const versions = await discover(running, kind, signal, guarded => watch.versionsOf(kind, guarded));
      running.on({ kind: 'unknown', versions });
      // In a version of their own they are still there.
      if (versions.length === 0) await running.watcher()?.allGone(signal);
      await clock.sleep(timings.notServedPoll, signal);
    } catch (error) {
      signal.throwIfAborted();
      running.on({ kind: 'lookFailed', error });
      await clock.sleep(backoffDelay(running.progress().failures, timings.backoff, random), signal);
    }
  }
}

/** Watches until the kind is no longer served. */
async function whileServed(running: RunningKindWatch, type: ResourceType, signal: AbortSignal): Promise<void> {
  const { kind, role } = running.target;
  const { controller: served, unlink } = linkAbort(signal);
  const watcher = running.watcherOf(customResource(kind, type, role), status => {
    if (served.signal.aborted) return;
    const { looksAgain } = running.on({ kind: 'watched', status, resource: type.resource });
    if (looksAgain) served.abort(new Error('not served any more'));
  });
  running.watchWith(watcher);
  await watcher.run(served.signal);
  unlink();
}

/** Asks discovery, and takes silence for a failure. */
async function discover<T>(
  { clock, timings }: Pick<KindWatchDeps, 'clock' | 'timings'>,
  { kind }: WantedKind,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const guard = guardInactivity(clock, timings.listTimeout, signal, `looking for ${kind}`);
  try {
    return await orAborted(ask(guard.signal), guard.signal);
  } finally {
    guard.dispose();
  }
}
