import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { negotiate } from '../../src/http/accept.ts';
import { streamWatch, type WatchStream } from '../../src/http/watch-stream.ts';
import { parseIncludeObject } from '../../src/http/tables/table.ts';
import { processTimers } from '../../src/http/timers.ts';
import { aServer, NODES } from '../server-under-test.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A response of which each piece that goes to the network is kept. */
function responseInPieces(): { readonly response: ServerResponse; readonly pieces: string[] } {
  const pieces: string[] = [];
  const socket = new Socket();
  socket._write = (chunk: Buffer, _encoding, done) => (pieces.push(String(chunk)), done());
  socket._writev = (chunks, done) => (pieces.push(chunks.map(({ chunk }) => String(chunk)).join('')), done());
  Object.defineProperty(socket, 'connecting', { value: false });
  const response = new ServerResponse(new IncomingMessage(socket));
  response.assignSocket(socket);
  return { response, pieces };
}

test('the first event goes out at once, and a burst that follows in one piece', async () => {
  const { api } = aServer();
  const { response, pieces } = responseInPieces();
  const resource = api.resource(NODES);
  if (resource === undefined) throw new Error('nodes are served');
  const now = Date.now();
  const representation = negotiate('application/json', true);
  const shape = { resource, representation, includeObject: parseIncludeObject(null), now };
  const settings = {
    timers: processTimers,
    maxUnsentBytes: 1e6,
    timeoutSeconds: 60,
    now: () => now,
    running: new Set<WatchStream>(),
  };
  streamWatch(api, response, { shape, options: { resourceVersion: api.resourceVersion } }, settings);
  await vi.advanceTimersByTimeAsync(10);
  pieces.length = 0;
  for (const name of ['n1', 'n2', 'n3', 'n4']) {
    api.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    await vi.advanceTimersByTimeAsync(1);
  }
  await vi.advanceTimersByTimeAsync(10);
  const namesIn = (piece: string): readonly string[] =>
    [...piece.matchAll(/"name":"(n\d)"/g)].map(([, name = '']) => name);
  expect(pieces.map(namesIn)).toEqual([['n1'], ['n2', 'n3', 'n4']]);
});
