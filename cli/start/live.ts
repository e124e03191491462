/**
 * The page of what happens now, for `npm start -- --serve`: on this machine alone, read only. Everything that it says comes by server-sent
 * events; it takes no token, since it offers nothing to change. A page of another origin, and a name that was made to point here, are refused.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { TRACE_VERSION } from '../../packages/timeline/src/trace/lines.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import type { JsonObject } from '../../shared/domain/kubernetes-object.ts';
import { toIsoText, type EpochMs } from '../../shared/domain/time.ts';
import { recordObjects } from '../../simulator/object-history.ts';
import { recordRules } from '../../simulator/rules-in-force.ts';
import { createTrace, formatLine } from '../../simulator/trace.ts';
import { makePage } from '../page/html.ts';
import { createLiveHistory } from './live-history.ts';
import type { AuditLine } from './narrate.ts';

export interface LivePage {
  /** A decision of a function. */
  hear(record: AuditLine): void;
  /** Serves the page on a port of this machine that is free. */
  listen(): Promise<{ readonly url: string; close(): Promise<void> }>;
}

const HOST = '127.0.0.1';
const SEND_EVERY_MS = 250;
/** A reader that is so far behind is let go; its browser comes back by itself. */
const MAX_BEHIND_BYTES = 32_000_000;

/** Some hours of a quiet cluster, and minutes of a busy one. */
const KEPT_LINES = 5000;

/** Follows the cluster from now on. @param keptLines that a new reader gets at least, as far as there are so many */
export function followCluster(
  core: ApiServerCore,
  clock: { now(): EpochMs },
  keptLines: number = KEPT_LINES,
): LivePage {
  const trace = createTrace(() => clock.now());
  const history = createLiveHistory(trace, clock.now(), keptLines);
  const header = (): JsonObject => {
    const start = toIsoText(history.start);
    return { t: start, kind: 'trace', version: TRACE_VERSION, source: 'live', name: 'this machine', start, end: start };
  };
  recordObjects(core, trace, { objects: [] });
  recordRules(core, trace);
  core.observe(write => {
    if (write.user.startsWith('curfew-')) trace.addWrite(write, write.user.slice('curfew-'.length));
    else if (write.user.startsWith('actor:')) trace.addActor(write, write.user.slice('actor:'.length));
  });
  return {
    hear({ function: by, decision, reason, message, kind, name, namespace, uid, details }) {
      trace.addAudit({
        function: by,
        decision,
        reason,
        message,
        kind,
        name,
        ...(namespace !== undefined && { namespace }),
        ...(uid !== undefined && { uid }),
        ...(details !== undefined && { details: JSON.parse(JSON.stringify(details)) }),
      });
    },
    async listen() {
      const page = await makePage('Curfew, live', undefined);
      const readers = new Set<() => void>();
      const server = createServer((request, response) => {
        const refusal = refusalOf(request);
        if (refusal !== undefined) return end(response, refusal.status, refusal.message);
        if (request.url === '/') return end(response, 200, page, 'text/html; charset=utf-8');
        if (request.url !== '/events') return end(response, 404, 'there is / and /events\n');
        response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' });
        let sent = history.forgotten;
        response.write([header(), ...history.begin()].map(line => `data: ${JSON.stringify(line)}\n\n`).join(''));
        const send = (): void => {
          const news = trace.entries.slice(sent - history.forgotten);
          sent += news.length;
          if (news.length > 0) response.write(news.map(entry => `data: ${formatLine(entry)}\n\n`).join(''));
          if (response.writableLength > MAX_BEHIND_BYTES) response.destroy();
        };
        readers.add(send);
        response.on('close', () => readers.delete(send));
        send();
      });
      const timer = setInterval(() => {
        for (const send of readers) send();
        history.shorten();
      }, SEND_EVERY_MS);
      timer.unref();
      server.listen(0, HOST);
      await once(server, 'listening');
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      return {
        url: `http://${HOST}:${port}/`,
        async close() {
          clearInterval(timer);
          server.closeAllConnections();
          server.close();
          await once(server, 'close');
        },
      };
    },
  };
}

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const;

function end(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { ...HEADERS, 'content-type': type });
  response.end(body);
}

/** Refuses requests from elsewhere: by another method, under another name, or for a page of another origin. */
function refusalOf({
  method,
  headers,
  socket,
}: Pick<IncomingMessage, 'method' | 'headers'> & { readonly socket: { readonly localPort?: number | undefined } }):
  { readonly status: number; readonly message: string } | undefined {
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, message: 'this page can only be read\n' };
  const names = [`${HOST}:${socket.localPort ?? 0}`, `localhost:${socket.localPort ?? 0}`];
  if (!names.includes(headers.host ?? '')) return { status: 403, message: 'this host is not served here\n' };
  const { origin } = headers;
  if (origin !== undefined && !names.some(name => origin === `http://${name}`))
    return { status: 403, message: 'pages of other origins are refused\n' };
  if (headers['sec-fetch-site'] === 'cross-site')
    return { status: 403, message: 'pages of other origins are refused\n' };
  return undefined;
}
