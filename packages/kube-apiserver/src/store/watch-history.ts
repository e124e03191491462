/** The last changes of one resource: a ring from which watches resume. */
import type { JsonObject } from '../json.ts';

/** One stored change. `object` is the state after it, for a removal the last state with the removal's version. */
export interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: JsonObject;
  readonly previous: JsonObject | undefined;
}

export class WatchHistory {
  readonly #capacity: number;
  readonly #ring: Change[] = [];
  /** Index of the oldest change in the ring. */
  #start = 0;
  /** The newest version that is no longer in the ring: a watch can resume from here, not from before. */
  #forgotten: number;

  /** @param forgotten version of the store when this history begins */
  constructor(capacity: number, forgotten: number) {
    this.#capacity = capacity;
    this.#forgotten = forgotten;
  }

  add(change: Change): void {
    if (this.#ring.length < this.#capacity) {
      this.#ring.push(change);
      return;
    }
    const oldest = this.#ring[this.#start];
    if (oldest === undefined) {
      this.#forgotten = change.version; // a ring without room keeps nothing
      return;
    }
    this.#forgotten = oldest.version;
    this.#ring[this.#start] = change;
    this.#start = (this.#start + 1) % this.#capacity;
  }

  /** True when every change after `version` is still here. */
  reaches(version: number): boolean {
    return version >= this.#forgotten;
  }

  /** The changes after `version`, oldest first. */
  since(version: number): Change[] {
    const { length } = this.#ring;
    let low = 0;
    let high = length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const change = this.#ring[(this.#start + middle) % length];
      if (change !== undefined && change.version <= version) low = middle + 1;
      else high = middle;
    }
    const changes: Change[] = [];
    for (let index = low; index < length; index += 1) {
      const change = this.#ring[(this.#start + index) % length];
      if (change !== undefined) changes.push(change);
    }
    return changes;
  }

  /** Forgets everything up to the store's present version. */
  compact(version: number): void {
    this.#ring.length = 0;
    this.#start = 0;
    this.#forgotten = version;
  }
}
