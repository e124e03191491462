/**
 * `ClusterWatch` over HTTP: list pages, and watch streams of one JSON event per line.
 *
 * A stream can die without a word (a load balancer that forgot it, a peer that vanished). Three things end it: the server at
 * `timeoutSeconds`, the caller's signal, and `STALL_TIMEOUT` without a byte. Bookmarks, which come about every minute, keep a
 * quiet stream alive.
 */
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { seconds, type DurationMs } from '../../domain/time.ts';
import { RetryableError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';
import { WatchExpired, type ClusterWatch, type WatchEvent } from '../../ports/cluster-watch.ts';
import { parseApiFailure } from './api-failure.ts';
import { fromNetworkFailure } from './errors.ts';
import { BrokenStream, readLines } from './lines.ts';
import { listPage } from './list-page.ts';
import { collectionPath } from './paths.ts';
import type { Transport, TransportResponse } from './transport.ts';
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
        const onSilence = (): void =>
          end.abort(new RetryableError(`${doing}: nothing came for ${stallTimeout} ms`, { reason: 'Stalled' }));
        yield* readEvents(response, { clock, stallTimeout, onSilence, end: end.signal, doing, passOver });
      } finally {
        signal.removeEventListener('abort', endWithCaller);
        end.abort();
      }
    },
  };
}

interface ReadOptions {
  readonly clock: Clock;
  readonly stallTimeout: DurationMs;
  /** Aborts `end`, which closes the connection. */
  readonly onSilence: () => void;
  readonly end: AbortSignal;
  readonly doing: string;
  readonly passOver: ((text: string) => boolean) | undefined;
}

/** Throws what a refusal means, the reason of `end`, or `RetryableError` for a lost connection. */
async function* readEvents(
  { status, body, retryAfter }: TransportResponse<Readable>,
  { clock, stallTimeout, onSilence, end, doing, passOver }: ReadOptions,
): AsyncGenerator<WatchEvent, void, undefined> {
  const silence = startSilenceLimit(clock, stallTimeout, onSilence);
  try {
    if (status !== 200) {
      silence.wait();
      throw toWatchError(parseApiFailure(status, await textOf(body), retryAfter), doing);
    }
    // While the reader is busy nothing is waited for: a slow reader is not a silent server.
    const events = { onWait: () => silence.wait(), onHeard: () => silence.heard() };
    for await (const line of readLines(body, { ...events, ...(passOver && { passOver }) })) {
      yield parseWatchEvent(line, doing);
    }
  } catch (error) {
    if (!(error instanceof BrokenStream)) throw error;
    end.throwIfAborted();
    throw fromNetworkFailure({ error: error.cause, sent: true }, { doing, write: false });
  } finally {
    silence.end();
  }
}

async function textOf(body: Readable): Promise<string> {
  try {
    return await text(body);
  } catch (error) {
    throw error instanceof Error ? new BrokenStream(error) : error;
  }
}
