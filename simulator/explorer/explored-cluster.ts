/** One API server for thousands of schedules: after each, what was touched is put back as it was. */
import type { KubernetesManifest, KubernetesObject, ObjectRef } from '../../shared/domain/kubernetes-object.ts';
import type { ApiServerCore, ResourceInfo } from '../../packages/kube-apiserver/src/types.ts';
import { createCluster } from '../world.ts';

/** Who changes the world to the API server. */
export const WORLD = 'world';

export interface ExploredCluster {
  readonly core: ApiServerCore;
  /** Undoes everything since the cluster was made. */
  restore(): void;
  /** What `change` writes to, by resource; Events by name. */
  resourcesTouchedBy(change: () => void): readonly string[];
  /** What was written to since the cluster was made; undefined for what was not there then, or is gone. */
  touched(): readonly TouchedObject[];
}

export interface TouchedObject {
  /** Resource, namespace and name. */
  readonly key: string;
  readonly original: KubernetesObject | undefined;
  readonly current: KubernetesObject | undefined;
}

interface Touched {
  readonly ref: ObjectRef;
  readonly original: KubernetesObject | undefined;
}

/** @param objects what is there at the beginning; namespaces first */
export function createExploredCluster(
  clock: { now(): number },
  objects: readonly KubernetesManifest[],
): ExploredCluster {
  const core = createCluster(clock);
  for (const object of objects) core.seed(object);
  const originals = new Map<string, KubernetesObject>();
  const touched = new Map<string, Touched>();
  const changing = new Set<string>();
  let isReady = false;

  const follow = (info: ResourceInfo): void => {
    const { group, version, resource } = info;
    core.watch({ group, version, resource }, {}, event => {
      if (event.type === 'BOOKMARK' || event.type === 'ERROR') return;
      const { namespace, name } = event.object.metadata;
      const key = `${resource}.${group} ${namespace ?? ''}/${name}`;
      changing.add(resource);
      if (!isReady) originals.set(key, event.object);
      else if (!touched.has(key)) {
        const type = { group, version, resource };
        const ref: ObjectRef = namespace === undefined ? { type, name } : { type, namespace, name };
        touched.set(key, { ref, original: originals.get(key) });
      }
    });
  };
  const followed = new Set<ResourceInfo>();
  for (const { group, resource } of core.resources()) {
    // Of several versions the one that is preferred.
    const info = core.resource({ group, resource });
    if (info === undefined || followed.has(info) || !info.verbs.includes('watch')) continue;
    followed.add(info);
    follow(info);
  }
  isReady = true;

  const current = (ref: ObjectRef): KubernetesObject | undefined => {
    try {
      return core.get(ref);
    } catch {
      return undefined;
    }
  };
  const remove = (ref: ObjectRef): void => {
    const object = current(ref);
    if (object === undefined) return;
    core.seed({ ...object, metadata: { ...object.metadata, finalizers: [] } });
    core.delete(ref, { user: WORLD, gracePeriodSeconds: 0 });
  };

  return {
    core,
    restore() {
      for (const { ref, original } of touched.values()) {
        if (original === undefined) remove(ref);
        else core.seed(original);
      }
      touched.clear();
    },
    resourcesTouchedBy(change) {
      changing.clear();
      change();
      return [...changing];
    },
    touched: () => [...touched].map(([key, { ref, original }]) => ({ key, original, current: current(ref) })),
  };
}
