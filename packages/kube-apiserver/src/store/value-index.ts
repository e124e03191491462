/** The objects of a collection by a value that is read from each, so that those with one value are found without looking at all. */
import type { JsonObject } from '../json.ts';

/** One requirement of a selection: objects of which `read` answers `value`. `id` tells what is read. */
export interface Equality {
  readonly id: string;
  readonly read: (object: JsonObject) => unknown;
  readonly value: string;
}

export class ValueIndex {
  readonly #read: (object: JsonObject) => unknown;
  /** Value → key → object; no map is empty. */
  readonly #objects = new Map<unknown, Map<string, JsonObject>>();

  constructor(read: (object: JsonObject) => unknown) {
    this.#read = read;
  }

  /** `before` or `after` is absent for an object that comes or goes. */
  replace(key: string, before: JsonObject | undefined, after: JsonObject | undefined): void {
    if (before !== undefined) this.#remove(this.#read(before), key);
    if (after === undefined) return;
    const value = this.#read(after);
    const objects = this.#objects.get(value);
    if (objects === undefined) this.#objects.set(value, new Map([[key, after]]));
    else objects.set(key, after);
  }

  /** Keys and objects with this value, in no order. */
  entries(value: string): Iterable<[string, JsonObject]> {
    return this.#objects.get(value) ?? [];
  }

  #remove(value: unknown, key: string): void {
    const objects = this.#objects.get(value);
    objects?.delete(key);
    if (objects?.size === 0) this.#objects.delete(value);
  }
}
