/**
 * The cluster as the audit log of its API server tells of it, write after write. The driver of a run leaves notes in the same log: which
 * instance has ended, when etcd was given an earlier state, when all is done, and what stands at the end.
 */
import { arrayAt, isObject, objectAt, textAt } from '../../../packages/kube-apiserver/src/json.ts';
import { isKubernetesObject } from '../../../shared/adapters/kubernetes/objects.ts';
import type { JsonObject, KubernetesObject } from '../../../shared/domain/kubernetes-object.ts';
import { parseTimestamp, toEpochMs, type EpochMs } from '../../../shared/domain/time.ts';
import type { AuditedRequest } from '../end-to-end/audit-log.ts';
import { NOTES } from './objects.ts';

/** A write that the API server accepted. */
export interface Write {
  readonly received: EpochMs;
  readonly answered: EpochMs;
  /** The part of Curfew; undefined: somebody else. */
  readonly by: string | undefined;
  readonly verb: 'create' | 'update' | 'patch' | 'delete' | 'evict';
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string | undefined;
  /** As the log knew it before. */
  readonly before: KubernetesObject | undefined;
  readonly after: KubernetesObject | undefined;
}

/** What the notes say. */
export interface Notes {
  /** Until when at least an instance has run, by providerID; only of those that have ended. */
  readonly ends: ReadonlyMap<string, EpochMs>;
  readonly restores: readonly { readonly time: EpochMs; readonly revision: number }[];
  /** All that was to happen has happened. */
  readonly done: EpochMs | undefined;
  /** From here on the driver touches whatever stands. */
  readonly rollCall: EpochMs | undefined;
}

export interface World {
  readonly notes: Notes;
  /** As last known. */
  objects(resource: string): readonly KubernetesObject[];
  named(resource: string, name: string, namespace?: string): KubernetesObject | undefined;
  /** How long ago a Node last had a request for a drain; 0: it has one, Infinity: it never had. */
  sinceAsked(uid: string, now: EpochMs): number;
  /** The transition time in the first write that said so, of a Node that nobody has said to be ready since. */
  illSince(uid: string): EpochMs | undefined;
}

export const textIn = (object: KubernetesObject | undefined, part: 'spec' | 'status', key: string): string =>
  textAt(object?.[part] ?? {}, key) ?? '';

export const isTerminating = (object: KubernetesObject | undefined): boolean =>
  object?.metadata.deletionTimestamp !== undefined;

export const annotationOf = (object: KubernetesObject | undefined, key: string): string | undefined =>
  object?.metadata.annotations?.[key];

/** The condition `Ready`. */
function readyOf(node: KubernetesObject): JsonObject | undefined {
  const found = arrayAt(node.status ?? {}, 'conditions').find(each => isObject(each) && each['type'] === 'Ready');
  return isObject(found) ? found : undefined;
}

/** It says that it is not ready. */
export const isIll = (node: KubernetesObject): boolean => (readyOf(node)?.['status'] ?? 'True') !== 'True';

/** Tells of each write, with the world as it was before it. */
export function followAuditLog(
  requests: readonly AuditedRequest[],
  partOf: (user: string) => string | undefined,
  asked: (node: KubernetesObject) => boolean,
  tell: (write: Write, world: World) => void,
): World {
  const notes = readNotes(requests);
  const known = createKnown(asked);
  const world: World = { notes, ...known };
  let restored = 0;
  for (const request of requests) {
    for (let next = notes.restores[restored]; next !== undefined && next.time <= request.received;) {
      known.restore(next.revision);
      next = notes.restores[(restored += 1)];
    }
    const write = toWrite(request, known, partOf);
    if (write === undefined) continue;
    tell(write, world);
    known.apply(write);
  }
  return world;
}

const VERBS = ['create', 'update', 'patch', 'delete'] as const;

function toWrite(
  request: AuditedRequest,
  known: Pick<World, 'named'>,
  partOf: (user: string) => string | undefined,
): Write | undefined {
  const { resource, subresource, namespace, code, requestObject, responseObject } = request;
  const verb = VERBS.find(each => each === request.verb);
  if (verb === undefined || resource === undefined || code >= 300) return undefined;
  const after = isKubernetesObject(responseObject) && responseObject.kind !== 'Status' ? responseObject : undefined;
  const name = request.name ?? after?.metadata.name ?? '';
  const before = known.named(resource, name, namespace);
  const isEviction = subresource === 'eviction';
  const preconditions = objectAt(
    asJson(isEviction ? requestObject?.['deleteOptions'] : requestObject),
    'preconditions',
  );
  const details = objectAt(asJson(responseObject), 'details');
  return {
    received: request.received,
    answered: request.time,
    by: partOf(request.user),
    verb: isEviction ? 'evict' : verb,
    resource,
    namespace,
    name,
    uid: after?.metadata.uid ?? textAt(preconditions, 'uid') ?? textAt(details, 'uid') ?? before?.metadata.uid,
    before,
    after: isEviction ? undefined : after,
  };
}

