/** An HTTP server that answers as a test says, on the loopback address. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listen, LOOPBACK } from '../../../../packages/local-aws/src/loopback.ts';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answering = (request: ReceivedRequest, response: ServerResponse, index: number) => void;

/** Serves until the test is over. */
export async function serve(answer: Answering, tls?: ServerOptions) {
  const requests: ReceivedRequest[] = [];
  const onRequest = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = message;
    const request = { method, url, headers, body: await text(message) };
    requests.push(request);
    answer(request, response, requests.length - 1);
  };
  const listener = (message: IncomingMessage, response: ServerResponse): void => void onRequest(message, response);
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  let connections = 0;
  server.on('connection', () => (connections += 1));
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${LOOPBACK}:${port}`,
    requests,
    connections: () => connections,
    server,
  };
}

export function json(
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** A `Status` body. */
export function status(code: number, reason: string, message: string, details: object = {}): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message, details };
}
