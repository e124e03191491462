/**
 * The store: one version counter for everything, one storage per resource, and the delivery of each change to watches and
 * observers. Deliveries are queued: a watch that writes while it receives a change sees its own write afterwards,
 * and so does every other watch, in the same order.
 */
import type { JsonObject } from '../json.ts';
import type { StoredObject } from '../kubernetes-object.ts';
import { metadataOf, toObject } from '../objects.ts';
import type { ObservedWrite, Status } from '../types.ts';
import { Collection } from './collection.ts';
import type { Change } from './watch-history.ts';
import { WatchHistory } from './watch-history.ts';
import type { Watcher } from './watchers.ts';

/** What all versions of a resource share. */
export interface ResourceStorage {
  readonly collection: Collection<StoredObject>;
  readonly history: WatchHistory;
  readonly watchers: Set<Watcher>;
}

/** One write of one object: `before` absent for a create, `after` absent for a removal. */
export interface Commit {
  readonly storage: ResourceStorage;
  readonly namespace: string;
  readonly name: string;
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
}

interface Delivery {
  readonly storage: ResourceStorage;
  readonly change: Change;
}

/** The end of all watches of a resource. */
interface Ending {
  readonly storage: ResourceStorage;
  readonly status: Status;
}

export class ObjectStore {
  readonly #watchHistory: number;
  readonly #observers = new Set<(write: ObservedWrite) => void>();
  readonly #queue: (Delivery | Ending | ObservedWrite)[] = [];
  #version = 1;
  #delivering = false;

  /** @param watchHistory changes kept per resource */
  constructor(watchHistory: number) {
    this.#watchHistory = watchHistory;
  }

  get version(): number {
    return this.#version;
  }

  /** The next write gets the version after this one. */
  goBackTo(version: number): void {
    this.#version = version;
  }

  newStorage(): ResourceStorage {
    return {
      collection: new Collection<StoredObject>(),
      history: new WatchHistory(this.#watchHistory, this.#version),
      watchers: new Set(),
    };
  }

  /**
   * Stores a change under the next version and queues it for the watches; `flush` delivers it.
   * @returns the object as stored, for a removal its last state, with the new resourceVersion
   */
  commit({ storage, namespace, name, before, after }: Commit): StoredObject {
    const state = after ?? before;
    if (state === undefined) throw new TypeError('a commit needs a state before or after');
    this.#version += 1;
    const version = this.#version;
    const object = toObject({ ...state, metadata: { ...metadataOf(state), resourceVersion: String(version) } });
    if (after === undefined) storage.collection.remove(namespace, name);
    else storage.collection.put(namespace, name, object);
    const type = after === undefined ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED';
    const change: Change = { version, type, object, previous: before };
    storage.history.add(change);
    if (storage.watchers.size > 0) this.#queue.push({ storage, change });
    return object;
  }

  /** True when somebody observes: writers need not describe their write otherwise. */
  get observed(): boolean {
    return this.#observers.size > 0;
  }

  /** Queues the description of a write for the observers, after the changes that it made. */
  report(write: ObservedWrite): void {
    this.#queue.push(write);
  }

  /** Ends the watches of a resource that is no longer served, after what is queued for them. */
  endWatches(storage: ResourceStorage, status: Status): void {
    this.#queue.push({ storage, status });
  }

  observe(observer: (write: ObservedWrite) => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /**
   * Delivers what is queued, in order, unless a delivery further up the stack is doing so already.
   * @throws the first error that a watch or an observer threw, after everything has been delivered
   */
  flush(): void {
    if (this.#delivering || this.#queue.length === 0) return;
    this.#delivering = true;
    const errors: unknown[] = [];
    for (let index = 0; index < this.#queue.length; index += 1) {
      const item = this.#queue[index];
      if (item !== undefined) this.#deliver(item, errors);
    }
    this.#queue.length = 0;
    this.#delivering = false;
    if (errors.length > 0) throw errors[0];
  }

  /** Runs an action that delivers by itself: what it causes to be queued is delivered after it. */
  deliverInOrder(action: () => void): void {
    if (this.#delivering) {
      action();
      return;
    }
    this.#delivering = true;
    try {
      action();
    } finally {
      this.#delivering = false;
    }
    this.flush();
  }

  #deliver(item: Delivery | Ending | ObservedWrite, errors: unknown[]): void {
    if ('change' in item) {
      for (const watcher of item.storage.watchers) collect(errors, () => watcher.offer(item.change));
    } else if ('status' in item) {
      // Who hears of the end may watch again at once.
      const ended = [...item.storage.watchers];
      item.storage.watchers.clear();
      for (const watcher of ended) collect(errors, () => watcher.end(item.status));
    } else {
      for (const observer of this.#observers) collect(errors, () => observer(item));
    }
  }
}

/** One listener's failure must not keep the others from hearing. */
function collect(errors: unknown[], action: () => void): void {
  try {
    action();
  } catch (error) {
    errors.push(error);
  }
}
