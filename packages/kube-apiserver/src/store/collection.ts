/** The stored objects of one resource, by namespace and name, listed in the order of their keys as etcd lists them. */
import type { JsonObject } from '../json.ts';
import { ValueIndex, type Equality } from './value-index.ts';

interface Bucket<Stored> {
  readonly objects: Map<string, Stored>;
  /** Names in order; dropped when a name comes or goes, rebuilt by the next list. */
  names: string[] | undefined;
}

/** Namespace of cluster-scoped objects. */
export const CLUSTER = '';

/** Each costs something at every write; what is asked beyond them is looked for among all objects. */
const MAX_INDEXES = 8;

export class Collection<Stored extends JsonObject = JsonObject> {
  readonly #buckets = new Map<string, Bucket<Stored>>();
  #namespaces: string[] | undefined;
  #size = 0;
  /** By what was asked for so far. */
  readonly #indexes = new Map<string, ValueIndex<Stored>>();

  #revision = 0;

  /** Another one after each change of what is stored. */
  get revision(): number {
    return this.#revision;
  }

  get size(): number {
    return this.#size;
  }

  get(namespace: string, name: string): Stored | undefined {
    return this.#buckets.get(namespace)?.objects.get(name);
  }

  put(namespace: string, name: string, object: Stored): void {
    this.#revision += 1;
    let bucket = this.#buckets.get(namespace);
    if (bucket === undefined) {
      bucket = { objects: new Map(), names: undefined };
      this.#buckets.set(namespace, bucket);
      this.#namespaces = undefined;
    }
    const before = bucket.objects.get(name);
    if (before === undefined) {
      bucket.names = undefined;
      this.#size += 1;
    }
    bucket.objects.set(name, object);
    for (const index of this.#indexes.values()) index.replace(keyOf(namespace, name), before, object);
  }

  remove(namespace: string, name: string): void {
    const bucket = this.#buckets.get(namespace);
    const before = bucket?.objects.get(name);
    if (bucket === undefined || before === undefined) return;
    this.#revision += 1;
    bucket.objects.delete(name);
    for (const index of this.#indexes.values()) index.replace(keyOf(namespace, name), before, undefined);
    bucket.names = undefined;
    this.#size -= 1;
    if (bucket.objects.size === 0) {
      this.#buckets.delete(namespace);
      this.#namespaces = undefined;
    }
  }

  /** True when the namespace holds an object of this resource. */
  hasNamespace(namespace: string): boolean {
    return this.#buckets.has(namespace);
  }

  /** The objects of one namespace, or of all, in key order. */
  list(namespace?: string): Stored[] {
    const items: Stored[] = [];
    if (namespace !== undefined) this.#collect(namespace, items);
    else for (const each of this.#orderedNamespaces()) this.#collect(each, items);
    return items;
  }

  /**
   * The objects of one namespace, or of all, with this value, in key order.
   * @returns undefined when there is no index for it, and no room for another
   */
  listEqual(equality: Equality, namespace?: string): Stored[] | undefined {
    const index = this.#indexes.get(equality.id) ?? this.#createIndex(equality);
    return index?.list(equality.value, namespace === undefined ? '' : keyOf(namespace, ''));
  }

  #createIndex({ id, read }: Equality): ValueIndex<Stored> | undefined {
    if (this.#indexes.size === MAX_INDEXES) return undefined;
    const index = new ValueIndex<Stored>(read);
    for (const [namespace, { objects }] of this.#buckets) {
      for (const [name, object] of objects) index.replace(keyOf(namespace, name), undefined, object);
    }
    this.#indexes.set(id, index);
    return index;
  }

  #collect(namespace: string, into: Stored[]): void {
    const bucket = this.#buckets.get(namespace);
    if (bucket === undefined) return;
    bucket.names ??= [...bucket.objects.keys()].toSorted(byText);
    for (const name of bucket.names) {
      const object = bucket.objects.get(name);
      if (object !== undefined) into.push(object);
    }
  }

  #orderedNamespaces(): string[] {
    // The key of an object is `namespace/name`, so `a-b/…` stands before `a/…`.
    this.#namespaces ??= [...this.#buckets.keys()].toSorted((a, b) => byText(`${a}/`, `${b}/`));
    return this.#namespaces;
  }
}

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

/** Order by code unit (object names are ASCII): the order of etcd, not that of a locale. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
