import type { KubernetesObject, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import { WatchExpired, type ClusterWatch, type WatchEvent } from '../../shared/ports/cluster-watch.ts';

interface Stream {
  readonly resource: string;
  readonly options: {
    readonly resourceVersion: string;
    readonly timeoutSeconds: number;
  };
  push(event: WatchEvent): void;
  end(): void;
  fail(error: Error): void;
}

/**
 * A small cluster with a history: lists are paged snapshots, a watch replays what came after its resourceVersion and expires
 * when that was compacted. Faults are set from outside. It says nothing by itself: bookmarks are sent by the test.
 */
export function createFakeClusterWatch() {
  let version = 100;
  let compactedBelow = 0;
  const objects = new Map<string, { resource: string; object: KubernetesObject }>();
  const history: { version: number; resource: string; event: WatchEvent }[] = [];
  const streams = new Set<Stream>();
  const notServed = new Set<string>();
  const kinds = new Map<string, ResourceType>();
  const otherVersions = new Map<string, readonly string[]>();
  const calls: string[] = [];
  /** Lists that the pages of a resource may come without. */
  const unread = new Map<string, readonly string[] | undefined>();
  let resolveFault: ((kind: string) => Error | undefined) | undefined;
  let listFault: ((resource: string) => Error | 'hang' | undefined) | undefined;
  let watchFault: ((resource: string) => Error | 'end' | undefined) | undefined;

  function record(
    resource: string,
    type: 'ADDED' | 'MODIFIED' | 'DELETED',
    object: KubernetesObject,
  ): KubernetesObject {
    version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    if (type === 'DELETED') objects.delete(`${resource}/${object.metadata.uid}`);
    else objects.set(`${resource}/${object.metadata.uid}`, { resource, object: stored });
    const event: WatchEvent = { type, object: stored };
    history.push({ version, resource, event });
    for (const stream of streams) if (stream.resource === resource) stream.push(event);
    return stored;
  }

  const cluster: ClusterWatch = {
    async resolve(kind) {
      calls.push(`resolve ${kind.kind}`);
      const fault = resolveFault?.(kind.kind);
      if (fault !== undefined) throw fault;
      return kinds.get(kind.kind);
    },
    async versionsOf(kind) {
      return otherVersions.get(kind.kind) ?? [kinds.get(kind.kind)].flatMap(type => type?.version ?? []);
    },
    async list(type, { selection, limit = Infinity, continue: token, signal, ...options }) {
      unread.set(type.resource, options.unread);
      const nodeName = /^spec\.nodeName=(.*)$/.exec(selection?.fieldSelector ?? '')?.[1];
      calls.push(
        `list ${type.resource}${nodeName === undefined ? '' : ` of ${nodeName}`}${token === undefined ? '' : ` from ${token}`}`,
      );
      const fault = listFault?.(type.resource);
      if (fault === 'hang') return new Promise(() => undefined);
      if (fault !== undefined) throw fault;
      signal.throwIfAborted();
      if (notServed.has(type.resource)) return { kind: 'notServed' };
      const all = [...objects.values()].filter(
        ({ resource, object: { spec } }) =>
          resource === type.resource && (nodeName === undefined || spec?.['nodeName'] === nodeName),
      );
      const start = Number(token ?? 0);
      const items = all.slice(start, start + limit).map(({ object }) => object);
      const more = start + limit < all.length ? { continue: String(start + limit) } : {};
      return { kind: 'page', items, resourceVersion: String(version), ...more };
    },
    watch(type, { resourceVersion, timeoutSeconds, signal }) {
      calls.push(`watch ${type.resource} from ${resourceVersion}`);
      const fault = watchFault?.(type.resource);
      const stream = createStream(type, { resourceVersion, timeoutSeconds });
      streams.add(stream);
      if (fault === 'end') stream.end();
      else if (fault !== undefined) stream.fail(fault);
      else if (Number(resourceVersion) < compactedBelow) stream.fail(new WatchExpired('too old resource version'));
      for (const entry of history) {
        if (entry.resource === type.resource && entry.version > Number(resourceVersion)) stream.push(entry.event);
      }
      signal.addEventListener('abort', () => stream.end(), { once: true });
      return { [Symbol.asyncIterator]: () => stream.iterate(() => streams.delete(stream)) };
    },
  };

  return {
    cluster,
    calls,
    unread,
    add: (type: ResourceType, object: KubernetesObject) => record(type.resource, 'ADDED', object),
    modify: (type: ResourceType, object: KubernetesObject) => record(type.resource, 'MODIFIED', object),
    remove: (type: ResourceType, object: KubernetesObject) => record(type.resource, 'DELETED', object),
    bookmark: (type: ResourceType) => {
      for (const stream of streams) {
        if (stream.resource === type.resource) stream.push({ type: 'BOOKMARK', resourceVersion: String(version) });
      }
    },
    /** Ends all open watches of a resource: cleanly, or with an error. */
    breakWatches: (type: ResourceType, error?: Error) => {
      for (const stream of streams) {
        if (stream.resource !== type.resource) continue;
        if (error === undefined) stream.end();
        else stream.fail(error);
      }
    },
    /** Open streams hear nothing more, and do not end: the other side is gone. */
    muteWatches: () => streams.clear(),
    /** Forgets the history: every watch from before expires. */
    compact: () => {
      compactedBelow = version;
      history.length = 0;
    },
    setServed: (type: ResourceType, served: boolean) => {
      if (served) notServed.delete(type.resource);
      else notServed.add(type.resource);
    },
    /** Discovery finds this resource for the kind from now on, or none. */
    setKind: (kind: string, type: ResourceType | undefined) => {
      if (type === undefined) kinds.delete(kind);
      else kinds.set(kind, type);
    },
    /** The kind is served in these versions from now on, whatever `setKind` says. */
    setVersions: (kind: string, versions: readonly string[]) => otherVersions.set(kind, versions),
    failResolving: (fault: typeof resolveFault) => {
      resolveFault = fault;
    },
    failLists: (fault: typeof listFault) => {
      listFault = fault;
    },
    failWatches: (fault: typeof watchFault) => {
      watchFault = fault;
    },
    openWatches: () => [...streams].map(({ resource, options }) => ({ resource, ...options })),
  };
}

function createStream(type: ResourceType, options: Stream['options']) {
  const pending: WatchEvent[] = [];
  let ending: { error?: Error } | undefined;
  let wake: (() => void) | undefined;
  const changed = (): void => {
    wake?.();
    wake = undefined;
  };
  return {
    resource: type.resource,
    options,
    push(event: WatchEvent) {
      if (ending !== undefined) return;
      pending.push(event);
      changed();
    },
    end() {
      ending ??= {};
      changed();
    },
    fail(error: Error) {
      ending ??= { error };
      changed();
    },
    async *iterate(closed: () => void): AsyncGenerator<WatchEvent> {
      try {
        for (;;) {
          const event = pending.shift();
          if (event !== undefined) yield event;
          else if (ending?.error !== undefined) throw ending.error;
          else if (ending !== undefined) return;
          else await new Promise<void>(resolve => (wake = resolve));
        }
      } finally {
        closed();
      }
    },
  };
}
