import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiServer } from '../../src/api-server.ts';
import { serveApiServer, type ServedApi } from '../../src/http/server.ts';

const core = createApiServer({ clock: { now: () => 0 } });
let served: ServedApi;

beforeAll(async () => {
  served = await serveApiServer(core, { now: () => 0 });
});
afterAll(() => served.close());

/** As a page would: a body of no type needs no leave of the server before it is sent. Not by `fetch`, which sets `Host` itself. */
function create(name: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${served.url}/api/v1/namespaces`, { method: 'POST', headers }, answer => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.once('error', reject);
    sent.end(JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  });
}

describe('a page in a browser', () => {
  it.each([
    ['of another site', { origin: 'https://evil.example' }],
    ['whose origin is hidden', { origin: 'null' }],
    ['of a name that begins like this machine', { origin: 'http://localhost.evil.example' }],
    ['of a name that ends like this machine', { origin: 'http://evil.localhost' }],
    ['whose name was made to lead here', { host: 'evil.example:8080' }],
  ])('%s is refused', async (_, headers) => {
    expect(await create('evil', headers)).toBe(403);
    expect(() => core.get({ type: { group: '', version: 'v1', resource: 'namespaces' }, name: 'evil' })).toThrow(
      'not found',
    );
  });

  it.each([
    ['a page of this machine', { origin: 'http://localhost:3000' }],
    ['a program, by any name of this machine', { host: 'localhost:1' }],
    ['a program, by the address of this machine in IPv6', { host: '[::1]:1' }],
    ['a program, as it comes', {}],
  ])('%s is served', async (who, headers) => {
    expect(await create(who.replaceAll(/[^a-z]/gi, '').toLowerCase(), headers)).toBe(201);
  });
});
