import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createTransport, type TransportOptions } from '../../../../shared/adapters/kubernetes/transport.ts';
import { seconds, toDurationMs } from '../../../../shared/domain/time.ts';
import { createCertificateAuthority } from '../../../control-plane/pki.ts';
import { createManualClock } from '../../../fakes/manual-clock.ts';
import { serve } from './scripted-server.ts';

const clock = createManualClock();

/** What a call was refused with; listened to from the start, so that it may fail while the test waits for something else. */
async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return { resolved: await call };
  } catch (error) {
    return error;
  }
}

function transportTo(server: string, options: Partial<TransportOptions> = {}) {
  return createTransport({ server, clock, userAgent: 'curfew-test', ...options });
}

const read = { method: 'GET', path: '/api/v1/nodes', doing: 'listing nodes' } as const;
const write = {
  method: 'DELETE',
  path: '/api/v1/nodes/n1',
  doing: 'deleting nodes n1',
  body: { contentType: 'application/json', json: { preconditions: { uid: 'ü' } } },
} as const;

describe('transport', () => {
  it('sends method, path, headers and body, below the prefix of the server', async () => {
    const server = await serve((_, response) => response.writeHead(202, { 'retry-after': '7' }).end('done'));
    const answer = await transportTo(`${server.url}/k8s/clusters/c-1/`).request(write);
    expect(answer).toEqual({ status: 202, retryAfter: '7', body: 'done' });
    expect(server.requests).toMatchObject([
      {
        method: 'DELETE',
        url: '/k8s/clusters/c-1/api/v1/nodes/n1',
        body: '{"preconditions":{"uid":"ü"}}',
        headers: { 'user-agent': 'curfew-test', 'content-type': 'application/json', 'content-length': '30' },
      },
    ]);
  });

  it('is cut when the run has no more time, and begins nothing after it', async () => {
    const end = new AbortController();
    const server = await serve(() => end.abort());
    const transport = transportTo(server.url, { endOfCalls: () => end.signal });
    expect(await refusalOf(transport.request(write))).toMatchObject({
      name: 'RetryableError',
      reason: 'DeadlineReserve',
      outcomeUnknown: true,
    });
    expect(await refusalOf(transport.request(write))).toMatchObject({
      name: 'RetryableError',
      reason: 'DeadlineReserve',
      outcomeUnknown: false,
    });
    expect(server.requests).toHaveLength(1);
    expect(clock.sleepers()).toBe(0);
    transport.close();
  });

  it('keeps connections', async () => {
    const server = await serve((_, response) => response.end('ok'));
    const transport = transportTo(server.url);
    for (let call = 0; call < 5; call += 1) await transport.request(read);
    expect(server.connections()).toBe(1);
    transport.close();
  });

  it('sends a burst over few connections, and over more of them when the server takes its time', async () => {
    const times = createManualClock();
    let answerTime = seconds(0);
    const server = await serve((_, response) => {
      void times.advance(answerTime);
      response.end('ok');
    });
    const transport = transportTo(server.url, { clock: times });
    const burst = () => Promise.all(Array.from({ length: 40 }, () => transport.request(read)));
    await burst();
    expect(server.connections()).toBe(8);
    answerTime = seconds(0.1);
    await burst();
    await burst();
    expect(server.connections()).toBeGreaterThan(8);
    // A stream has a connection of its own, whatever waits.
    const streamed = await transport.stream(read);
    streamed.body.resume();
    transport.close();
  });

  it('reads again on a fresh connection when the server has dropped the kept one', async () => {
    const server = await serve((_, response) => response.end('ok'));
    const transport = transportTo(server.url);
    await transport.request(read);
    // The socket dies as the next request arrives, as after an idle time-out in between.
    server.server.prependOnceListener('request', message => message.socket.destroy());
    expect((await transport.request(read)).body).toBe('ok');
    expect(server.connections()).toBe(2);
    transport.close();
  });

  it('I4: never repeats a write whose connection broke, and says that its outcome is unknown', async () => {
    const server = await serve((request, response) => {
      if (request.method === 'DELETE') response.destroy();
      else response.end('ok');
    });
    const transport = transportTo(server.url);
    await transport.request(read);
    await expect(transport.request(write)).rejects.toMatchObject({
      name: 'RetryableError',
      outcomeUnknown: true,
      reason: 'ECONNRESET',
      message: expect.stringContaining('deleting nodes n1'),
    });
    expect(server.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
    transport.close();
  });

  it('knows that a write had no effect when there was no connection', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const address = closed.address();
    closed.close();
    await once(closed, 'close');
    const port = typeof address === 'object' ? address?.port : 0;
    await expect(transportTo(`http://127.0.0.1:${port}`).request(write)).rejects.toMatchObject({
      name: 'RetryableError',
      outcomeUnknown: false,
      reason: 'ECONNREFUSED',
    });
  });

  it.each([
    { request: write, outcomeUnknown: true },
    { request: read, outcomeUnknown: false },
  ])('gives up a $request.method that is not answered in time', async ({ request, outcomeUnknown }) => {
    const manual = createManualClock();
    let arrived = (): void => undefined;
    const received = new Promise<void>(resolve => (arrived = resolve));
    const server = await serve(() => arrived());
    const transport = transportTo(server.url, { clock: manual, requestTimeout: seconds(10) });
    const answer = transport.request(request);
    const refusal = refusalOf(answer);
    await received;
    await manual.advance(seconds(9));
    await manual.advance(seconds(1));
    expect(await refusal).toMatchObject({ name: 'RetryableError', reason: 'RequestTimeout', outcomeUnknown });
    expect(manual.sleepers()).toBe(0);
  });

  it('gives up an answer whose body does not end in time', async () => {
    const manual = createManualClock();
    let started = (): void => undefined;
    const begun = new Promise<void>(resolve => (started = resolve));
    const server = await serve((_, response) => response.write('half', () => started()));
    const answer = transportTo(server.url, { clock: manual }).request(read);
    const refusal = refusalOf(answer);
    await begun;
    await manual.advance(seconds(10));
    expect(await refusal).toMatchObject({ name: 'RetryableError', reason: 'RequestTimeout' });
  });

  it('gives up a connection that is not established in time, and knows that nothing was sent', async () => {
    const manual = createManualClock();
    const { certPem } = createCertificateAuthority();
    // Accepts TCP and never speaks TLS.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const accepted = once(silent, 'connection');
    const transport = transportTo(`https://127.0.0.1:${port}`, { clock: manual, tls: { ca: certPem } });
    const refusal = refusalOf(transport.request(write));
    await accepted;
    await manual.advance(seconds(2));
    expect(await refusal).toMatchObject({ reason: 'ConnectTimeout', outcomeUnknown: false });
    silent.close();
  });

  it('leaves no timer behind', async () => {
    const manual = createManualClock();
    const server = await serve((_, response) => response.end('ok'));
    await transportTo(server.url, { clock: manual }).request(read);
    expect(manual.sleepers()).toBe(0);
  });

  it('rejects with the reason of its signal', async () => {
    const server = await serve(() => undefined);
    const abort = new AbortController();
    const reason = new Error('enough');
    const answer = transportTo(server.url).request({ ...read, signal: abort.signal });
    abort.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await expect(transportTo(server.url).request({ ...read, signal: abort.signal })).rejects.toBe(reason);
  });

  it('streams a body beyond the request time-out', async () => {
    const manual = createManualClock();
    let end = (): void => undefined;
    const server = await serve((_, response) => {
      response.write('first');
      end = () => response.end('last');
    });
    const { body } = await transportTo(server.url, { clock: manual }).stream(read);
    const chunks: string[] = [];
    for await (const chunk of body) {
      chunks.push(Buffer.from(chunk).toString());
      await manual.advance(toDurationMs(3_600_000));
      end();
    }
    expect(chunks).toEqual(['first', 'last']);
  });

  describe('authentication', () => {
    const authenticator = (tokens: string[]) => {
      let invalidated = 0;
      return {
        headers: () => Promise.resolve({ authorization: `Bearer ${tokens[Math.min(invalidated, tokens.length - 1)]}` }),
        invalidate: () => void (invalidated += 1),
        invalidated: () => invalidated,
      };
    };

    it('renews credentials once after a 401 and sends the request again', async () => {
      const server = await serve((request, response) =>
        response.writeHead(request.headers.authorization === 'Bearer fresh' ? 200 : 401).end(),
      );
      const tokens = authenticator(['stale', 'fresh']);
      expect((await transportTo(server.url, { authenticator: tokens }).request(write)).status).toBe(200);
      expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer stale', 'Bearer fresh']);
      expect(server.requests.map(({ body }) => body)).toEqual([server.requests[0]?.body, server.requests[0]?.body]);
    });

    it('returns a second 401', async () => {
      const server = await serve((_, response) => response.writeHead(401).end());
      const tokens = authenticator(['stale']);
      expect((await transportTo(server.url, { authenticator: tokens }).request(read)).status).toBe(401);
      expect(server.requests).toHaveLength(2);
      expect(tokens.invalidated()).toBe(1);
    });

    it('trusts only its own CA and shows a client certificate', async () => {
      const ca = createCertificateAuthority();
      const { certPem, keyPem } = ca.issueServing();
      const subjects: string[] = [];
      const server = await serve((_, response) => response.end('ok'), {
        cert: certPem,
        key: keyPem,
        ca: ca.certPem,
        requestCert: true,
      });
      server.server.on('secureConnection', socket => subjects.push(String(socket.getPeerCertificate().subject?.CN)));
      const client = ca.issueClient({ commonName: 'curfew' });
      const tls = { ca: ca.certPem, cert: client.certPem, key: client.keyPem };
      expect((await transportTo(server.url, { tls }).request(read)).body).toBe('ok');
      expect(subjects).toEqual(['curfew']);
      const stranger = transportTo(server.url, { tls: { ca: createCertificateAuthority().certPem } });
      await expect(stranger.request(write)).rejects.toMatchObject({ name: 'RetryableError', outcomeUnknown: false });
    });
  });
});
