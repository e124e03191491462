/** dynalite in this process, its data in a folder: for platforms without Dynoxide. */
import dynalite from 'dynalite';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoDbServer } from './dynamodb-server.ts';
import { LOOPBACK } from './loopback.ts';

const POLL_PERIOD_MS = 5;

/** Keeps its port over `stop` and `start`, so that a restart looks like an outage to clients. */
export async function startDynalite(dataDir: string): Promise<DynamoDbServer> {
  let server: Server | undefined;
  let port = 0;
  /** Those that may still be worked on. */
  let responses: ServerResponse[] = [];

  async function start(): Promise<void> {
    if (server !== undefined) throw new Error('dynalite is running');
    const starting: Server = dynalite({ path: join(dataDir, 'dynalite'), createTableMs: 0 });
    server = starting;
    starting.on('connection', socket => server === starting || socket.destroy());
    starting.on('request', (request, response) => {
      responses = [...responses.filter(isAtWork), response];
      // dynalite throws the error of a client that went in the middle of its request.
      request.removeAllListeners('error').on('error', () => undefined);
    });
    server.listen(port, LOOPBACK);
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address === 'object') port = address.port;
  }

  async function stop(): Promise<void> {
    const stopping = server;
    if (stopping === undefined) return;
    server = undefined;
    stopping.closeAllConnections();
    // Its database closes with it, and what a closed one answers to a request at work dynalite throws where nobody can catch it.
    while (responses.some(isAtWork)) await sleep(POLL_PERIOD_MS);
    await new Promise(resolve => stopping.close(resolve));
  }

  await start();
  return { endpoint: `http://${LOOPBACK}:${port}`, implementation: 'dynalite', start, kill: stop, stop };
}

/** Whether dynalite has the whole request and has not answered yet; its connection may be gone. */
function isAtWork({ req, writableEnded }: ServerResponse): boolean {
  return req.complete && !writableEnded;
}
