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
  /** What a schedule changed, by its last state; undefined for what is gone. */
  touched(): ReadonlyMap<string, KubernetesObject | undefined>;
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
  for (const info of core.resources()) if (info.verbs.includes('watch')) follow(info);
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
    touched: () => new Map([...touched].map(([key, { ref }]) => [key, current(ref)])),
  };
}
