/** The server of the example goes with the process that started it, however that ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { missingForPostgres } from '../../../examples/managed-database/local/postgres.ts';
import { EXAMPLE } from './world.ts';

const missing = missingForPostgres();

it.skipIf(missing !== undefined)(
  `ends with a process that is killed${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'curfew-postgres-'));
    try {
      const script = `
      import { startPostgres } from ${JSON.stringify(join(EXAMPLE, 'local', 'postgres.ts'))};
      const { pid } = await startPostgres(${JSON.stringify(folder)});
      process.stdout.write(pid + '\\n');
      setInterval(() => undefined, 1000);`;
      const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = await once(createInterface({ input: parent.stdout }), 'line');
      const pid = Number(line);
      expect(isRunning(pid)).toBe(true);
      parent.kill('SIGKILL');
      await once(parent, 'exit');
      while (isRunning(pid)) await sleep(20);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);

/** One that nobody has waited for yet has ended all the same. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
