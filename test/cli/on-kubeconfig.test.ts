import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { onKubeconfig } from '../../cli/on-kubeconfig.ts';

const agents: (string | undefined)[] = [];
const server = createServer((request, response) => {
  agents.push(request.headers['user-agent']);
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ gitVersion: 'v1.36.0' }));
});
const folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));

afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

// It stands in the audit log and in the managedFields of what `drain`, `republish` and `uninstall` write.
it('names the command line to the API server, not one of its commands', async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    'current-context': 'local',
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'local' } }],
    clusters: [
      { name: 'local', cluster: { server: `http://127.0.0.1:${typeof address === 'object' && address?.port}` } },
    ],
    users: [{ name: 'local', user: {} }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  await onKubeconfig({ kubeconfig }, async () => undefined);
  expect(agents).toEqual(['curfew-cli']);
});
