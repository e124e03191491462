/**
 * One API server for thousands of schedules: after each, what was touched is put back as it was. Says what every step changed, in a
 * text that is equal when nobody can see a difference.
 */
import type { KubernetesManifest, KubernetesObject, ObjectRef } from '../../shared/domain/kubernetes-object.ts';
import type { ApiServerCore, ResourceInfo, WatchEvent } from '../../packages/kube-apiserver/src/types.ts';
import { createCluster } from '../world.ts';

/** Fields of objects, and of records about them, that hold a version of an object. */
const VERSIONS: readonly string[] = ['resourceVersion', 'nodeVersion'];

/** Who changes the world to the API server. */
export const WORLD = 'world';

export interface ExploredCluster {
  readonly core: ApiServerCore;
  /** What is there now is what `restore` goes back to. */
  rebase(): void;
  /** Undoes everything since `rebase`. */
  restore(): void;
  /** Objects written to since the last call, each with its text. */
  takeChanges(): readonly (readonly [thing: string, text: string])[];
  /** A value as text, without what differs between schedules that are the same: versions are counts of writes since `rebase`. */
  textOf(value: unknown): string;
  /** What was written to since `rebase`; undefined for what was not there then, or is gone. */
  touched(): readonly TouchedObject[];
}

export interface TouchedObject {
  /** See `thingOf`. */
  readonly thing: string;
  readonly original: KubernetesObject | undefined;
  readonly current: KubernetesObject | undefined;
}

interface Touched {
  readonly ref: ObjectRef;
  readonly original: KubernetesObject | undefined;
  current: KubernetesObject | undefined;
  /** Writes since `rebase`. */
  writes: number;
}

/** `nodes//n1`, `pods/prod/p1`. */
export const thingOf = (resource: string, namespace: string | undefined, name: string | undefined): string =>
  `${resource}/${namespace ?? ''}/${name ?? ''}`;

/** @param objects what is there at the beginning; namespaces first */
export function createExploredCluster(
  clock: { now(): number },
  objects: readonly KubernetesManifest[],
): ExploredCluster {
  const core = createCluster(clock);
  for (const object of objects) core.seed(object);
  const originals = new Map<string, KubernetesObject>();
  const touched = new Map<string, Touched>();
  const changed = new Set<string>();
  /** The number of the write that made each version, and the object that each new UID was given to. */
  const versions = new Map<string, string>();
  const newUids = new Map<string, string>();
  let isReady = false;

  const note = ({ group, version, resource }: ResourceInfo, event: WatchEvent): void => {
    if (event.type === 'BOOKMARK' || event.type === 'ERROR') return;
    const { namespace, name, uid, resourceVersion } = event.object.metadata;
    const thing = thingOf(resource, namespace, name);
    if (!isReady) {
      originals.set(thing, event.object);
      return;
    }
    const type = { group, version, resource };
    const ref: ObjectRef = namespace === undefined ? { type, name } : { type, namespace, name };
    const entry = touched.get(thing) ?? { ref, original: originals.get(thing), current: undefined, writes: 0 };
    entry.writes += 1;
    entry.current = event.type === 'DELETED' ? undefined : event.object;
    touched.set(thing, entry);
    changed.add(thing);
    if (resourceVersion !== undefined) versions.set(resourceVersion, String(entry.writes));
    if (event.type === 'ADDED') newUids.set(uid, `${thing} ${entry.writes}`);
  };
  const followed = new Set<ResourceInfo>();
  for (const { group, resource } of core.resources()) {
    // Of several versions the one that is preferred.
    const info = core.resource({ group, resource });
    if (info === undefined || followed.has(info) || !info.verbs.includes('watch')) continue;
    followed.add(info);
    core.watch({ group, version: info.version, resource }, {}, event => note(info, event));
  }
  isReady = true;

  const remove = (ref: ObjectRef, object: KubernetesObject): void => {
    core.seed({ ...object, metadata: { ...object.metadata, finalizers: [] } });
    core.delete(ref, { user: WORLD, gracePeriodSeconds: 0 });
  };
  const forget = (): void => {
    touched.clear();
    changed.clear();
    versions.clear();
    newUids.clear();
  };
  const textOf = (value: unknown): string =>
    JSON.stringify(value, (key, field: unknown) => {
      if (key === 'managedFields') return undefined;
      if (typeof field !== 'string') return field;
      if (VERSIONS.includes(key)) return versions.get(field) ?? '0';
      return key === 'uid' ? (newUids.get(field) ?? field) : field;
    }) ?? 'nothing';

  return {
    core,
    textOf,
    rebase() {
      for (const [thing, { current }] of touched) {
        if (current === undefined) originals.delete(thing);
        else originals.set(thing, current);
      }
      forget();
    },
    restore() {
      for (const { ref, original, current } of touched.values()) {
        if (original !== undefined) core.seed(original);
        else if (current !== undefined) remove(ref, current);
      }
      forget();
    },
    takeChanges() {
      const changes = [...changed].map(thing => {
        const entry = touched.get(thing);
        return [thing, `${textOf(entry?.current)} ${entry?.writes}`] as const;
      });
      changed.clear();
      return changes;
    },
    touched: () => [...touched].map(([thing, { original, current }]) => ({ thing, original, current })),
  };
}
