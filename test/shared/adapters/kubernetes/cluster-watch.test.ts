/** What needs a stream that misbehaves; the rest stands in the contract. */
import { describe, expect, it } from 'vitest';
import { createClusterWatch } from '../../../../shared/adapters/kubernetes/cluster-watch.ts';
import { createTransport } from '../../../../shared/adapters/kubernetes/transport.ts';
import { RESOURCES } from '../../../../shared/contract/resources.ts';
import { WatchExpired, type WatchEvent } from '../../../../shared/ports/cluster-watch.ts';
import { createManualClock } from '../../../fakes/manual-clock.ts';
import { json, serve, status, type Answering } from './scripted-server.ts';

async function watchWith(answer: Answering) {
  const server = await serve(answer);
  const clock = createManualClock();
  const transport = createTransport({ server: server.url, clock, userAgent: 'curfew-test' });
  const watch = createClusterWatch(transport);
  const { signal } = new AbortController();
  const options = { resourceVersion: '5', timeoutSeconds: 300, signal, selection: { labelSelector: 'a=b' } };
  return { clock, requests: server.requests, events: () => watch.watch(RESOURCES.Node, options) };
}

const line = (event: unknown): string => `${JSON.stringify(event)}\n`;
const added = (name: string) =>
  line({ type: 'ADDED', object: { kind: 'Node', apiVersion: 'v1', metadata: { name, resourceVersion: '6' } } });
const bookmark = line({
  type: 'BOOKMARK',
  object: { kind: 'Node', apiVersion: 'v1', metadata: { resourceVersion: '9' } },
});

/** Collects events until the stream fails; resolves to both. */
async function readUntilError(events: AsyncIterable<WatchEvent>) {
  const seen: string[] = [];
  try {
    for await (const event of events) seen.push(event.type);
  } catch (error) {
    return { seen, error };
  }
  throw new Error('the stream ended without an error');
}

describe('ClusterWatch over HTTP', () => {
  it('asks for bookmarks, from a version, for a time', async () => {
    const { events, requests } = await watchWith((_, response) => response.end(added('a') + bookmark));
    const received = await Array.fromAsync(events());
    expect(received).toMatchObject([
      { type: 'ADDED', object: { metadata: { name: 'a' } } },
      { type: 'BOOKMARK', resourceVersion: '9' },
    ]);
    const { pathname, searchParams } = new URL(requests[0]?.url ?? '', 'http://x');
    expect(pathname).toBe('/api/v1/nodes');
    expect(Object.fromEntries(searchParams)).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      labelSelector: 'a=b',
      resourceVersion: '5',
      timeoutSeconds: '300',
    });
  });

  it('throws WatchExpired for an ERROR event that says 410, after the events before it', async () => {
    const gone = { type: 'ERROR', object: status(410, 'Expired', 'too old resource version') };
    const { events } = await watchWith((_, response) => response.end(added('a') + line(gone) + added('b')));
    const { seen, error } = await readUntilError(events());
    expect(seen).toEqual(['ADDED']);
    expect(error).toBeInstanceOf(WatchExpired);
  });

  it.each([
    { code: 410, reason: 'Expired', expected: { name: 'WatchExpired' } },
    { code: 404, reason: 'NotFound', expected: { name: 'WatchExpired' } },
    { code: 403, reason: 'Forbidden', expected: { name: 'RetryableError', reason: 'Forbidden' } },
    { code: 429, reason: 'TooManyRequests', expected: { name: 'RetryableError', retryAfterMs: 2000 } },
    { code: 503, reason: 'ServiceUnavailable', expected: { name: 'RetryableError' } },
    { code: 400, reason: 'BadRequest', expected: { name: 'RetryableError', reason: 'BadRequest' } },
  ])('throws $expected.name when the server answers $code', async ({ code, reason, expected }) => {
    const { events } = await watchWith((_, response) =>
      json(response, code, status(code, reason, 'no'), code === 429 ? { 'retry-after': '2' } : {}),
    );
    expect((await readUntilError(events())).error).toMatchObject(expected);
  });

  it('is retryable after an ERROR event of any other kind, an unknown event, and what is no event', async () => {
    const broken = [
      line({ type: 'ERROR', object: status(500, 'InternalError', 'etcd') }),
      line({ type: 'SURPRISE', object: {} }),
      line({ type: 'ADDED', object: { kind: 'Node' } }),
      'not json\n',
    ];
    for (const text of broken) {
      const { events } = await watchWith((_, response) => response.end(text));
      expect((await readUntilError(events())).error).toMatchObject({ name: 'RetryableError' });
    }
  });

  it('is retryable when the connection breaks in the middle of an event', async () => {
    const { events } = await watchWith((_, response) => {
      response.write(added('a') + added('b').slice(0, 20), () => response.destroy());
    });
    const { seen, error } = await readUntilError(events());
    expect(seen).toEqual(['ADDED']);
    expect(error).toMatchObject({ name: 'RetryableError', reason: 'ECONNRESET' });
  });

  it('closes the connection when its reader stops', async () => {
    let closed = (): void => undefined;
    const gone = new Promise<void>(resolve => (closed = resolve));
    const { events } = await watchWith((_, response) => {
      response.on('close', () => closed());
      response.write(added('a'));
    });
    for await (const event of events()) if (event.type === 'ADDED') break;
    await expect(gone).resolves.toBeUndefined();
  });
});
