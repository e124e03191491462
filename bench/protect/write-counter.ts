/** Counts the writes that reach the DynamoDB endpoint of this process, of any client, without standing in their way. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';

/** Published by `node:http` for each request that a server of this process takes. */
const REQUESTS = 'http.server.request.start';
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

export interface WriteCounter {
  writes(): number;
  close(): void;
}

export function startWriteCounter(): WriteCounter {
  let writes = 0;
  const count = (message: unknown): void => {
    if (typeof message !== 'object' || message === null || !('request' in message)) return;
    const { request } = message;
    // All calls of DynamoDB are a POST to the root; the headers of others are not read, for Node makes them when they are asked for.
    if (!(request instanceof IncomingMessage) || request.method !== 'POST' || request.url !== '/') return;
    if (WRITES.has(operationOf(request))) writes += 1;
  };
  subscribe(REQUESTS, count);
  return { writes: () => writes, close: () => void unsubscribe(REQUESTS, count) };
}

/** `PutItem` of `X-Amz-Target: DynamoDB_20120810.PutItem`. */
function operationOf({ headers }: IncomingMessage): string {
  const target = headers['x-amz-target'];
  return typeof target === 'string' ? (target.split('.')[1] ?? '') : '';
}
