/**
 * The objects of one resource that were published (or wait in the queue), and what they looked like. Turns "this object is there,
 * like this" and "it is gone" into changes; says nothing when nothing that matters changed.
 */
import { detailTypeFor } from '../shared/contract/cluster-event.ts';
import type { Subject } from '../shared/contract/subject.ts';
import { apiVersionOf, type KubernetesObject } from '../shared/domain/kubernetes-object.ts';
import { isDue, type EpochMs } from '../shared/domain/time.ts';
import { changedParts, fingerprintOf, presentParts } from './fingerprint.ts';
import type { Hints, ObjectParts, PodInterest } from './projection.ts';
import type { WatchedResource } from './resources.ts';
import { createTrackedObjects, type TrackedObject, type TrackedObjects } from './tracked-objects.ts';

/** A change of one object, to be published. */
export interface ObjectChange {
  readonly change: 'Added' | 'Modified' | 'Deleted';
  readonly detailType: string;
  readonly subject: Subject & { readonly uid: string };
  readonly resourceVersion: string;
  /** Sorted names of the parts that differ from what was last published; for `Added` those that the object has. */
  readonly changed: readonly string[];
  readonly hints: Hints;
  readonly observedTime: EpochMs;
  /**
   * Earliest time at which the change, or one of conditions that waits with it, may have happened; absent: it was seen
   * at once.
   */
  readonly since?: EpochMs | undefined;
  /** `node`: of interest only because its node is watched. */
  readonly interest: 'itself' | 'node';
  /** Everything is published, not because this object was seen to change. */
  readonly resync?: true | undefined;
}

/** Earliest time at which the change may have happened. */
export const earliestTimeOf = ({ since, observedTime }: Pick<ObjectChange, 'since' | 'observedTime'>): EpochMs =>
  since ?? observedTime;

/** One object under one detail-type has one place in the queue. */
export const keyOfChange = ({ detailType, subject }: ChangeKey): string => `${detailType}/${subject.uid}`;
interface ChangeKey {
  readonly detailType: string;
  readonly subject: { readonly uid: string };
}

