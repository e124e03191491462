/**
 * The objects of one resource that the bus has been told of (or that wait in the queue), and what they looked like.
 * Turns "this object is there, like this" and "it is gone" into changes; says nothing when nothing that matters changed.
 */
import type { Subject } from '../shared/contract/subject.ts';
import { apiVersionOf, type KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import type { EpochMs } from '../shared/domain/time.ts';
import { changedParts, fingerprintOf, presentParts, type Fingerprint } from './fingerprint.ts';
import type { Hints, PodInterest } from './project.ts';
import type { WatchedResource } from './resources.ts';
import { isAboutNone, keyOfEvent, keyOfObject } from './unread.ts';

/** What happened to one object, to be published. */
export interface ObjectChange {
  readonly change: 'Added' | 'Modified' | 'Deleted';
  readonly subject: Subject & { readonly uid: string };
  readonly resourceVersion: string;
  /** Sorted names of the parts that differ from what was last published; for `Added` those that the object has. */
  readonly changed: readonly string[];
  readonly hints: Hints;
  readonly observedTime: EpochMs;
}

export interface Tracker {
  /** The object exists in this state. Undefined: nobody needs to hear of it. `text`: of the watch event that says so. */
  observe(object: KubernetesObject, now: EpochMs, text?: string): ObjectChange | undefined;
  /** Whether `observe` and `remove` would have nothing to say of the watch event with this text. False: it must be read. */
  knowsWithoutReading(text: string): boolean;
  /** The object of this UID is gone. Undefined: it was never told of. */
  remove(uid: string, now: EpochMs, resourceVersion?: string): ObjectChange | undefined;
  /** UIDs of all tracked objects. */
  uids(): Iterable<string>;
  size(): number;
}

/** One of these per object of interest in the cluster: kept small. */
interface Tracked {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly resourceVersion: string;
  readonly fingerprint: Fingerprint;
  readonly hints: Hints;
  /** Of the text that it was last seen in; undefined where events of the resource are always read. */
  readonly textKey: string | undefined;
}

export function createTracker(resource: WatchedResource, interest: PodInterest): Tracker {
  const tracked = new Map<string, Tracked>();
  /** Each tracked object's; another text of the object replaces it. */
  const textKeys = new Set<string>();
  const { unread } = resource;
  const apiVersion = apiVersionOf(resource.type);

  const changeOf = (
    uid: string,
    state: Tracked,
    rest: Pick<ObjectChange, 'change' | 'changed' | 'observedTime'>,
  ): ObjectChange => ({
    ...rest,
    subject: {
      kind: resource.kind,
      apiVersion,
      ...(state.namespace === undefined ? {} : { namespace: state.namespace }),
      name: state.name,
      uid,
    },
    resourceVersion: state.resourceVersion,
    hints: state.hints,
  });

  const textKeyOf = (object: KubernetesObject, text: string | undefined): string | undefined => {
    if (unread?.kind !== 'heartbeat') return undefined;
    return text === undefined ? keyOfObject(object, unread.unprojected) : keyOfEvent(text, unread.unprojected);
  };

  const keep = (uid: string, state: Tracked): void => {
    tracked.set(uid, state);
    if (state.textKey !== undefined) textKeys.add(state.textKey);
  };

  const forget = (uid: string): void => {
    const key = tracked.get(uid)?.textKey;
    if (key !== undefined) textKeys.delete(key);
    tracked.delete(uid);
  };

  return {
    observe(object, now, text) {
      const { uid, name, namespace, resourceVersion } = object.metadata;
      const before = tracked.get(uid);
      if (before !== undefined && before.resourceVersion === resourceVersion) return undefined;
      const wanted = resource.isOfInterest?.(object, interest) ?? true;
      if (before === undefined && !wanted) return undefined;

      const { parts, hints } = resource.project(object);
      const fingerprint = fingerprintOf(parts);
      const state: Tracked = { name, namespace, resourceVersion, fingerprint, hints, textKey: textKeyOf(object, text) };
      // An object that leaves our interest is told of once more: what made it matter is what changed.
      forget(uid);
      if (wanted) keep(uid, state);

      if (before === undefined) {
        return changeOf(uid, state, { change: 'Added', changed: presentParts(parts), observedTime: now });
      }
      const changed = changedParts(parts, before.fingerprint, fingerprint);
      return changed.length === 0
        ? undefined
        : changeOf(uid, state, { change: 'Modified', changed, observedTime: now });
    },
    remove(uid, now, resourceVersion) {
      const before = tracked.get(uid);
      if (before === undefined) return undefined;
      forget(uid);
      const state = { ...before, resourceVersion: resourceVersion ?? before.resourceVersion };
      return changeOf(uid, state, { change: 'Deleted', changed: [], observedTime: now });
    },
    knowsWithoutReading(text) {
      switch (unread?.kind) {
        case 'heartbeat':
          return textKeys.has(keyOfEvent(text, unread.unprojected) ?? '');
        case 'unmarked':
          return interest.drainingNodes.size === 0 && !text.includes(unread.mark) && isAboutNone(text, tracked);
        case undefined:
          return false;
      }
    },
    uids: () => tracked.keys(),
    size: () => tracked.size,
  };
}