const asJson = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** What is known of objects, with all versions, so that an earlier state can be taken up again. */
function createKnown(asked: (node: KubernetesObject) => boolean) {
  interface Version {
    readonly key: string;
    readonly resourceVersion: number;
    readonly object: KubernetesObject | undefined;
  }
  let versions: Version[] = [];
  const current = new Map<string, KubernetesObject>();
  const lastAsked = new Map<string, EpochMs | 'now'>();
  const illSince = new Map<string, EpochMs>();
  const keyOf = (resource: string, name: string, namespace = ''): string => `${resource}/${namespace}/${name}`;
  const set = ({ key, object }: Version): void => {
    if (object === undefined) current.delete(key);
    else current.set(key, object);
  };
  const noteAsked = ({ before, after }: Pick<Write, 'before' | 'after'>, time: EpochMs): void => {
    const uid = after?.metadata.uid ?? before?.metadata.uid;
    if (uid === undefined) return;
    if (after !== undefined && asked(after)) lastAsked.set(uid, 'now');
    else if (lastAsked.get(uid) === 'now') lastAsked.set(uid, time);
  };

  const noteHealth = (node: KubernetesObject): void => {
    const { uid } = node.metadata;
    const time = parseTimestamp(textAt(readyOf(node) ?? {}, 'lastTransitionTime') ?? '');
    if (!isIll(node)) illSince.delete(uid);
    else if (time !== undefined && !illSince.has(uid)) illSince.set(uid, time);
  };

  return {
    illSince: (uid: string) => illSince.get(uid),
    objects: (resource: string) =>
      [...current].filter(([key]) => key.startsWith(`${resource}/`)).map(([, object]) => object),
    named: (resource: string, name: string, namespace?: string) => current.get(keyOf(resource, name, namespace)),
    sinceAsked(uid: string, now: EpochMs): number {
      const last = lastAsked.get(uid);
      return last === 'now' ? 0 : last === undefined ? Infinity : now - last;
    },
    apply(write: Write): void {
      const { resource, name, namespace, verb, before, after } = write;
      if (verb === 'evict') return;
      const isGone = (verb === 'delete' && !isHeld(after)) || (isTerminating(after) && !isHeld(after));
      const object = isGone ? undefined : (after ?? before);
      const resourceVersion = Number(after?.metadata.resourceVersion ?? before?.metadata.resourceVersion ?? 0);
      const version = { key: keyOf(resource, name, namespace), resourceVersion, object };
      // Two answers at once may stand in the log the other way round.
      const isOld =
        Number(before?.metadata.resourceVersion ?? 0) > resourceVersion && before?.metadata.uid === write.uid;
      if (isOld) return;
      versions.push(version);
      set(version);
      if (resource !== 'nodes') return;
      noteAsked({ before, after: object }, write.answered);
      if (object !== undefined) noteHealth(object);
    },
    restore(revision: number): void {
      versions = versions.filter(({ resourceVersion }) => resourceVersion <= revision);
      current.clear();
      for (const version of versions) set(version);
      for (const node of this.objects('nodes')) if (asked(node)) lastAsked.set(node.metadata.uid, 'now');
    },
  };
}

/** By a finalizer, or by a grace period that the kubelet lets pass. */
const isHeld = (object: KubernetesObject | undefined): boolean =>
  (object?.metadata.finalizers ?? []).length > 0 || (object?.metadata.deletionGracePeriodSeconds ?? 0) > 0;

function readNotes(requests: readonly AuditedRequest[]): Notes {
  const ends = new Map<string, EpochMs>();
  const restores: { readonly time: EpochMs; readonly revision: number }[] = [];
  const times = new Map<string, EpochMs>();
  for (const { verb, resource, namespace, code, requestObject, received } of requests) {
    if (verb !== 'create' || resource !== 'configmaps' || namespace !== NOTES || code >= 300) continue;
    const [note, data] = [asJson(requestObject), objectAt(asJson(requestObject), 'data')];
    const name = textAt(objectAt(note, 'metadata'), 'name') ?? '';
    const instant = (key: string): EpochMs => parseTimestamp(textAt(data, key) ?? '') ?? toEpochMs(0);
    const providerID = textAt(data, 'providerID');
    if (providerID !== undefined) ends.set(providerID, instant('runningUntil'));
    else if (name.startsWith('restored')) {
      restores.push({ time: instant('time'), revision: Number(textAt(data, 'revision')) });
    } else times.set(name, received);
  }
  return { ends, restores, done: times.get('done'), rollCall: times.get('roll-call') };
}
