/** The memory of a tracker: the objects of one resource that were published, by UID and by name. */
import type { EpochMs } from '../shared/domain/time.ts';
import type { Fingerprint } from './fingerprint.ts';
import type { Hints } from './projection.ts';

/** One of these per object of interest in the cluster: kept small. */
export interface TrackedObject {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly resourceVersion: string;
  readonly fingerprint: Fingerprint;
  readonly hints: Hints;
  readonly interest: 'itself' | 'node';
  /** Time at which its timed part ends. */
  readonly endTime: EpochMs | undefined;
}

export interface TrackedObjects {
  get(uid: string): TrackedObject | undefined;
  has(uid: string): boolean;
  keep(uid: string, state: TrackedObject): void;
  forget(uid: string): void;
  /** Forgets what is of interest only on this node. */
  forgetOnNode(nodeName: string): void;
  clear(): void;
  uids(): Iterable<string>;
  /** The UID of the newest object with this name. */
  uidNamed(name: string): string | undefined;
  size(): number;
}

export function createTrackedObjects(): TrackedObjects {
  const tracked = new Map<string, TrackedObject>();
  /** The newest object of each name: cluster-scoped ones alone can be asked for by it. */
  const named = new Map<string, string>();

  function forget(uid: string): void {
    const { name = '' } = tracked.get(uid) ?? {};
    if (named.get(name) === uid) named.delete(name);
    tracked.delete(uid);
  }

  return {
    get: uid => tracked.get(uid),
    has: uid => tracked.has(uid),
    keep(uid, state) {
      tracked.set(uid, state);
      if (state.namespace === undefined) named.set(state.name, uid);
    },
    forget,
    forgetOnNode(nodeName) {
      for (const [uid, state] of tracked) {
        if (state.interest === 'node' && state.hints.nodeName === nodeName) forget(uid);
      }
    },
    clear() {
      tracked.clear();
      named.clear();
    },
    uids: () => tracked.keys(),
    uidNamed: name => named.get(name),
    size: () => tracked.size,
  };
}
