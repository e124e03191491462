/**
 * Curfew's ports straight on the embedded API server, without HTTP: for the simulation, and wherever both run in one process.
 * What a refusal means is read from the same table as over HTTP.
 */
import { toApiFailure, type ApiFailure } from '../../shared/adapters/kubernetes/api-failure.ts';
import {
  toCreateOutcome,
  toDeleteOutcome,
  toEvictOutcome,
  toThrown,
  toWriteOutcome,
} from '../../shared/adapters/kubernetes/errors.ts';
import { describeCall, hasTestOperation } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { isRecord } from '../../shared/adapters/kubernetes/objects.ts';
import { toWatchError } from '../../shared/adapters/kubernetes/watch-events.ts';
import { seconds } from '../../shared/domain/time.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import { WatchExpired, type ClusterWatch, type ListPage, type WatchEvent } from '../../shared/ports/cluster-watch.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { ApiStatusError, type ApiServerCore, type WatchEvent as ServerEvent } from './types.ts';

export interface PortOptions {
  readonly core: ApiServerCore;
  /** Who calls: stands in the server's observed writes. */
  readonly user: string;
}

export function createInProcessKubernetesApi({ core, user }: PortOptions): KubernetesApi {
  return {
    async get(ref) {
      return answer(
        () => core.get(ref),
        failure => {
          if (failure.status === 404) return undefined;
          throw toThrown(failure, { doing: describeCall('reading', ref), write: false });
        },
      );
    },

    async list(type, query = {}) {
      return answer(
        () => core.list(type, query).items,
        failure => {
          if (failure.status === 404) return undefined;
          throw toThrown(failure, { doing: `listing ${type.resource}`, write: false });
        },
      );
    },

    async create(type, manifest) {
      const { namespace, name = '' } = manifest.metadata;
      const scope = namespace === undefined ? {} : { namespace };
      return answer(
        () => ({ kind: 'ok', object: core.create(type, manifest, { user, ...scope }) }),
        failure => toCreateOutcome(failure, describeCall('creating', { type, ...scope, name })),
      );
    },

    async patch(ref, patch, options) {
      return answer(
        () => ({ kind: 'ok', object: core.patch(ref, patch, { user, ...options }) }),
        failure => toWriteOutcome(failure, describeCall('patching', ref), hasTestOperation(patch)),
      );
    },

    async delete(ref, options) {
      return answer(
        () => {
          core.delete(ref, { user, ...options });
          return { kind: 'ok' };
        },
        failure => toDeleteOutcome(failure, describeCall('deleting', ref)),
      );
    },

    async evict(ref, options) {
      return answer(
        () => {
          core.evict(ref, { user, ...options });
          return { kind: 'ok' };
        },
        failure => toEvictOutcome(failure, describeCall('evicting', ref)),
      );
    },
  };
}

export function createInProcessClusterWatch({ core, clock }: { core: ApiServerCore; clock: Clock }): ClusterWatch {
  return {
    async list(type, { selection = {}, limit, continue: token, signal }) {
      signal.throwIfAborted();
      return answer<ListPage>(
        () => {
          const page = core.list(type, { ...selection, limit, ...(token === undefined ? {} : { continue: token }) });
          const { items, resourceVersion } = page;
          return { kind: 'page', items, resourceVersion, ...(page.continue ? { continue: page.continue } : {}) };
        },
        failure => {
          if (failure.status === 404) return { kind: 'notServed' };
          if (failure.status === 410) throw new WatchExpired(failure.message);
          throw toThrown(failure, { doing: `listing ${type.resource}`, write: false });
        },
      );
    },

    async *watch(type, { selection = {}, resourceVersion, timeoutSeconds, signal }) {
      signal.throwIfAborted();
      const doing = `watching ${type.resource}`;
      const arrived: ServerEvent[] = [];
      let awake = Promise.withResolvers<void>();
      const end = new AbortController();
      const wake = (): void => awake.resolve();
      signal.addEventListener('abort', wake);
      const options = { ...selection, resourceVersion, allowWatchBookmarks: true };
      const watch = answer(
        () =>
          core.watch(type, options, event => {
            arrived.push(event);
            wake();
          }),
        failure => {
          throw toWatchError(failure, doing);
        },
      );
      let timedOut = false;
      void clock.sleep(seconds(timeoutSeconds), end.signal).then(
        () => {
          timedOut = true;
          wake();
        },
        () => undefined, // The watch ended before.
      );
      try {
        for (;;) {
          signal.throwIfAborted();
          const event = arrived.shift();
          if (event !== undefined) yield fromServerEvent(event, doing);
          else if (timedOut) return;
          else {
            awake = Promise.withResolvers();
            await awake.promise;
          }
        }
      } finally {
        signal.removeEventListener('abort', wake);
        watch.stop();
        end.abort();
      }
    },
  };
}

/** What the server answers, or what its refusal means. */
function answer<Answer>(ask: () => Answer, onRefusal: (failure: ApiFailure) => Answer): Answer {
  try {
    return ask();
  } catch (error) {
    if (error instanceof ApiStatusError) return onRefusal(toApiFailure(error.status.code, error.status));
    throw error;
  }
}

function fromServerEvent(event: ServerEvent, doing: string): WatchEvent {
  if (event.type === 'ERROR') throw toWatchError(toApiFailure(event.object.code, event.object), doing);
  if (event.type !== 'BOOKMARK') return event;
  const { metadata } = event.object;
  const version = isRecord(metadata) ? metadata['resourceVersion'] : undefined;
  return { type: 'BOOKMARK', resourceVersion: typeof version === 'string' ? version : '' };
}
