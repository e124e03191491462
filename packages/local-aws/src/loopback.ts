/** Ports on the loopback interface, which is all that the local stack ever listens on. */
import { once } from 'node:events';
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

/** A port that is free now, for a process that must be told one. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}
