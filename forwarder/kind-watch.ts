/** Watches one custom kind: looks until it is served, watches it, and looks again once it is served no more. */
import type { KindWatch } from '../shared/contract/cluster-event.ts';
import type { ResourceType } from '../shared/domain/kubernetes-object.ts';
import { toIsoText } from '../shared/domain/time.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { ClusterWatch } from '../shared/ports/cluster-watch.ts';
import { backoffDelay, type RandomSource } from './backoff.ts';
import { FIRST_LOOK, nextKind, stateOfError, type KindState, type KindStep, type NextKind } from './kind-states.ts';
import type { Log } from './log.ts';
import { customResource, type KindRole, type WatchedResource } from './resources.ts';
import { guardSilence, orAborted } from './silence.ts';
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

/** @param onStatus called after each change of `status` */
export function createWatchOfKind(deps: KindWatchDeps, wanted: KindToWatch, onStatus: () => void): WatchOfKind {
  const { clock, log, random, timings } = deps;
  const { kind, role } = wanted;
  let status: KindWatch | undefined;
  let watcher: KindWatcher | undefined;
  let progress = FIRST_LOOK;

  function show({ state, message, resource }: KindState): void {
    if (status?.state === state && status.message === message) return;
    status = {
      group: kind.group,
      version: kind.version,
      kind: kind.kind,
      ...(resource !== undefined && { resource }),
      state,
      ...(message !== undefined && { message }),
      since: toIsoText(clock.now()),
    };
    log.info({ ...status, role }, 'watch of a custom resource');
    onStatus();
  }

  function on(step: KindStep): NextKind {
    const next = nextKind(kind, progress, step);
    ({ progress } = next);
    if (next.shows !== undefined) show(next.shows);
    return next;
  }

  /** Looks until the kind is served. */
  async function untilServed(signal: AbortSignal): Promise<ResourceType> {
    for (;;) {
      try {
        const type = await discover(deps, kind, signal, guarded => deps.watch.resolve(kind, guarded));
        if (type !== undefined) return type;
        const versions = await discover(deps, kind, signal, guarded => deps.watch.versionsOf(kind, guarded));
        on({ kind: 'unknown', versions });
        // In a version of their own they are still there.
        if (versions.length === 0) await watcher?.allGone(signal);
        await clock.sleep(timings.notServedPoll, signal);
      } catch (error) {
        signal.throwIfAborted();
        on({ kind: 'lookFailed', error });
        await clock.sleep(backoffDelay(progress.failures, timings.backoff, random), signal);
      }
    }
  }

  /** Watches until the kind is served no more. */
  async function whileServed(type: ResourceType, signal: AbortSignal): Promise<void> {
    const served = new AbortController();
    const stop = (): void => served.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    watcher = deps.watcherOf(customResource(kind, type, role), next => {
      if (served.signal.aborted) return;
      const { looksAgain } = on({ kind: 'watched', status: next, resource: type.resource });
      if (looksAgain) served.abort(new Error('not served any more'));
    });
    await watcher.run(served.signal);
    signal.removeEventListener('abort', stop);
  }

  return {
    async run(signal) {
      try {
        while (!signal.aborted) {
          const type = await untilServed(signal);
          on({ kind: 'found' });
          await whileServed(type, signal);
          await clock.sleep(backoffDelay(progress.misses, timings.backoff, random), signal);
        }
      } catch (error) {
        if (!signal.aborted) show(stateOfError(error));
      }
    },
    show,
    status: () => status,
    watcher: () => watcher,
  };
}

/** Asks discovery, and takes silence for a failure. */
async function discover<T>(
  { clock, timings }: Pick<KindWatchDeps, 'clock' | 'timings'>,
  { kind }: WantedKind,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const guard = guardSilence(clock, timings.listTimeout, signal, `looking for ${kind}`);
  try {
    return await orAborted(ask(guard.signal), guard.signal);
  } finally {
    guard.dispose();
  }
}
