/**
 * Watches the kinds that FinalizerRules and `[customDrain]` name, from the moment they do: no restart, no list of kinds at deploy time.
 *
 *   want ─▶ resolve the kind ─served─▶ list-watch ─not served any more─▶ resolve again
 *              └─ not served, or forbidden: say so, look again with back-off
 *
 * How each watch stands is published with the object that asks for it (`watch` in its events).
 */
import type { KindWatch } from '../shared/contract/cluster-event.ts';
import type { ResourceType } from '../shared/domain/kubernetes-object.ts';
import { notServed } from '../shared/domain/not-served.ts';
import { toIsoText } from '../shared/domain/time.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { ClusterWatch } from '../shared/ports/cluster-watch.ts';
import { backoffDelay, type RandomSource } from './backoff.ts';
import { stateOfError, type KindState } from './kind-states.ts';
import type { Log } from './log.ts';
import { customResource, type KindRole, type WatchedResource } from './resources.ts';
import { guardSilence, orAborted } from './silence.ts';
import type { WantedKind } from './wanted-kinds.ts';
import type { WatchTimings } from './watch.ts';
import type { WatchStatus } from './watch-standing.ts';

/** A list-watch that somebody else puts together. */
export interface KindWatcher {
  /** Runs until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** The kind is gone: everything that was known of it is. */
  allGone(signal: AbortSignal): Promise<void>;
  /** Tells of everything that is known of it once more. */
  repeatAll(signal: AbortSignal): Promise<void>;
}

export interface CustomResourcesDeps {
  readonly watch: ClusterWatch;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: RandomSource | undefined;
  readonly timings: WatchTimings;
  /** The most kinds at a time: each holds a connection. */
  readonly kindsMax: number;
  readonly watcherOf: (resource: WatchedResource, onStatus: (status: WatchStatus) => void) => KindWatcher;
  /** How the watch stands that this object asks for has changed. */
  readonly onChange: (ownerUid: string) => void;
}

export interface CustomResources {
  /** The object asks for this kind, or, without one, for none. */
  want(ownerUid: string, role: KindRole, kind: WantedKind | undefined): void;
  watchOf(ownerUid: string): KindWatch | undefined;
  start(signal: AbortSignal): void;
}

/** One kind in one role, and who asks for it. */
interface Wanted {
  readonly kind: WantedKind;
  readonly role: KindRole;
  readonly owners: Set<string>;
  readonly end: AbortController;
  watcher: KindWatcher | undefined;
  status: KindWatch | undefined;
  started: boolean;
}

/** Failures in a row before they are reported: one is cured by the next attempt. */
const FAILURES_BEFORE_REPORT = 3;

/**
 * `start` comes before the first `want`. Owners that want the same kind in the same role share one watch; beyond
 * `kindsMax` a kind waits as `TooManyKinds` until one is given up.
 */
