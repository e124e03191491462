/** Objects by something that can be read from them, kept up to date: what is asked every minute costs nothing to keep. */
import type { KubernetesObject } from '../shared/domain/kubernetes-object.ts';

export interface Grouping {
  /** Those with this key, in the order in which they came to have it. */
  readonly get: (key: string) => readonly KubernetesObject[];
  /** The first of them. */
  readonly first: (key: string) => KubernetesObject | undefined;
  /** Keys that some object has. */
  readonly keys: () => Iterable<string>;
}

/** Who tells of all that is there, then of every change. */
interface Followed<Resource> {
  follow(listener: (resource: Resource, uid: string, object: KubernetesObject | undefined) => void): void;
}

interface Group {
  readonly members: Map<string, KubernetesObject>;
  /** The same as a list; dropped by each change, made again by the next who asks. */
  list: readonly KubernetesObject[] | undefined;
}

/** @param keyOf undefined for objects that nobody asks for */
export function groupObjects<Resource extends string>(
  mirror: Followed<Resource>,
  resource: NoInfer<Resource>,
  keyOf: (object: KubernetesObject) => string | undefined,
): Grouping {
  const groups = new Map<string, Group>();
  const listOf = (group: Group): readonly KubernetesObject[] => (group.list ??= [...group.members.values()]);
  const keys = new Map<string, string>();
  mirror.follow((changed, uid, object) => {
    if (changed !== resource) return;
    const before = keys.get(uid);
    const key = object && keyOf(object);
    if (before !== undefined && before !== key) {
      const left = groups.get(before);
      if (left !== undefined) left.list = undefined;
      left?.members.delete(uid);
      if (left?.members.size === 0) groups.delete(before);
      keys.delete(uid);
    }
    if (key === undefined || object === undefined) return;
    const group = groups.get(key) ?? { members: new Map<string, KubernetesObject>(), list: undefined };
    group.members.set(uid, object);
    group.list = undefined;
    groups.set(key, group);
    keys.set(uid, key);
  });
  const get = (key: string): readonly KubernetesObject[] => {
    const group = groups.get(key);
    return group === undefined ? [] : listOf(group);
  };
  return { get, first: key => get(key)[0], keys: () => groups.keys() };
}
