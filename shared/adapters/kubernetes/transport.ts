/**
 * A thin HTTP client for one API server on `node:http`/`node:https`: keep-alive, the cluster's CA, a token or client certificate,
 * time limits, and bodies as a stream for watches. It knows nothing of Kubernetes objects.
 *
 * `@kubernetes/client-node` is not used here: it triples the size of a function's bundle and its time to start.
 */
import http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { seconds, type DurationMs } from '../../domain/time.ts';
import type { LimitClock } from '../../ports/clock.ts';
import { outOfTime, type EndOfCalls } from '../end-of-calls.ts';
import { fromNetworkFailure } from './errors.ts';
import { exchange, ExchangeFailure } from './exchange.ts';
import { readText } from './read-body.ts';

/** Until the TCP and TLS handshakes are done. */
const CONNECT_TIMEOUT = seconds(2);
/** From the start of a request to the end of its answer, or of the answer's head where the body is streamed. */
export const REQUEST_TIMEOUT = seconds(10);
/** A socket that was idle for longer is not reused: load balancers and a frozen Lambda forget connections without a word. */
const IDLE_SOCKET_LIFE_MS = 60_000;
/**
 * A burst of requests goes over so few connections: a TLS handshake costs both sides as much CPU as several requests. Over 8 new
 * connections, 45 reads at once take a quarter of the CPU that they take over 45.
 */
const FIRST_SOCKETS = 8;
/** Requests that wait this long for a connection get twice as many: the server takes its time, as for evictions. */
const SOCKET_WAIT = seconds(0.05);
const MAX_SOCKETS = 64;

/** Proves who we are, per request. */
export interface Authenticator {
  /** Header lines for the next request; one that has several values is repeated. */
  headers(): Promise<Readonly<Record<string, string | readonly string[]>>>;
  /** Forgets what is cached; called after a 401, before the one other try. */
  invalidate(): void;
}

export interface TransportOptions {
  /** `https://host[:port][/prefix]`; `http:` for servers on this machine. */
  readonly server: string;
  readonly clock: LimitClock;
  /** Stands in the API server's audit log. */
  readonly userAgent: string;
  readonly authenticator?: Authenticator;
  readonly tls?: Pick<https.AgentOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;
  /** In place of the agent made from `tls`, e.g. one for a proxy. */
  readonly agent?: http.Agent;
  readonly connectTimeout?: DurationMs;
  readonly requestTimeout?: DurationMs;
  /** Default: calls end by their own limits alone. */
  readonly endOfCalls?: EndOfCalls;
}

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path and query, below the server's prefix. */
  readonly path: string;
  readonly body?: { readonly contentType: string; readonly json: unknown };
  /** The action in words, for error messages: `evicting pods web-0`. */
  readonly doing: string;
  readonly signal?: AbortSignal;
}

export interface TransportResponse<Body> {
  readonly status: number;
  readonly retryAfter?: string;
  readonly body: Body;
}

export interface Transport {
  /** Sends and reads the whole answer, whatever its status. Throws `RetryableError` when there is none, the signal's reason on abort. */
  request(request: TransportRequest): Promise<TransportResponse<string>>;
  /**
   * Sends a request whose answer `read` consumes while it arrives. If `read` throws, that counts as a failed
   * connection, and `read` may run again on another one.
   */
  read<Body>(
    request: TransportRequest,
    read: (body: Readable, status: number) => Promise<Body>,
  ): Promise<TransportResponse<Body>>;
  /**
   * Sends a request and hands over the body as it arrives, with no limit on how long that takes; abort the signal to
   * end it.
   */
  stream(request: TransportRequest): Promise<TransportResponse<Readable>>;
  /** Closes idle connections. */
  close(): void;
}

/**
 * Answers of any status are returned as they are. After a 401 the request goes out once more with fresh credentials.
 */
export function createTransport(options: TransportOptions): Transport {
  const server = new URL(options.server);
  const secure = server.protocol === 'https:';
  const agentWith = (maxSockets: number): http.Agent => {
    const agentOptions = { keepAlive: true, maxSockets, timeout: IDLE_SOCKET_LIFE_MS };
    return secure ? new https.Agent({ ...agentOptions, ...options.tls }) : new http.Agent(agentOptions);
  };
  const agent = options.agent ?? agentWith(FIRST_SOCKETS);
  /** Watches keep their connections. */
  const streams = options.agent ?? agentWith(MAX_SOCKETS);
  const prefix = server.pathname.replace(/\/$/, '');
  // No more than is needed: Node copies every option of every request several times.
  const { hostname, port } = urlToHttpOptions(server);
  const target: http.RequestOptions = { host: hostname, port };
  const onSocket = (waited: DurationMs): void => {
    if (waited > SOCKET_WAIT && agent.maxSockets < MAX_SOCKETS) agent.maxSockets *= 2;
  };
  const connectTimeout = options.connectTimeout ?? CONNECT_TIMEOUT;
  const requestTimeout = options.requestTimeout ?? REQUEST_TIMEOUT;

  async function send<Body>(
    request: TransportRequest,
    read: (message: http.IncomingMessage) => Promise<Body>,
    via = agent,
  ): Promise<TransportResponse<Body>> {
    const first = await attempt(request, read, via);
    if (first.status !== 401 || options.authenticator === undefined) return first;
    options.authenticator.invalidate();
    return attempt(request, read, via);
  }

  async function attempt<Body>(
    request: TransportRequest,
    read: (message: http.IncomingMessage) => Promise<Body>,
    via: http.Agent,
  ): Promise<TransportResponse<Body>> {
    const { method, signal } = request;
    const { clock } = options;
    const about = { doing: request.doing, write: method !== 'GET' };
    const end = options.endOfCalls?.();
    const body = request.body && JSON.stringify(request.body.json);
    // As a flat list, which Node writes as it stands: for an object it keeps a map, and that is a fifth of what a request costs.
    const headers = ['host', server.host, 'accept', 'application/json', 'user-agent', options.userAgent];
    if (request.body !== undefined && body !== undefined) {
      headers.push('content-type', request.body.contentType, 'content-length', String(Buffer.byteLength(body)));
    }
    for (const [name, value] of Object.entries((await options.authenticator?.headers()) ?? {})) {
      for (const each of typeof value === 'string' ? [value] : value) headers.push(name, each);
    }
    const outgoing = { ...target, agent: via, method, path: prefix + request.path, headers };
    for (;;) {
      if (end?.aborted === true) throw fromNetworkFailure({ error: outOfTime(), sent: false }, about);
      try {
        return await exchange(
          { request: outgoing, secure, body, clock, connectTimeout, requestTimeout, signal, end, onSocket },
          async message => {
            const retryAfter = message.headers['retry-after'];
            const status = message.statusCode ?? 0;
            return { status, ...(retryAfter === undefined ? {} : { retryAfter }), body: await read(message) };
          },
        );
      } catch (error) {
        if (!(error instanceof ExchangeFailure)) throw error;
        // Retrying a GET is safe, and the loop ends: each attempt removes one stale keep-alive socket.
        if (method === 'GET' && error.stale) continue;
        throw fromNetworkFailure({ error: error.cause, sent: error.sent }, about);
      }
    }
  }

  return {
    request: request => send(request, readText),
    read: (request, read) => send(request, message => read(message, message.statusCode ?? 0)),
    stream: request => send(request, message => Promise.resolve(message), streams),
    close() {
      agent.destroy();
      streams.destroy();
    },
  };
}
