/** One HTTP request and its answer on `node:http`/`node:https`, with time limits and abort. */
import http from 'node:http';
import https from 'node:https';
import { outOfTime } from '../end-of-calls.ts';
import { durationBetween, type DurationMs } from '../../domain/time.ts';
import type { LimitClock, TimeLimit } from '../../ports/clock.ts';

export interface ExchangeOptions {
  /** Host, path, method and headers, as `node:http` takes them. */
  readonly request: http.RequestOptions;
  readonly secure: boolean;
  /** As text, so that it leaves in one piece with the head. */
  readonly body: string | undefined;
  readonly clock: LimitClock;
  /** Until the TCP and TLS handshakes are done. */
  readonly connectTimeout: DurationMs;
  /** Until `read` is done. */
  readonly requestTimeout: DurationMs;
  readonly signal: AbortSignal | undefined;
  /** The request fails when this aborts, as by a time limit. */
  readonly end: AbortSignal | undefined;
  /** Has a connection, new or kept, after waiting so long. */
  readonly onSocket: (waited: DurationMs) => void;
}

/** No (whole) answer came. */
export class ExchangeFailure extends Error {
  /** The connection stood: bytes of the request may have reached the server. */
  readonly sent: boolean;
  /** It failed on a kept connection, which the other side may have closed in the meantime. */
  readonly stale: boolean;
  override readonly cause: Error;

  constructor(cause: Error, { sent, stale }: { sent: boolean; stale: boolean }) {
    super(cause.message);
    this.cause = cause;
    this.sent = sent;
    this.stale = stale;
  }
}

/** Sends the request and resolves to what `read` makes of the answer. Throws `ExchangeFailure`, or the signal's reason. */
export async function exchange<Answer>(
  options: ExchangeOptions,
  read: (message: http.IncomingMessage) => Promise<Answer>,
): Promise<Answer> {
  const { request, secure, clock, signal, end } = options;
  signal?.throwIfAborted();
  const outgoing = (secure ? https : http).request(request);
  let incoming: http.IncomingMessage | undefined;
  const cut = (error: Error): void => void (incoming ?? outgoing).destroy(error);

  // Not node's own `signal` option: it destroys the socket of an answer that is complete, where nobody listens for the error.
  if (signal !== undefined) {
    const cutByCaller = (): void => cut(new Error('aborted'));
    signal.addEventListener('abort', cutByCaller);
    outgoing.once('close', () => signal.removeEventListener('abort', cutByCaller));
  }

  let timedOut = false;
  const cutInTime = (error: Error): void => {
    timedOut = true;
    cut(error);
  };
  const limit = (duration: DurationMs, code: string): TimeLimit =>
    clock.startLimit(duration, () =>
      cutInTime(Object.assign(new Error(`not done within ${duration / 1000} s`), { code })),
    );
  const onEnd = (): void => cutInTime(outOfTime());
  end?.addEventListener('abort', onEnd);
  const requestLimit = limit(options.requestTimeout, 'RequestTimeout');
  let connectLimit: TimeLimit | undefined;
  let connected = false;
  const onConnected = (): void => {
    connected = true;
    connectLimit?.lift();
  };

  try {
    const head = new Promise<http.IncomingMessage>((resolve, reject) => {
      outgoing.once('response', message => {
        incoming = message;
        // A streamed body may be cut when nobody reads any more; a reader sees the error anyway.
        message.on('error', () => undefined);
        resolve(message);
      });
      // Stays for the whole life: an error after the head must not end the process.
      outgoing.on('error', reject);
    });
    const asked = clock.now();
    outgoing.once('socket', socket => {
      options.onSocket(durationBetween(asked, clock.now()));
      // A kept connection, as it is for nearly every request, needs no limit on its handshakes.
      if (!socket.connecting) return onConnected();
      connectLimit = limit(options.connectTimeout, 'ConnectTimeout');
      socket.once(secure ? 'secureConnect' : 'connect', onConnected);
    });
    outgoing.end(options.body);
    return await read(await head);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof Error)) throw error;
    throw new ExchangeFailure(error, { sent: connected, stale: outgoing.reusedSocket && !timedOut });
  } finally {
    connectLimit?.lift();
    requestLimit.lift();
    end?.removeEventListener('abort', onEnd);
  }
}
