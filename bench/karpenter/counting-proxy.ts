/** A TCP proxy on loopback in front of the API server: who goes through it pays the same as everybody else, and its bytes are counted. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { LOOPBACK } from '../../packages/local-aws/src/loopback.ts';

export interface CountingProxy {
  readonly url: string;
  /** In both directions since the start, as they are on the wire: TLS and compression included. */
  bytes(): number;
}

/** Lives as long as the process. */
export async function startCountingProxy(server: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(server);
  let bytes = 0;
  const front = createServer({ noDelay: true }, client => {
    const onward = connect({ host: hostname, port: Number(port), noDelay: true });
    for (const [from, to] of [
      [client, onward],
      [onward, client],
    ] as const) {
      from.on('data', (chunk: Buffer) => (bytes += chunk.length));
      from.on('error', () => to.destroy());
      from.once('close', () => to.destroy());
      from.pipe(to);
    }
  });
  front.listen(0, LOOPBACK);
  await once(front, 'listening');
  const address = front.address();
  return {
    url: `https://${LOOPBACK}:${typeof address === 'object' && address !== null ? address.port : 0}`,
    bytes: () => bytes,
  };
}
