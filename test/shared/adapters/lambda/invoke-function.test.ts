import { LambdaClient } from '@aws-sdk/client-lambda';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { listen, LOOPBACK } from '../../../../packages/local-aws/src/loopback.ts';
import { createInvokeFunction, INVOKE_CLIENT_DEFAULTS } from '../../../../shared/adapters/lambda/invoke-function.ts';

// A NAT forgets a connection that was idle for six minutes, a frozen environment does not notice, and the client has one try.
it('calls each function over a connection of its own: one that was kept may be dead', async () => {
  const used = new Set<Socket>();
  const server = createServer((request, response) => {
    if (used.has(request.socket)) return void request.socket.resetAndDestroy();
    used.add(request.socket);
    request.resume();
    request.on('end', () => response.end('{"result":"succeed"}'));
  });
  const port = await listen(server);
  const client = new LambdaClient({
    ...INVOKE_CLIENT_DEFAULTS,
    endpoint: `http://${LOOPBACK}:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  const invoke = createInvokeFunction(client);
  for (let call = 0; call < 3; call += 1) {
    expect(await invoke('backup', {})).toEqual({ kind: 'returned', value: { result: 'succeed' } });
  }
});
