/** What the checks see of a cluster, for tests. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { Mirror, Mirrored } from '../../simulator/invariants/mirror.ts';

/** A mirror of these objects, read anew at each question. Followers hear of no change. */
export function mirrorOf(objects: Partial<Record<Mirrored, readonly KubernetesObject[]>>): Mirror {
  return {
    all: resource => new Map((objects[resource] ?? []).map(object => [object.metadata.uid, object])),
    lastPools: () => new Map(),
    changes: () => 0,
    follow: () => {},
  };
}
