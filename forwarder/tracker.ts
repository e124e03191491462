/**
 * The objects of one resource that were published (or wait in the queue), and what they looked like. Turns "this object is there,
 * like this" and "it is gone" into changes; says nothing when nothing that matters changed.
 */
import { detailTypeFor } from '../shared/contract/cluster-event.ts';
import type { Subject } from '../shared/contract/subject.ts';
import { apiVersionOf, type KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { isDue, type EpochMs } from '../shared/domain/time.ts';
import { changedParts, fingerprintOf, presentParts } from './fingerprint.ts';
import type { Hints, Parts, PodInterest } from './projection.ts';
import type { WatchedResource } from './resources.ts';
import { createTrackedObjects, type Tracked } from './tracked-objects.ts';

/** What happened to one object, to be published. */
export interface ObjectChange {
  readonly change: 'Added' | 'Modified' | 'Deleted';
  readonly detailType: string;
  readonly subject: Subject & { readonly uid: string };
  readonly resourceVersion: string;
  /** Sorted names of the parts that differ from what was last published; for `Added` those that the object has. */
  readonly changed: readonly string[];
  readonly hints: Hints;
  readonly observedTime: EpochMs;
  /** `node`: of interest only because its node is watched. */
  readonly interest: 'itself' | 'node';
  /** Everything is published, not because this object was seen to change. */
  readonly resync?: true | undefined;
}

/** One object under one detail-type has one place in the queue. */
export const keyOfChange = ({ detailType, subject }: ChangeKey): string => `${detailType}/${subject.uid}`;
interface ChangeKey {
  readonly detailType: string;
  readonly subject: { readonly uid: string };
}

export interface Tracker {
  /** The object exists in this state. Undefined: nobody needs to hear of it. `initial`: found by the first list. */
  observe(object: KubernetesObject, now: EpochMs, initial?: boolean): ObjectChange | undefined;
  /** Remembers an object that is of interest only on its node as if it had been published, unless it is known. */
  seed(object: KubernetesObject): void;
  /** The object of this UID is gone. Undefined: it was never published. */
  remove(uid: string, now: EpochMs, resourceVersion?: string): ObjectChange | undefined;
  /** The object is gone, and was like this at the end: also one that was never published, if it is of interest. */
  removeObject(object: KubernetesObject, now: EpochMs): ObjectChange | undefined;
  /** The object as it was last published, to be published again. Undefined: it is gone, or comes with its node. */
  repeat(uid: string, now: EpochMs, why: { changed: readonly string[]; resync?: true }): ObjectChange | undefined;
  /** The node is not watched any more: forgets, and does not publish, what was of interest only on it. */
  releaseNode(nodeName: string): void;
  /** Forgets everything. */
  clear(): void;
  /** UIDs of all tracked objects. */
  uids(): Iterable<string>;
  /** The UID of the newest object with this name. */
  uidNamed(name: string): string | undefined;
  size(): number;
}

export function createTracker(resource: WatchedResource, interest: PodInterest): Tracker {
  const tracked = createTrackedObjects();
  const apiVersion = apiVersionOf(resource.type);
  const detailType = resource.detailType ?? detailTypeFor(resource.kind);

  const changeOf = (
    uid: string,
    state: Tracked,
    rest: Pick<ObjectChange, 'change' | 'changed' | 'observedTime' | 'resync'>,
  ): ObjectChange => ({
    ...rest,
    detailType,
    subject: {
      kind: resource.kind,
      apiVersion,
      ...(state.namespace === undefined ? {} : { namespace: state.namespace }),
      name: state.name,
      uid,
    },
    resourceVersion: state.resourceVersion,
    hints: state.hints,
    interest: state.interest,
  });

  const interestIn = (object: KubernetesObject): 'itself' | 'node' | undefined =>
    resource.interest === undefined ? 'itself' : resource.interest(object, interest);

  function stateOf(object: KubernetesObject, why: 'itself' | 'node') {
    const { name, namespace, resourceVersion } = object.metadata;
    const { parts, hints } = resource.project(object, interest);
    const fingerprint = fingerprintOf(parts);
    const endTime = resource.timedPart?.endOf(object);
    return { parts, state: { name, namespace, resourceVersion, fingerprint, hints, interest: why, endTime } };
  }

  /** Only the timed part is gone, and its time is over. */
  function isExpected({ endTime }: Tracked, parts: Parts, changed: readonly string[], now: EpochMs): boolean {
    const name = resource.timedPart?.name;
    if (name === undefined || endTime === undefined || !isDue(now, endTime)) return false;
    return changed.length === 1 && changed[0] === name && parts[name] === undefined;
  }

  function remove(uid: string, now: EpochMs, resourceVersion?: string): ObjectChange | undefined {
    const before = tracked.get(uid);
    if (before === undefined) return undefined;
    tracked.forget(uid);
    const state = { ...before, resourceVersion: resourceVersion ?? before.resourceVersion };
    return changeOf(uid, state, { change: 'Deleted', changed: [], observedTime: now });
  }

  return {
    observe(object, now, initial = false) {
      const { uid, resourceVersion } = object.metadata;
      const before = tracked.get(uid);
      if (before !== undefined && before.resourceVersion === resourceVersion) return undefined;
      const why = interestIn(object);
      if (before === undefined && why === undefined) return undefined;
      // A function that empties the node waits for the pod's end and for nothing before it.
      if (before?.interest === 'node' && why === 'node' && resource.awaitsEnd?.(object) === true) return undefined;

      const { parts, state } = stateOf(object, why ?? 'node');
      // An object that leaves our interest is published once more: what made it matter is what changed.
      tracked.forget(uid);
      if (why !== undefined) tracked.keep(uid, state);
      const said = before?.interest === 'itself' ? { ...state, interest: before.interest } : state;

      const news = resource.isNews?.(parts) ?? true;
      if (before === undefined) {
        if (!news || (initial && resource.quietAtFirst === true)) return undefined;
        const resync = initial ? true : undefined;
        return changeOf(uid, said, { change: 'Added', changed: presentParts(parts), observedTime: now, resync });
      }
      const changed = changedParts(parts, before.fingerprint, state.fingerprint);
      return changed.length === 0 || !news || isExpected(before, parts, changed, now)
        ? undefined
        : changeOf(uid, said, { change: 'Modified', changed, observedTime: now });
    },
    seed(object) {
      // What matters by itself is published by the watch, which drops nothing of it and may be behind this list.
      if (interestIn(object) !== 'node' || tracked.has(object.metadata.uid)) return;
      tracked.keep(object.metadata.uid, stateOf(object, 'node').state);
    },
    remove,
    removeObject(object, now) {
      const { uid, resourceVersion } = object.metadata;
      if (tracked.has(uid)) return remove(uid, now, resourceVersion);
      const why = interestIn(object);
      if (why === undefined) return undefined;
      return changeOf(uid, stateOf(object, why).state, { change: 'Deleted', changed: [], observedTime: now });
    },
    repeat(uid, now, { changed, resync }) {
      const state = tracked.get(uid);
      if (state?.interest !== 'itself') return undefined;
      return changeOf(uid, state, { change: 'Modified', changed, observedTime: now, resync });
    },
    releaseNode: nodeName => tracked.forgetOnNode(nodeName),
    clear: () => tracked.clear(),
    uids: () => tracked.uids(),
    uidNamed: name => tracked.uidNamed(name),
    size: () => tracked.size(),
  };
}
