/** Ports on the loopback interface, which is all that the local stack ever listens on. */
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** Listens on a free port and answers it. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

export interface HttpServer {
  readonly endpoint: string;
  /** Breaks the connections that are open. */
  readonly stop: () => Promise<void>;
}

/** Answers HTTP on a free port. A request whose handling fails has its connection broken. */
export async function serveHttp(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<HttpServer> {
  const server = createHttpServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const port = await listen(server);
  return {
    endpoint: `http://${LOOPBACK}:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

/** A port that is free now, for a process that must be told one. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}
