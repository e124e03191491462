/** Follows a kind for as long as the simulation runs: a server that goes back to a snapshot ends each watch, and is listed and watched again. */
import type { KubernetesObject, ResourceType } from '../shared/domain/kubernetes-object.ts';
import { equalJson } from '../packages/kube-apiserver/src/json.ts';
import { ApiStatusError, type ApiServerCore, type WatchOptions } from '../packages/kube-apiserver/src/types.ts';

export interface SeenChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubernetesObject;
  /** The object as it was, where it is another one because the server went back, and nobody has changed it. */
  readonly restoredFrom?: KubernetesObject;
}

/** Tells of all that is there, and of every change. Of a kind that is not served any more nothing more is heard. */
export function followKind(
  core: Pick<ApiServerCore, 'watch' | 'list'>,
  type: ResourceType,
  deliver: (change: SeenChange) => void,
): void {
  const known = new Map<string, KubernetesObject>();
  const tell = (change: SeenChange): void => {
    const { uid } = change.object.metadata;
    if (change.type === 'DELETED') known.delete(uid);
    else known.set(uid, change.object);
    deliver(change);
  };
  /** Answers the version to watch from; undefined where the kind is not served. */
  const listAgain = (): string | undefined => {
    const list = unlessNotServed(() => core.list(type));
    if (list === undefined) return undefined;
    const { items, resourceVersion } = list;
    const uids = new Set(items.map(({ metadata }) => metadata.uid));
    for (const object of known.values()) if (!uids.has(object.metadata.uid)) tell({ type: 'DELETED', object });
    for (const object of items) {
      const before = known.get(object.metadata.uid);
      if (before === undefined) tell({ type: 'ADDED', object });
      else if (!equalJson(before, object)) tell({ type: 'MODIFIED', object, restoredFrom: before });
    }
    return resourceVersion;
  };
  const watch = (from: WatchOptions): void => {
    core.watch(type, from, event => {
      if (event.type === 'BOOKMARK') return;
      if (event.type !== 'ERROR') return tell(event);
      const resourceVersion = listAgain();
      if (resourceVersion !== undefined) watch({ resourceVersion });
    });
  };
  watch({});
}

function unlessNotServed<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof ApiStatusError && error.status.code === 404) return undefined;
    throw error;
  }
}
