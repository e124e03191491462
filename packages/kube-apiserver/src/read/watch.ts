/** Watches: what exists or what happened since a version, then everything that happens. */
import type { ServedResource } from '../resources/resource-rules.ts';
import type { ServerContext } from '../server-context.ts';
import { expired, serverRefused } from '../status-errors.ts';
import { Watcher } from '../store/watchers.ts';
import type { WatchEvent, WatchOptions } from '../types.ts';
import { namespaceOfList, select, selectionOf } from './list.ts';

/** Marks the bookmark after the initial events of a watch that asked for them. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/**
 * Starts a watch. What it starts with is delivered before this returns.
 * @throws ApiStatusError 400 for a bad selector, 500 for a bad version, 410 for a version whose successors are forgotten
 */
export function startWatch(
  server: ServerContext,
  served: ServedResource,
  options: WatchOptions,
  deliver: (event: WatchEvent) => void,
): { stop(): void } {
  const { storage, info, apiVersion } = served;
  const present = server.store.version;
  const from = parseVersion(options.resourceVersion);
  const initial = options.sendInitialEvents ?? from === undefined;
  if (!initial && from !== undefined && !storage.history.reaches(from)) {
    throw expired(`too old resource version: ${from} (${present})`);
  }
  const watcher = new Watcher({
    namespace: namespaceOfList(served, options),
    matches: selectionOf(served, options)?.matches,
    bookmarks: options.allowWatchBookmarks === true,
    apiVersion,
    kind: info.kind,
    deliver,
  });
  storage.watchers.add(watcher);
  server.store.deliverInOrder(() => {
    if (!initial) {
      for (const change of storage.history.since(from ?? present)) watcher.offer(change);
      watcher.startAt(from ?? present);
      return;
    }
    // Changes of which the delivery is still queued are part of what exists.
    watcher.startAt(present);
    for (const object of select(served, options)) watcher.offerExisting(object);
    if (options.sendInitialEvents === true) watcher.bookmark(String(present), { [INITIAL_EVENTS_END]: 'true' });
  });
  return {
    stop() {
      watcher.stop();
      storage.watchers.delete(watcher);
    },
  };
}

/** A version to go on from; undefined for `0` and none, which both mean whatever exists. */
function parseVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === '' || text === '0') return undefined;
  if (!/^\d+$/.test(text))
    throw serverRefused(
      `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
    );
  return Number(text);
}
