/** The HTTP endpoint for probes and Prometheus. Liveness is the process; readiness is whether it sees and tells what happens. */
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Readiness } from './readiness.ts';

export interface HealthDeps {
  /** 0 picks a free port. */
  readonly port: number;
  /** The address to listen on. Absent: all addresses, as a kubelet's probes need. */
  readonly host?: string | undefined;
  readonly ready: () => Readiness;
  readonly metrics: { contentType: string; metrics(): Promise<string> };
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on `/livez`, `/readyz` and `/metrics`. Rejects when the port is taken. */
export async function startHealthServer({ port, host, ready, metrics }: HealthDeps): Promise<HealthServer> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, 'method not allowed\n');
    switch ((request.url ?? '').replace(/\?.*$/, '')) {
      case '/livez':
        return answer(response, 200, 'ok\n');
      case '/readyz': {
        const { ready: isReady, reasons } = ready();
        return answer(response, isReady ? 200 : 503, isReady ? 'ok\n' : `${reasons.join('\n')}\n`);
      }
      case '/metrics':
        metrics.metrics().then(
          text => answer(response, 200, text, metrics.contentType),
          () => answer(response, 500, 'collecting metrics failed\n'),
        );
        return;
      default:
        return answer(response, 404, 'not found\n');
    }
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close() {
      const closed = once(server, 'close').then(() => undefined);
      server.close();
      server.closeAllConnections();
      return closed;
    },
  };
}

function answer(
  response: ServerResponse,
  status: number,
  text: string,
  contentType = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text);
}
