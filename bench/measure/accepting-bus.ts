/** An event bus over HTTP that accepts every entry, and keeps none. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod';

const requestSchema = z.object({ Entries: z.array(z.unknown()) });

export interface AcceptingBus extends AsyncDisposable {
  readonly url: string;
  /** Entries so far. */
  accepted(): number;
}

export async function startAcceptingBus(): Promise<AcceptingBus> {
  let accepted = 0;
  const server = createServer((request, response) => {
    void text(request).then(body => {
      const { Entries } = requestSchema.parse(JSON.parse(body));
      accepted += Entries.length;
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      const answer = { FailedEntryCount: 0, Entries: Entries.map((_, index) => ({ EventId: String(index) })) };
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the bus has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    accepted: () => accepted,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => void server.close(resolve));
    },
  };
}
