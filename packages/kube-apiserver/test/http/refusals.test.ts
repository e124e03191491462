import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serveTestCore, type Served } from './served-core.ts';

let served: Served;
beforeEach(async () => {
  served = await serveTestCore();
});
afterEach(async () => {
  await served.api.close();
});

describe('refusals', () => {
  test.each([
    ['GET', '/api/v1/gadgets', 404],
    ['GET', '/api/v1/nodes/none', 404],
    ['GET', '/api/v1/pods/web-0', 404],
    ['GET', '/api/v1/namespaces/prod/nodes', 404],
    ['GET', '/api/v1/namespaces/prod/pods/web-0/exec', 501],
    ['GET', '/api/v1/nodes?limit=x', 400],
    ['GET', '/api/v1/nodes?labelSelector=%3D%3D', 400],
    ['POST', '/api/v1/pods', 405],
    ['POST', '/version', 405],
    ['PUT', '/api/v1/nodes', 405],
    ['DELETE', '/api/v1/nodes/n1/status', 405],
  ])('%s %s is a Status %i', async (method, path, code) => {
    const response = await served.call(method, path, method === 'POST' ? { body: { metadata: { name: 'x' } } } : {});
    expect(response.status).toBe(code);
    expect(await response.json()).toMatchObject({ kind: 'Status', status: 'Failure', code });
  });

  test.each(['/nothing', '/apis/none.example.com', '/apis/none.example.com/v1', '/apis/none.example.com/v1/nothings'])(
    '%s leads to no API, and is answered with text',
    async path => {
      const response = await served.call('GET', path);
      expect([response.status, await response.text()]).toEqual([404, '404 page not found\n']);
    },
  );

  test('bodies that are no JSON or YAML are 415, broken ones 400, huge ones 413', async () => {
    const post = async (body: string, type: string): Promise<number> =>
      (await served.call('POST', '/api/v1/nodes', { body, type })).status;
    expect(await post('k8s\0', 'application/vnd.kubernetes.protobuf')).toBe(415);
    expect(await post('{', 'application/json')).toBe(400);
    expect(await post('[]', 'application/json')).toBe(400);
    expect(await post('a: [', 'application/yaml')).toBe(400);
    expect(await post(`"${'x'.repeat(4 * 1024 * 1024)}"`, 'application/json')).toBe(413);
    expect((await served.call('PATCH', '/api/v1/nodes/n1', { body: '{}' })).status).toBe(415);
  });

  test('a client that accepts protobuf only gets 406', async () => {
    const headers = { accept: 'application/vnd.kubernetes.protobuf' };
    expect((await served.call('GET', '/api/v1/nodes', { headers })).status).toBe(406);
  });
});

describe('odd requests', () => {
  test('doubled slashes are one, and undecodable paths are 404', async () => {
    expect((await served.call('GET', '//api//v1/nodes/n1')).status).toBe(200);
    expect((await served.call('GET', '/api/v1/nodes/%zz')).status).toBe(404);
  });

  test('a client that hangs up in the middle of its body changes nothing, and the server goes on', async () => {
    const { port } = new URL(served.api.url);
    const socket = connect(Number(port), '127.0.0.1');
    const head =
      'PUT /api/v1/nodes/n1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{';
    await new Promise<void>(resolve => socket.write(head, () => resolve()));
    await new Promise<void>(resolve => {
      socket.on('close', () => resolve());
      socket.destroy();
    });
    expect((await served.call('GET', '/api/v1/nodes/n1')).status).toBe(200);
  });
});

describe('the caller', () => {
  test('is who the core sees as the writer', async () => {
    const users: string[] = [];
    served.core.observe(write => users.push(write.user));
    const body = { metadata: { labels: { a: 'b' } } };
    const type = 'application/merge-patch+json';
    await served.call('PATCH', '/api/v1/nodes/n1', { body, type, headers: { authorization: 'Bearer user:karpenter' } });
    const eks = { authorization: 'Bearer k8s-aws-v1.abc', 'user-agent': 'curfew-repair/1' };
    await served.call('PATCH', '/api/v1/nodes/n1', { body: { metadata: { labels: { a: 'c' } } }, type, headers: eks });
    expect(users).toEqual(['karpenter', 'curfew-repair']);
  });

  test('is logged with the request and its answer', async () => {
    await served.call('GET', '/api/v1/nodes/none', { headers: { 'x-remote-user': 'me' } });
    expect(served.log).toEqual([{ method: 'GET', url: '/api/v1/nodes/none', user: 'me', code: 404 }]);
  });
});