export interface Tracker {
  /**
   * The object exists in this state. Undefined: nobody needs to hear of it. `initial`: found by the first list. `since`:
   * by a list, and nothing was heard since then.
   */
  observe(object: KubernetesObject, now: EpochMs, initial?: boolean, since?: EpochMs): ObjectChange | undefined;
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

interface TrackerContext {
  readonly resource: WatchedResource;
  readonly pods: PodInterest;
  readonly objects: TrackedObjects;
}

type Interest = ObjectChange['interest'];

export function createTracker(resource: WatchedResource, interest: PodInterest): Tracker {
  const objects = createTrackedObjects();
  const tracking: TrackerContext = { resource, pods: interest, objects };
  return {
    observe: (object, now, initial = false, since) => {
      const change = observe(tracking, object, now, initial);
      return change === undefined || since === undefined ? change : { ...change, since };
    },
    seed(object) {
      // What matters by itself is published by the watch, which drops nothing of it and may be behind this list.
      if (interestIn(tracking, object) !== 'node' || objects.has(object.metadata.uid)) return;
      objects.keep(object.metadata.uid, stateOf(tracking, object, 'node').state);
    },
    remove: (uid, now, resourceVersion) => remove(tracking, uid, now, resourceVersion),
    removeObject(object, now) {
      const { uid, resourceVersion } = object.metadata;
      if (objects.has(uid)) return remove(tracking, uid, now, resourceVersion);
      const why = interestIn(tracking, object);
      if (why === undefined) return undefined;
      const { state } = stateOf(tracking, object, why);
      return changeOf(tracking, uid, state, { change: 'Deleted', changed: [], observedTime: now });
    },
    repeat(uid, now, { changed, resync }) {
      const state = objects.get(uid);
      if (state?.interest !== 'itself') return undefined;
      return changeOf(tracking, uid, state, { change: 'Modified', changed, observedTime: now, resync });
    },
    releaseNode: nodeName => objects.forgetOnNode(nodeName),
    clear: () => objects.clear(),
    uids: () => objects.uids(),
    uidNamed: name => objects.uidNamed(name),
    size: () => objects.size(),
  };
}

function observe(
  tracking: TrackerContext,
  object: KubernetesObject,
  now: EpochMs,
  initial: boolean,
): ObjectChange | undefined {
  const { resource, objects } = tracking;
  const { uid, resourceVersion } = object.metadata;
  const before = objects.get(uid);
  if (before !== undefined && before.resourceVersion === resourceVersion) return undefined;
  const why = interestIn(tracking, object);
  if (before === undefined && why === undefined) return undefined;
  // A function that empties the node waits for the pod's end and for nothing before it.
  if (before?.interest === 'node' && why === 'node' && resource.awaitsEnd?.(object) === true) return undefined;

  const { parts, state } = stateOf(tracking, object, why ?? 'node');
  // An object that leaves our interest is published once more: what made it matter is what changed.
  objects.forget(uid);
  if (why !== undefined) objects.keep(uid, state);
  const published = before?.interest === 'itself' ? { ...state, interest: before.interest } : state;

  const isNew = resource.isNew?.(parts) ?? true;
  if (before === undefined) {
    if (!isNew || (initial && resource.quietAtFirst === true)) return undefined;
    const resync = initial ? true : undefined;
    const changed = presentParts(parts);
    return changeOf(tracking, uid, published, { change: 'Added', changed, observedTime: now, resync });
  }
  const changed = changedParts(parts, before.fingerprint, state.fingerprint);
  return changed.length === 0 || !isNew || isExpected(resource, before, { parts, changed, now })
    ? undefined
    : changeOf(tracking, uid, published, { change: 'Modified', changed, observedTime: now });
}

function remove({ objects, ...tracking }: TrackerContext, uid: string, now: EpochMs, resourceVersion?: string) {
  const before = objects.get(uid);
  if (before === undefined) return undefined;
  objects.forget(uid);
  const state = { ...before, resourceVersion: resourceVersion ?? before.resourceVersion };
  return changeOf(tracking, uid, state, { change: 'Deleted', changed: [], observedTime: now });
}

const interestIn = ({ resource, pods }: TrackerContext, object: KubernetesObject): Interest | undefined =>
  resource.interest === undefined ? 'itself' : resource.interest(object, pods);

function stateOf(
  { resource, pods }: TrackerContext,
  object: KubernetesObject,
  interest: Interest,
): { readonly parts: ObjectParts; readonly state: TrackedObject } {
  const { name, namespace, resourceVersion } = object.metadata;
  const { parts, hints } = resource.project(object, pods);
  const fingerprint = fingerprintOf(parts);
  const endTime = resource.timedPart?.endOf(object);
  return { parts, state: { name, namespace, resourceVersion, fingerprint, hints, interest, endTime } };
}

/** Only the timed part is gone, and its time is over. */
function isExpected(
  { timedPart }: WatchedResource,
  { endTime }: TrackedObject,
  { parts, changed, now }: { readonly parts: ObjectParts; readonly changed: readonly string[]; readonly now: EpochMs },
): boolean {
  if (timedPart === undefined || endTime === undefined || !isDue(now, endTime)) return false;
  return changed.length === 1 && changed[0] === timedPart.name && parts[timedPart.name] === undefined;
}

const changeOf = (
  { resource }: Pick<TrackerContext, 'resource'>,
  uid: string,
  { namespace, name, resourceVersion, hints, interest }: TrackedObject,
  rest: Pick<ObjectChange, 'change' | 'changed' | 'observedTime' | 'resync'>,
): ObjectChange => ({
  ...rest,
  detailType: resource.detailType ?? detailTypeFor(resource.kind),
  subject: {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource.type),
    ...(namespace !== undefined && { namespace }),
    name,
    uid,
  },
  resourceVersion,
  hints,
  interest,
});
