/**
 * Watches the kinds that FinalizerRules and `[customDrain]` name, from the moment they do: no restart, no list of kinds at deploy time.
 * Here stands who asks for which kind; `kind-watch.ts` watches one. How each watch stands is published with the object that asks for it
 * (`watch` in its events).
 */
import type { KindWatch } from '../shared/contract/cluster-event.ts';
import { inBackground } from './keep-going.ts';
import { createWatchOfKind, type KindToWatch, type KindWatchDeps, type WatchOfKind } from './kind-watch.ts';
import type { KindRole } from './resources.ts';
import type { WantedKind } from './wanted-kinds.ts';
import { linkAbort } from './inactivity.ts';

export interface CustomResourcesDeps extends KindWatchDeps {
  /** The most kinds at a time: each holds a connection. */
  readonly kindsMax: number;
  /** Called when the state of the watch that this object asks for has changed. */
  readonly onChange: (ownerUid: string) => void;
}

export interface CustomResources {
  /** The object asks for this kind, or, without one, for none. */
  want(ownerUid: string, role: KindRole, kind: WantedKind | undefined): void;
  watchOf(ownerUid: string): KindWatch | undefined;
  start(signal: AbortSignal): void;
}

/** A watch, and who asks for it. */
interface KindInUse {
  readonly owners: Set<string>;
  readonly watch: WatchOfKind;
  /** Present once it has begun. */
  end: AbortController | undefined;
}

const keyOf = ({ kind: { group, version, kind, endConditions }, role }: KindToWatch): string =>
  `${role} ${group}/${version}/${kind} ${endConditions?.join() ?? ''}`;

/**
 * `start` comes before the first `want`. Owners that want the same kind in the same role share one watch; beyond
 * `kindsMax` a kind waits as `TooManyKinds` until one is given up.
 */
export function createCustomResources(deps: CustomResourcesDeps): CustomResources {
  const { kindsMax, log, onChange } = deps;
  const wanted = new Map<string, KindInUse>();
  const keyOfOwner = new Map<string, string>();
  let whole: AbortSignal | undefined;

  function begin(entry: KindInUse): void {
    if (whole === undefined || whole.aborted || entry.end !== undefined) return;
    const others = [...wanted.values()].filter(({ end }) => end !== undefined).length;
    if (others >= kindsMax) {
      entry.watch.show({ state: 'TooManyKinds', message: `at most ${kindsMax} kinds are watched` });
      return;
    }
    const { controller: end, unlink } = linkAbort(whole);
    entry.end = end;
    void entry.watch.run(end.signal).finally(unlink);
  }

  function release(ownerUid: string): void {
    const key = keyOfOwner.get(ownerUid);
    const entry = key === undefined ? undefined : wanted.get(key);
    keyOfOwner.delete(ownerUid);
    if (key === undefined || entry === undefined) return;
    entry.owners.delete(ownerUid);
    if (entry.owners.size > 0) return;
    wanted.delete(key);
    // Nobody will hear of its objects again: whoever needs them looks now.
    const watcher = entry.watch.watcher();
    if (whole !== undefined && watcher !== undefined)
      inBackground(watcher.repeatAll(whole), whole, log, 'telling of a kind that is watched no more failed');
    entry.end?.abort(new Error('nobody asks for the kind any more'));
    for (const waiting of wanted.values()) begin(waiting);
  }

  function join(ownerUid: string, { owners, watch }: KindInUse): void {
    owners.add(ownerUid);
    if (watch.status() !== undefined) onChange(ownerUid);
  }

  return {
    want(ownerUid, role, kind) {
      const key = kind && keyOf({ kind, role });
      if (keyOfOwner.get(ownerUid) === key) return;
      release(ownerUid);
      if (kind === undefined || key === undefined) return;
      keyOfOwner.set(ownerUid, key);
      const known = wanted.get(key);
      if (known !== undefined) return join(ownerUid, known);
      const owners = new Set([ownerUid]);
      const watch = createWatchOfKind(deps, { kind, role }, () => owners.forEach(owner => onChange(owner)));
      const entry: KindInUse = { owners, watch, end: undefined };
      wanted.set(key, entry);
      begin(entry);
    },
    watchOf(ownerUid) {
      const key = keyOfOwner.get(ownerUid);
      return key === undefined ? undefined : wanted.get(key)?.watch.status();
    },
    start(signal) {
      whole = signal;
    },
  };
}
