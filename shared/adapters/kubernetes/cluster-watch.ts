/**
 * `ClusterWatch` over HTTP: list pages, and watch streams of one JSON event per line.
 *
 * A stream ends when the server ends it (at `timeoutSeconds`), when the connection breaks, and when the caller's signal aborts. A
 * stream can also die without a word (a load balancer that forgot it, a peer that vanished): only the caller, who knows what silence
 * is too long, sees that.
 */
import type { Readable } from 'node:stream';
import { WatchExpired, type ClusterWatch, type WatchEvent } from '../../ports/cluster-watch.ts';
import { parseApiFailure } from './api-failure.ts';
import { fromNetworkFailure } from './errors.ts';
import { BrokenStream, readLines } from './lines.ts';
import { listPage } from './list-page.ts';
import { collectionPath } from './paths.ts';
import { readText } from './read-body.ts';
import { resolveKind, versionsOf } from './resolve-kind.ts';
import type { Transport, TransportResponse } from './transport.ts';
import { parseWatchEvent, toWatchError } from './watch-events.ts';

/**
 * Throws `WatchExpired` for 410, `RetryableError` or `TerminalError` as `errors.ts` says, and the signal's reason on
 * abort.
 */
export function createClusterWatch(transport: Transport): ClusterWatch {
  return {
    resolve: (kind, signal) => resolveKind(transport, kind, signal),

    versionsOf: (kind, signal) => versionsOf(transport, kind, signal),

    async list(type, { selection = {}, ...options }) {
      const page = await listPage(transport, type, { query: selection, ...options });
      if (page.kind === 'expired') throw new WatchExpired(page.message);
      return page;
    },

    async *watch(type, { selection = {}, resourceVersion, timeoutSeconds, signal }) {
      const doing = `watching ${type.resource}`;
      const { namespace, ...selectors } = selection;
      const end = new AbortController();
      const endWithCaller = (): void => end.abort(signal.reason);
      signal.throwIfAborted();
      signal.addEventListener('abort', endWithCaller);
      try {
        const path = collectionPath(type, namespace, {
          ...selectors,
          watch: true,
          allowWatchBookmarks: true,
          resourceVersion,
          timeoutSeconds,
        });
        const response = await transport.stream({ method: 'GET', path, doing, signal: end.signal });
        yield* readEvents(response, { end: end.signal, doing });
      } finally {
        signal.removeEventListener('abort', endWithCaller);
        end.abort();
      }
    },
  };
}

interface ReadOptions {
  readonly end: AbortSignal;
  readonly doing: string;
}

/** Throws what a refusal means, the reason of `end`, or `RetryableError` for a lost connection. */
async function* readEvents(
  { status, body, retryAfter }: TransportResponse<Readable>,
  { end, doing }: ReadOptions,
): AsyncGenerator<WatchEvent, void, undefined> {
  try {
    if (status !== 200) throw toWatchError(parseApiFailure(status, await textOf(body), retryAfter), doing);
    for await (const line of readLines(body)) yield parseWatchEvent(line, doing);
  } catch (error) {
    if (!(error instanceof BrokenStream)) throw error;
    end.throwIfAborted();
    throw fromNetworkFailure({ error: error.cause, sent: true }, { doing, write: false });
  }
}

async function textOf(body: Readable): Promise<string> {
  try {
    return await readText(body);
  } catch (error) {
    throw error instanceof Error ? new BrokenStream(error) : error;
  }
}
