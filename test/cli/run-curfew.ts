/** Runs the command line: as a user does, in a process of its own, or in this one, where the process is not the point. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runCommandLine } from '../../cli/program.ts';
import { startCommand, type StartOptions } from '../../cli/start.ts';

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

/** In this process, which saves the start of one: a second or two. */
export async function runHere(args: readonly string[]): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  const code = await runCommandLine(args, {
    out: printed => void (stdout += printed),
    error: printed => void (stderr += printed),
  });
  return { code, stdout, stderr };
}

/** `start` in this process; with `enough`, it is interrupted once that holds of what it printed so far. */
export async function startHere(options: StartOptions, enough?: (stdout: string) => boolean): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  let interrupt = (): void => undefined;
  const interrupted = new Promise<void>(resolve => (interrupt = resolve));
  const poll = setInterval(() => {
    if (enough?.(stdout) === true) interrupt();
  }, POLL_MS);
  const output = {
    out: (printed: string) => void (stdout += printed),
    error: (printed: string) => void (stderr += printed),
  };
  const code = await startCommand(options, { output, interrupted });
  clearInterval(poll);
  return { code, stdout, stderr };
}
