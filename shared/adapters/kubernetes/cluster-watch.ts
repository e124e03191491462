/**
 * `ClusterWatch` over HTTP: list pages, and watch streams of one JSON event per line.
 *
 * A stream can die without a word (a load balancer that forgot it, a peer that vanished). Three things end it: the server at
 * `timeoutSeconds`, the caller's signal, and `STALL_TIMEOUT` without a byte. Bookmarks, which come about every minute, keep a
 * quiet stream alive.
 */
import { text } from 'node:stream/consumers';
import { seconds, type DurationMs } from '../../domain/time.ts';
import { RetryableError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';
import { WatchExpired, type ClusterWatch } from '../../ports/cluster-watch.ts';
import { parseApiFailure } from './api-failure.ts';
import { fromNetworkFailure } from './errors.ts';
import { MAX_LINE_CHARS, readLines } from './lines.ts';
import { listPage } from './list-page.ts';
import { collectionPath } from './paths.ts';
import type { Transport } from './transport.ts';
import { startSilenceLimit } from './time-limit.ts';
import { parseWatchEvent, toWatchError } from './watch-events.ts';

/** Longest silence of a stream: three bookmarks missed. */
export const STALL_TIMEOUT = seconds(200);

export function createClusterWatch(
  transport: Transport,
  clock: Clock,
  stallTimeout: DurationMs = STALL_TIMEOUT,
): ClusterWatch {
  return {
    async list(type, { selection = {}, ...options }) {
      const page = await listPage(transport, type, { query: selection, ...options });
      if (page.kind === 'expired') throw new WatchExpired(page.message);
      return page;
    },

    async *watch(type, { selection = {}, resourceVersion, timeoutSeconds, signal, passOver }) {
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
        const chunks = watchForSilence(response.body, { clock, stallTimeout, end, doing });
        if (response.status !== 200) {
          throw toWatchError(parseApiFailure(response.status, await text(chunks), response.retryAfter), doing);
        }
        for await (const line of readLines(chunks, MAX_LINE_CHARS, passOver)) {
          yield parseWatchEvent(line, doing);
        }
      } finally {
        signal.removeEventListener('abort', endWithCaller);
        end.abort();
      }
    },
  };
}

/**
 * The chunks as they come, until none came for `stallTimeout`: then `end` is aborted, which closes the connection. Throws the
 * reason of `end`, or `RetryableError` for a lost connection.
 */
async function* watchForSilence(
  chunks: AsyncIterable<Uint8Array>,
  limit: { clock: Clock; stallTimeout: DurationMs; end: AbortController; doing: string },
): AsyncGenerator<Uint8Array, void, undefined> {
  const { clock, stallTimeout, end, doing } = limit;
  const iterator = chunks[Symbol.asyncIterator]();
  const silence = startSilenceLimit(clock, stallTimeout, () =>
    end.abort(new RetryableError(`${doing}: nothing came for ${stallTimeout} ms`, { reason: 'Stalled' })),
  );
  try {
    for (;;) {
      silence.wait();
      const next = await iterator.next();
      // Before the chunk is handed on: a slow reader is not a silent server.
      silence.heard();
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    end.signal.throwIfAborted();
    if (!(error instanceof Error)) throw error;
    throw fromNetworkFailure({ error, sent: true }, { doing, write: false });
  } finally {
    silence.end();
  }
}
