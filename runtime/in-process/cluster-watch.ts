/** `ClusterWatch` on the embedded API server in the same process. */
import { toApiFailure } from '../../shared/adapters/kubernetes/api-failure.ts';
import { apiVersionOf, type ResourceType } from '../../shared/domain/kubernetes-object.ts';
import { addDuration, seconds } from '../../shared/domain/time.ts';
import { toWatchError } from '../../shared/adapters/kubernetes/watch-events.ts';
import { toThrown } from '../../shared/adapters/kubernetes/errors.ts';
import { WatchExpired, type ClusterWatch, type WatchEvent } from '../../shared/ports/cluster-watch.ts';
import { objectAt, textAt } from '../../packages/kube-apiserver/src/json.ts';
import type { WatchEvent as ServedEvent } from '../../packages/kube-apiserver/src/types.ts';
import type { Scheduler } from '../scheduler.ts';
import { failureOf, versionsIn, type InProcessServer } from './kubernetes-api.ts';

/** Lists and watches that can be cut off from outside, as an API server that goes away cuts them off. */
export interface InProcessClusterWatch extends ClusterWatch {
  /** Ends every open watch with this error. */
  breakWatches(error: Error): void;
  /** Ends the open watches of these, as an API server does with those of a kind that goes. */
  endWatches(isMeant: (type: ResourceType, namespace: string | undefined) => boolean): void;
}

/** Streams end after `timeoutSeconds` of the scheduler's time. Throws as the adapter over HTTP does. */
export function createInProcessClusterWatch(core: InProcessServer, scheduler: Scheduler): InProcessClusterWatch {
  const open = new Map<Stream, { readonly type: ResourceType; readonly namespace: string | undefined }>();
  return {
    async resolve({ group, version, kind }) {
      const info = core.resourceForKind(apiVersionOf({ group, version }), kind);
      return info === undefined ? undefined : { group, version, resource: info.resource };
    },
    async versionsOf(kind) {
      return versionsIn(core, kind);
    },
    async list(type, { selection = {}, limit, continue: token }) {
      try {
        const page = { ...(limit === undefined ? {} : { limit }), ...(token === undefined ? {} : { continue: token }) };
        const list = { ...selection, ...page };
        const { items, resourceVersion, continue: next } = core.list(type, list);
        return { kind: 'page', items, resourceVersion, ...(next === undefined ? {} : { continue: next }) };
      } catch (error) {
        const failure = failureOf(error);
        if (failure.status === 404) return { kind: 'notServed' };
        if (failure.status === 410) throw new WatchExpired(failure.message);
        throw toThrown(failure, { doing: `listing ${type.resource}`, write: false });
      }
    },
    watch(type, { selection = {}, resourceVersion, timeoutSeconds, signal }) {
      const doing = `watching ${type.resource}`;
      const stream = new Stream();
      const start = (): void => {
        open.set(stream, { type, namespace: selection.namespace });
        stream.onEnd(() => open.delete(stream));
        try {
          const options = { ...selection, resourceVersion, allowWatchBookmarks: true };
          const subscription = core.watch(type, options, event => stream.push(event, doing));
          stream.onEnd(() => subscription.stop());
        } catch (error) {
          stream.fail(toWatchError(failureOf(error), doing));
          return;
        }
        const timeout = addDuration(scheduler.now(), seconds(timeoutSeconds));
        stream.onEnd(scheduler.at(timeout, () => stream.end()));
        const abort = (): void => stream.fail(signal.reason);
        signal.addEventListener('abort', abort, { once: true });
        stream.onEnd(() => signal.removeEventListener('abort', abort));
      };
      return {
        [Symbol.asyncIterator]: () => {
          if (signal.aborted) stream.fail(signal.reason);
          else start();
          return stream;
        },
      };
    },
    breakWatches(error) {
      for (const stream of open.keys()) stream.fail(error);
    },
    endWatches(isMeant) {
      for (const [stream, { type, namespace }] of open) if (isMeant(type, namespace)) stream.end();
    },
  };
}

/** One open watch: events that came, and one reader that takes them. */
class Stream implements AsyncIterator<WatchEvent, undefined> {
  readonly #events: WatchEvent[] = [];
  readonly #endings: (() => void)[] = [];
  #wake: (() => void) | undefined;
  #ended: { readonly error?: unknown } | undefined;

  onEnd(action: () => void): void {
    if (this.#ended === undefined) this.#endings.push(action);
    else action();
  }

  push(event: ServedEvent, doing: string): void {
    if (this.#ended !== undefined) return;
    if (event.type === 'ERROR') {
      this.fail(toWatchError(toApiFailure(event.object.code, event.object), doing));
      return;
    }
    if (event.type === 'BOOKMARK') {
      const resourceVersion = textAt(objectAt(event.object, 'metadata'), 'resourceVersion') ?? '';
      this.#events.push({ type: 'BOOKMARK', resourceVersion });
    } else this.#events.push(event);
    this.#wake?.();
  }

  end(): void {
    this.#finish({});
  }

  fail(error: unknown): void {
    this.#finish({ error });
  }

  async next(): Promise<IteratorResult<WatchEvent, undefined>> {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) return { done: false, value: event };
      if (this.#ended !== undefined) {
        if ('error' in this.#ended) throw this.#ended.error;
        return { done: true, value: undefined };
      }
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  async return(): Promise<IteratorResult<WatchEvent, undefined>> {
    this.end();
    return { done: true, value: undefined };
  }

  #finish(how: { readonly error?: unknown }): void {
    if (this.#ended !== undefined) return;
    this.#ended = how;
    for (const ending of this.#endings) ending();
    this.#wake?.();
  }
}
