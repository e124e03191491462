/** dynalite in this process, its data in a folder: for platforms without Dynoxide. */
import dynalite from 'dynalite';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { DynamoDbServer } from './dynamodb-server.ts';
import { LOOPBACK } from './loopback.ts';

/** Keeps its port over `stop` and `start`, so that a restart looks like an outage to clients. */
export async function startDynalite(dataDir: string): Promise<DynamoDbServer> {
  let server: Server | undefined;
  let port = 0;

  async function start(): Promise<void> {
    if (server !== undefined) throw new Error('dynalite is running');
    server = dynalite({ path: join(dataDir, 'dynalite'), createTableMs: 0 });
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
    await new Promise(resolve => stopping.close(resolve));
  }

  await start();
  return { endpoint: `http://${LOOPBACK}:${port}`, implementation: 'dynalite', start, kill: stop, stop };
}
