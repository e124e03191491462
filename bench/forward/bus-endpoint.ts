/** PutEvents on loopback: takes everything, and counts what it took by the object that each event is about. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import * as z from 'zod';
import { clusterEventSchema } from '../../shared/contract/cluster-event.ts';
import { LOOPBACK } from '../../packages/local-aws/src/loopback.ts';

export interface BusEndpoint {
  readonly url: string;
  /** Events taken since the last call, by object: `Node/n1` → 2. */
  takeCounts(): ReadonlyMap<string, number>;
  close(): Promise<void>;
}

const requestSchema = z.object({ Entries: z.array(z.object({ Detail: z.string() })) });

export async function startBusEndpoint(): Promise<BusEndpoint> {
  let counts = new Map<string, number>();

  const answer = (body: unknown): unknown => {
    const { Entries: entries } = requestSchema.parse(body);
    for (const { Detail: detail } of entries) {
      const { subject } = clusterEventSchema.parse(JSON.parse(detail));
      const object = `${subject.kind}/${subject.name}`;
      counts.set(object, (counts.get(object) ?? 0) + 1);
    }
    return { FailedEntryCount: 0, Entries: entries.map(() => ({ EventId: randomUUID() })) };
  };

  const server = createServer((request, response) => {
    json(request).then(
      body =>
        response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(answer(body))),
      () => response.writeHead(400).end(),
    );
  });
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://${LOOPBACK}:${port}`,
    takeCounts() {
      const taken = counts;
      counts = new Map();
      return taken;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
