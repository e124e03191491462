/** The HTTP front of the embedded API server: kubectl, client libraries and Curfew's own parts talk to the core through it. */
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createMemory } from '../memory.ts';
import { internalError } from '../status-errors.ts';
import { ApiStatusError, type ApiServerCore } from '../types.ts';
import type { UserInfo } from '../authorization/attributes.ts';
import { createAccess, type AuthorizationOptions } from './access.ts';
import { send, statusAnswer, type Answer } from './answer.ts';
import { refusePages } from './browsers.ts';
import { answerDocument } from './documents.ts';
import { methodNotServed, PathNotFound } from './http-errors.ts';
import { kubeconfigFor } from './kubeconfig.ts';
import { attributesOf } from './request-attributes.ts';
import { parseRequestPath, type RequestPath } from './request-path.ts';
import { answerResource, type Front } from './resource-answer.ts';
import { processTimers, type Timers } from './timers.ts';

/** One answered request, for a log of the traffic; a watch counts as answered when it starts. */
export interface RequestLogEntry {
  readonly method: string;
  readonly url: string;
  /** Empty when the credentials were nobody's. */
  readonly user: string;
  readonly code: number;
}

export interface ServeOptions {
  readonly host?: '127.0.0.1';
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Current time, epoch ms: the core's clock, so that ages in tables agree with timestamps. */
  readonly now: () => number;
  /** PEM texts; `ca` goes into the kubeconfig, and signs client certificates. Plain HTTP without it. */
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca: string };
  /** Who may do what. Without it nobody is checked and everything is allowed. */
  readonly authorization?: AuthorizationOptions;
  /** How often watches that allow it get a BOOKMARK. Default 60,000. */
  readonly bookmarkIntervalMs?: number;
  /** Unsent bytes at which a slow watch is cut. Default 8 MiB. */
  readonly maxUnsentBytes?: number;
  readonly timers?: Timers;
  readonly log?: (entry: RequestLogEntry) => void;
}

export interface ServedApi {
  readonly url: string;
  /** `user` is who it makes its reader: by default `admin`, with the token `user:NAME`. */
  kubeconfig(user?: string): string;
  /** Ends watches and connections and stops listening. */
  close(): Promise<void>;
  /** Cuts every watch, as a broken network would. */
  dropWatches(): void;
}

/** What paths name: clients ask for the same collections all the time. */
const paths = createMemory<RequestPath>(1000);

async function answerRequest(
  front: Front,
  request: IncomingMessage,
  response: ServerResponse,
  identified: (user: UserInfo) => void,
): Promise<Answer | undefined> {
  refusePages(request.headers);
  // Not `new URL`: it takes `//api/v1` for a host, and throws on what should be a 404.
  const [pathname = '/', ...search] = (request.url ?? '/').split('?');
  const path = paths.get(pathname, () => parseRequestPath(pathname));
  const query = new URLSearchParams(search.join('?'));
  const user = front.access.identify(request);
  identified(user);
  front.access.check(user, attributesOf(request.method ?? 'GET', pathname, path, query));
  if (path.kind === 'resource') return await answerResource(front, { path, query, user, request, response });
  const answer = answerDocument(front.core, path, request.headers.accept, request.headers.host ?? '');
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotServed();
  return answer;
}

async function answerOrRefuse(
  front: Front,
  request: IncomingMessage,
  response: ServerResponse,
  identified: (user: UserInfo) => void,
): Promise<Answer | undefined> {
  try {
    return await answerRequest(front, request, response, identified);
  } catch (error) {
    if (error instanceof PathNotFound) return { code: 404, body: `${error.message}\n` };
    const refusal =
      error instanceof ApiStatusError ? error : internalError(error instanceof Error ? error.message : String(error));
    return statusAnswer(refusal.status);
  }
}

async function handle(
  front: Front,
  request: IncomingMessage,
  response: ServerResponse,
  log: ServeOptions['log'],
): Promise<void> {
  let user = '';
  const answer = await answerOrRefuse(front, request, response, ({ name }) => (user = name));
  const { method = '', url = '' } = request;
  log?.({ method, url, user, code: answer?.code ?? 200 });
  if (answer === undefined) return;
  // A watch that fails after it began cannot be answered any more: its client sees the connection break.
  if (response.headersSent) response.destroy();
  else send(response, answer);
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/**
 * Serves a core over HTTP on the loopback address.
 * @throws the error of `listen`, `EADDRINUSE` for example
 */
export async function serveApiServer(core: ApiServerCore, options: ServeOptions): Promise<ServedApi> {
  const timers = options.timers ?? processTimers;
  const maxUnsentBytes = options.maxUnsentBytes ?? 8 * 1024 * 1024;
  const access = createAccess(options.authorization);
  const front: Front = { core, access, now: options.now, timers, maxUnsentBytes, watches: new Set() };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    // A fault of ours has answered 500 already; what fails after that is the connection itself.
    handle(front, request, response, options.log).catch(() => response.destroy());
  };
  const { tls } = options;
  const server =
    tls === undefined
      ? createHttpServer(onRequest)
      : createHttpsServer(
          { ...tls, requestCert: options.authorization !== undefined, rejectUnauthorized: false },
          onRequest,
        );
  const host = options.host ?? '127.0.0.1';
  const port = await listen(server, host, options.port ?? 0);
  const url = `${tls === undefined ? 'http' : 'https'}://${host}:${port}`;
  const bookmarks = timers.every(options.bookmarkIntervalMs ?? 60_000, () => core.sendBookmarks());
  const dropWatches = (): void => {
    for (const watch of front.watches) watch.drop();
  };
  return {
    url,
    kubeconfig: user => kubeconfigFor(url, tls?.ca, user),
    dropWatches,
    async close() {
      bookmarks.cancel();
      dropWatches();
      await new Promise<void>(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
