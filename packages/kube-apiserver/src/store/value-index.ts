/** The objects of a collection by a value that is read from each, so that those with one value are found without looking at all. */
import type { JsonObject } from '../json.ts';

/** One requirement of a selection: objects of which `read` answers `value`. `id` tells what is read. */
export interface Equality {
  readonly id: string;
  readonly read: (object: JsonObject) => unknown;
  readonly value: string;
}

/** The objects with one value; never none. */
interface Group<Stored> {
  readonly objects: Map<string, Stored>;
  /** Keys in order; dropped when a key comes or goes, made again by the next list. */
  keys: readonly string[] | undefined;
}

export class ValueIndex<Stored extends JsonObject> {
  readonly #read: Equality['read'];
  readonly #groups = new Map<unknown, Group<Stored>>();

  constructor(read: Equality['read']) {
    this.#read = read;
  }

  /** `before` or `after` is absent for an object that comes or goes. */
  replace(key: string, before: Stored | undefined, after: Stored | undefined): void {
    const value = after && this.#read(after);
    const valueBefore = before && this.#read(before);
    if (before !== undefined && (after === undefined || value !== valueBefore)) this.#remove(valueBefore, key);
    if (after === undefined) return;
    const group = this.#groups.get(value) ?? { objects: new Map<string, Stored>(), keys: undefined };
    this.#groups.set(value, group);
    if (!group.objects.has(key)) group.keys = undefined;
    group.objects.set(key, after);
  }

  /** The objects with this value whose keys begin with `prefix`, in key order. */
  list(value: string, prefix: string): Stored[] {
    const group = this.#groups.get(value);
    if (group === undefined) return [];
    // By code unit (object names are ASCII), as etcd.
    group.keys ??= [...group.objects.keys()].toSorted();
    const items: Stored[] = [];
    for (const key of group.keys) {
      const object = key.startsWith(prefix) ? group.objects.get(key) : undefined;
      if (object !== undefined) items.push(object);
    }
    return items;
  }

  #remove(value: unknown, key: string): void {
    const group = this.#groups.get(value);
    if (group === undefined) return;
    group.objects.delete(key);
    group.keys = undefined;
    if (group.objects.size === 0) this.#groups.delete(value);
  }
}
