/** Runs the command as a user does, in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const CURFEW = join(import.meta.dirname, '..', '..', 'cli', 'curfew.ts');
const POLL_MS = 50;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Until it ends by itself; with `enough`, it gets one SIGINT once that holds of what it printed so far. */
export async function runCurfew(
  args: readonly string[],
  enough?: (stdout: string) => boolean,
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [CURFEW, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let seen = '';
  child.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString()));
  const poll = setInterval(() => {
    if (enough?.(seen) !== true) return;
    clearInterval(poll);
    child.kill('SIGINT');
  }, POLL_MS);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  clearInterval(poll);
  return { code: child.exitCode, stdout, stderr };
}
