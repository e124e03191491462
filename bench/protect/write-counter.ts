/** Stands before DynamoDB's stand-in and counts the writes that pass, of any client. */
import { createServer, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';

const HOST = '127.0.0.1';
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

export interface WriteCounter {
  readonly url: string;
  /** Where calls go from now on. Until then they are refused, and the SDK tries again. */
  forwardTo(endpoint: string): void;
  writes(): number;
  close(): Promise<void>;
}

export async function startWriteCounter(): Promise<WriteCounter> {
  let target: string | undefined;
  let writes = 0;
  const server = createServer((incoming, answer) => {
    if (target === undefined) {
      answer.writeHead(503).end();
      return;
    }
    if (WRITES.has(operationOf(incoming))) writes += 1;
    const { method, url, headers } = incoming;
    const outgoing = request(new URL(url ?? '/', target), { ...(method && { method }), headers }, result => {
      answer.writeHead(result.statusCode ?? 502, result.headers);
      result.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    incoming.pipe(outgoing);
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://${HOST}:${port}`,
    forwardTo: endpoint => (target = endpoint),
    writes: () => writes,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** `PutItem` of `X-Amz-Target: DynamoDB_20120810.PutItem`. */
function operationOf({ headers }: IncomingMessage): string {
  const target = headers['x-amz-target'];
  return typeof target === 'string' ? (target.split('.')[1] ?? '') : '';
}
