/** `npm start -- --example managed-database`, with the commands that it prints in the hands of the real kubectl. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForPostgres } from '../../examples/managed-database/local/postgres.ts';
import { ensureControlPlaneBinaries } from './build.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const missing = missingForPostgres();

describe.skipIf(missing !== undefined)(`the example${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let folder: string;
  let example: ChildProcess;
  let printed = '';
  let env: Record<string, string | undefined>;

  /** Output of a command that must succeed. */
  async function run(command: string): Promise<string> {
    const child = spawn('bash', ['-c', command], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    expect({ command, code: child.exitCode, error }).toMatchObject({ code: 0 });
    return out;
  }
  /** The command that was printed and begins so, run. */
  function type(beginning: string): Promise<string> {
    const command = printed
      .split('\n')
      .map(line => line.trim())
      .find(line => line.startsWith(beginning));
    if (command === undefined) throw new Error(`${beginning} was not printed:\n${printed}`);
    return run(command);
  }
  const waitFor = (what: string): Promise<string> => run(`kubectl wait ${what} manageddatabase/orders --timeout=60s`);

  beforeAll(async () => {
    const { kubectl } = await ensureControlPlaneBinaries(() => undefined);
    folder = mkdtempSync(join(tmpdir(), 'curfew-test-'));
    // PostgreSQL runs as nobody where this is root.
    chmodSync(folder, 0o711);
    const path = [
      kubectl === undefined ? [] : [dirname(kubectl)],
      dirname(process.execPath),
      process.env['PATH'] ?? '',
    ];
    env = { PATH: path.flat().join(delimiter), HOME: folder };
    example = spawn(process.execPath, [join(ROOT, 'cli', 'curfew.ts'), 'start', '--example', 'managed-database'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: folder },
    });
    const listening = Promise.withResolvers<void>();
    example.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes('Ctrl-C ends it')) listening.resolve();
    });
    example.once('exit', code => listening.reject(new Error(`it ended with exit code ${code}:\n${printed}`)));
    await listening.promise;
    for (const [, name = '', value = ''] of printed.matchAll(/export (\w+)=(\S+)/g)) env[name] = value;
  }, 180_000);
  afterAll(() => {
    example?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  it('makes a database and drops it, keeps what it may not drop, and leaves nothing behind', async () => {
    await type('kubectl apply');
    await waitFor('--for=condition=Ready');
    expect(await type('kubectl get')).toMatch(/^orders +orders +True/m);
    expect(await type('npx node examples/managed-database/sql.ts "SELECT')).toContain('{"datname":"orders"}');
    expect(await type('kubectl delete manageddatabase orders')).toContain('deleted');
    expect(await type('npx node examples/managed-database/sql.ts "SELECT')).not.toContain('orders');

    await type('kubectl apply');
    await waitFor('--for=condition=Ready');
    await type('npx node examples/managed-database/sql.ts "ALTER ROLE operator NOCREATEROLE"');
    await type('kubectl delete --wait=false');
    await waitFor('--for=condition=Degraded');
    expect(await type('kubectl describe')).toMatch(
      /Failed to delete external resource: permission denied to alter role \(SQLSTATE 42501\)/,
    );
    await type('npx node examples/managed-database/sql.ts "ALTER ROLE operator CREATEROLE"');
    await waitFor('--for=delete');

    const ended = once(example, 'exit');
    example.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(printed).not.toContain('✗');
    expect(readdirSync(folder).filter(name => name.startsWith('curfew-run-'))).toEqual([]);
    await expect(type('npx node examples/managed-database/sql.ts "SELECT')).rejects.toThrow(
      'to match object { code: +0 }',
    );
  }, 240_000);
});