export function createCustomResources(deps: CustomResourcesDeps): CustomResources {
  const { clock, log, timings } = deps;
  const wanted = new Map<string, Wanted>();
  const keyOfOwner = new Map<string, string>();
  let whole: AbortSignal | undefined;

  function report(entry: Wanted, { state, message, resource }: KindState): void {
    if (entry.status?.state === state && entry.status.message === message) return;
    const since = toIsoText(clock.now());
    const { group, version, kind } = entry.kind;
    entry.status = {
      group,
      version,
      kind,
      ...(resource !== undefined && { resource }),
      state,
      ...(message !== undefined && { message }),
      since,
    };
    log.info({ ...entry.status, role: entry.role }, 'watch of a custom resource');
    for (const owner of entry.owners) deps.onChange(owner);
  }

  async function discover<T>({ kind }: Wanted, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>) {
    const guard = guardSilence(clock, timings.listTimeout, signal, `looking for ${kind.kind}`);
    try {
      return await orAborted(ask(guard.signal), guard.signal);
    } finally {
      guard.dispose();
    }
  }
  const resolve = (entry: Wanted, signal: AbortSignal): Promise<ResourceType | undefined> =>
    discover(entry, signal, guarded => deps.watch.resolve(entry.kind, guarded));
  const versionsOf = (entry: Wanted, signal: AbortSignal): Promise<readonly string[]> =>
    discover(entry, signal, guarded => deps.watch.versionsOf(entry.kind, guarded));

  /** Looks until the kind is served. */
  async function untilServed(entry: Wanted, signal: AbortSignal, onNotServed: () => Promise<void>) {
    let failures = 0;
    for (;;) {
      try {
        const type = await resolve(entry, signal);
        if (type !== undefined) return type;
        const versions = await versionsOf(entry, signal);
        failures = 0;
        report(entry, { state: 'NotServed', message: notServed(entry.kind, versions) });
        // In a version of their own they are still there.
        if (versions.length === 0) await onNotServed();
        await clock.sleep(timings.notServedPoll, signal);
      } catch (error) {
        signal.throwIfAborted();
        failures += 1;
        if (failures >= FAILURES_BEFORE_REPORT) report(entry, stateOfError(error));
        await clock.sleep(backoffDelay(failures, timings.backoff, deps.random), signal);
      }
    }
  }

  async function run(entry: Wanted): Promise<void> {
    const { signal } = entry.end;
    const onNotServed = async (): Promise<void> => entry.watcher?.allGone(signal);
    /** Watches in a row that found nothing served, although discovery knows the kind: one of the two is behind. */
    let misses = 0;
    while (!signal.aborted) {
      const type = await untilServed(entry, signal, onNotServed);
      const gone = new AbortController();
      const stop = (): void => gone.abort(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      let failures = 0;
      const watcher = deps.watcherOf(customResource(entry.kind, type, entry.role), status => {
        if (gone.signal.aborted) return;
        failures = status.problem === undefined ? 0 : failures + 1;
        if (status.state === 'notServed') {
          misses += 1;
          if (misses >= FAILURES_BEFORE_REPORT) report(entry, { state: 'NotServed', message: notServed(entry.kind) });
          return gone.abort(new Error('not served any more'));
        }
        if (status.state === 'synced') misses = 0;
        if (status.forbidden) report(entry, { state: 'Forbidden', message: status.problem ?? '' });
        else if (status.problem === undefined) {
          if (status.state === 'synced') report(entry, { state: 'Watching', resource: type.resource });
        } else if (failures >= FAILURES_BEFORE_REPORT) {
          report(entry, { state: 'Failing', message: status.problem });
        }
      });
      entry.watcher = watcher;
      await watcher.run(gone.signal);
      signal.removeEventListener('abort', stop);
      await clock.sleep(backoffDelay(misses, timings.backoff, deps.random), signal);
    }
  }

  function begin(entry: Wanted): void {
    if (whole === undefined || whole.aborted || entry.started) return;
    const others = [...wanted.values()].filter(({ started }) => started).length;
    if (others >= deps.kindsMax) {
      report(entry, { state: 'TooManyKinds', message: `at most ${deps.kindsMax} kinds are watched` });
      return;
    }
    entry.started = true;
    const stop = (): void => entry.end.abort(whole?.reason);
    whole.addEventListener('abort', stop, { once: true });
    // Its normal end is an abort.
    run(entry)
      .catch((error: unknown) => {
        if (!entry.end.signal.aborted) report(entry, stateOfError(error));
      })
      .finally(() => whole?.removeEventListener('abort', stop));
  }

  function release(ownerUid: string): void {
    const key = keyOfOwner.get(ownerUid);
    const entry = key === undefined ? undefined : wanted.get(key);
    keyOfOwner.delete(ownerUid);
    if (key === undefined || entry === undefined) return;
    entry.owners.delete(ownerUid);
    if (entry.owners.size > 0) return;
    wanted.delete(key);
    // Nobody will hear of its objects again: whoever needs them looks now. Refused only when the forwarder stops.
    if (whole !== undefined) entry.watcher?.repeatAll(whole).catch(() => undefined);
    entry.end.abort(new Error('nobody asks for the kind any more'));
    for (const waiting of wanted.values()) begin(waiting);
  }

  return {
    want(ownerUid, role, kind) {
      const key = kind && `${role} ${kind.group}/${kind.version}/${kind.kind} ${kind.endConditions?.join() ?? ''}`;
      if (keyOfOwner.get(ownerUid) === key) return;
      release(ownerUid);
      if (kind === undefined || key === undefined) return;
      keyOfOwner.set(ownerUid, key);
      const known = wanted.get(key);
      if (known !== undefined) {
        known.owners.add(ownerUid);
        if (known.status !== undefined) deps.onChange(ownerUid);
        return;
      }
      const end = new AbortController();
      const entry = {
        kind,
        role,
        owners: new Set([ownerUid]),
        end,
        watcher: undefined,
        status: undefined,
        started: false,
      };
      wanted.set(key, entry);
      begin(entry);
    },
    watchOf(ownerUid) {
      const key = keyOfOwner.get(ownerUid);
      return key === undefined ? undefined : wanted.get(key)?.status;
    },
    start(signal) {
      whole = signal;
    },
  };
}
