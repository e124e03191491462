/** Plain HTTP on loopback in front of an API server that wants TLS and a client certificate. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import https from 'node:https';
import { LOOPBACK } from '../../packages/local-aws/src/loopback.ts';
import type { TransportOptions } from '../../shared/adapters/kubernetes/transport.ts';

/** Answers its URL. Lives as long as the process. */
export async function startProxy({ server, tls }: Pick<TransportOptions, 'server' | 'tls'>): Promise<string> {
  const agent = new https.Agent({ keepAlive: true, ...tls });
  const front = createServer((request, response) => {
    // Who asks is the proxy's certificate to say.
    const { authorization: _, host: __, ...headers } = request.headers;
    const onward = https.request(new URL(request.url ?? '/', server), { method: request.method, headers, agent });
    onward.once('response', answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  });
  front.listen(0, LOOPBACK);
  await once(front, 'listening');
  const address = front.address();
  return `http://${LOOPBACK}:${typeof address === 'object' && address !== null ? address.port : 0}`;
}
