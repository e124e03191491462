import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { onKubeconfig } from '../../cli/on-kubeconfig.ts';

const agents: (string | undefined)[] = [];
const tokens: (string | undefined)[] = [];
let gitVersion = 'v1.36.0';
const server = createServer((request, response) => {
  agents.push(request.headers['user-agent']);
  tokens.push(request.headers.authorization);
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ gitVersion }));
});
const folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  agents.length = 0;
  vi.unstubAllEnvs();
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

/** A kubeconfig for the server, with one context, which names the user of the requests. */
function write(
  name: string,
  {
    context = 'local',
    current,
    user = {},
  }: { readonly context?: string; readonly current?: string; readonly user?: object },
): string {
  const address = server.address();
  const file = join(folder, name);
  const config = {
    'current-context': current ?? context,
    contexts: [{ name: context, context: { cluster: 'local', user: 'local' } }],
    clusters: [
      { name: 'local', cluster: { server: `http://127.0.0.1:${typeof address === 'object' && address?.port}` } },
    ],
    users: [{ name: 'local', user }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

// It stands in the audit log and in the managedFields of what `drain`, `republish` and `uninstall` write.
it('names the command line to the API server, not one of its commands', async () => {
  await onKubeconfig({ kubeconfig: write('kubeconfig', {}) }, async () => undefined);
  expect(agents).toEqual(['curfew-cli']);
});

describe('the release of the API server', () => {
  const errors: string[] = [];
  beforeEach(() => {
    vi.spyOn(process.stderr, 'write').mockImplementation(text => errors.push(String(text)) > 0);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    errors.length = 0;
    gitVersion = 'v1.36.0';
  });

  it.each(['v1.29.15-eks-1', 'v1.8.0'])('is said to be too old: %s', async version => {
    gitVersion = version;
    expect(await onKubeconfig({ kubeconfig: write('kubeconfig', {}) }, async () => 'looked')).toBe('looked');
    expect(errors).toEqual([
      `The cluster runs Kubernetes ${version}: Curfew needs 1.30 or newer and is not tested on older releases.\n`,
    ]);
  });

  it.each(['v1.30.14-eks-1', 'v1.100.0', 'v2.0.0', 'unknown'])('passes without a word: %s', async version => {
    gitVersion = version;
    await onKubeconfig({ kubeconfig: write('kubeconfig', {}) }, async () => undefined);
    expect(errors).toEqual([]);
  });
});

describe('$KUBECONFIG with several files', () => {
  it.each([
    ['takes the first current context, and passes over what is not there', undefined, 'Bearer b'],
    ['takes the first file that has the context', 'c', 'Bearer c'],
  ])('%s', async (_, context, token) => {
    const list = [
      join(folder, 'missing'),
      write('a', { context: 'a', current: '', user: { token: 'a' } }),
      write('b', { context: 'b', user: { token: 'b' } }),
      write('c', { context: 'c', user: { token: 'c' } }),
    ];
    vi.stubEnv('KUBECONFIG', list.join(delimiter));
    await onKubeconfig({ ...(context !== undefined && { context }) }, async () => undefined);
    expect(tokens.at(-1)).toBe(token);
  });

  it('says which contexts there are when none has the one that is asked for', async () => {
    vi.stubEnv('KUBECONFIG', [write('a', { context: 'a' }), write('b', { context: 'b' })].join(delimiter));
    await expect(onKubeconfig({ context: 'z' }, async () => undefined)).rejects.toThrow(
      'no file of $KUBECONFIG has a context z: they have a, b',
    );
  });
});
