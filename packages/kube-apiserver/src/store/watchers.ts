/** The open watches of one resource. A change is turned into the event that each watch's selection makes of it. */
import type { JsonObject } from '../json.ts';
import { objectAt, textAt, withField } from '../json.ts';
import type { Matches } from '../selectors/label-text.ts';
import type { Status, WatchEvent } from '../types.ts';
import { toObject } from '../objects.ts';
import type { Change } from './watch-history.ts';

export interface WatcherOptions {
  readonly namespace: string | undefined;
  readonly matches: Matches | undefined;
  readonly bookmarks: boolean;
  /** `apiVersion` and `kind` of what is delivered. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly deliver: (event: WatchEvent) => void;
}

export class Watcher {
  readonly options: WatcherOptions;
  stopped = false;
  /** Changes up to this version have been delivered; one that is still queued from before is not repeated. */
  #version = 0;

  constructor(options: WatcherOptions) {
    this.options = options;
  }

  stop(): void {
    this.stopped = true;
  }

  /** Delivers an ERROR, after which there is nothing more. */
  end(status: Status): void {
    if (this.stopped) return;
    this.stopped = true;
    this.options.deliver({ type: 'ERROR', object: status });
  }

  /** Marks everything up to a version as known to this watch. */
  startAt(version: number): void {
    this.#version = Math.max(this.#version, version);
  }

  offer(change: Change): void {
    if (this.stopped || change.version <= this.#version) return;
    this.#version = change.version;
    const { namespace, deliver } = this.options;
    if (namespace !== undefined && textAt(objectAt(change.object, 'metadata'), 'namespace') !== namespace) return;
    const type = this.#eventType(change);
    if (type === undefined) return;
    deliver({ type, object: this.#view(type === 'DELETED' ? lastSelected(change) : change.object) });
  }

  /** Delivers an existing object as ADDED. */
  offerExisting(object: JsonObject): void {
    if (!this.stopped) this.options.deliver({ type: 'ADDED', object: this.#view(object) });
  }

  /** Nothing is said of a version before that from which the watch goes on: after a restore it may be ahead of the server. */
  bookmark(resourceVersion: string, annotations?: JsonObject): void {
    if (this.stopped || !this.options.bookmarks || Number(resourceVersion) < this.#version) return;
    const { kind, apiVersion } = this.options;
    const metadata = { resourceVersion, ...(annotations === undefined ? {} : { annotations }) };
    this.options.deliver({ type: 'BOOKMARK', object: { kind, apiVersion, metadata } });
  }

  /** A change that moves an object into the selection is an addition, one that moves it out is a deletion. */
  #eventType({ type, object, previous }: Change): Change['type'] | undefined {
    const { matches } = this.options;
    if (matches === undefined) return type;
    const isSelected = type !== 'DELETED' && matches(object);
    const wasSelected = previous !== undefined && matches(previous);
    if (isSelected) return wasSelected ? 'MODIFIED' : 'ADDED';
    return wasSelected ? 'DELETED' : undefined;
  }

  #view(object: JsonObject) {
    return toObject(withField(object, 'apiVersion', this.options.apiVersion));
  }
}

/** What a deletion event carries: the last state that was selected, at the version of the change. */
function lastSelected({ object, previous }: Change): JsonObject {
  if (previous === undefined) return object;
  const resourceVersion = textAt(objectAt(object, 'metadata'), 'resourceVersion') ?? '';
  return { ...previous, metadata: { ...objectAt(previous, 'metadata'), resourceVersion } };
}
