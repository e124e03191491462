/** The forwarder as a process of its own, as in a cluster: it can be killed, and another one takes over. */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endChild, startChild } from '../../packages/local-aws/src/child-processes.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'forwarder', 'main.ts');
const RESTART_AFTER_MS = 1000;

export interface ForwarderProcess {
  readonly pid: () => number | undefined;
  /** `kill -9`; another one starts after a second, as a kubelet would do. */
  kill(): void;
  stop(): Promise<void>;
}

/** Starts it and keeps it running. `onProblem` is called for an end that nobody asked for, with the last lines that it wrote; `onLine` for each. */
export function startForwarderProcess(
  env: Readonly<Record<string, string>>,
  onProblem: (message: string) => void,
  onLine: (line: string) => void = () => undefined,
): ForwarderProcess {
  let child: ChildProcess;
  let stopping = false;
  /** By `kill`. */
  let killed = false;
  let restart: NodeJS.Timeout | undefined;

  const start = (): void => {
    const lines: string[] = [];
    killed = false;
    child = startChild(process.execPath, [MAIN], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // Where it could not be started, as with too many open files, it has no streams; the next try may have.
    child.once('error', error => onProblem(`the forwarder cannot be started: ${error.message}`));
    const streams: readonly (typeof child.stdout | undefined)[] = [child.stdout, child.stderr];
    for (const stream of streams) {
      if (!stream) continue;
      createInterface({ input: stream }).on('line', line => {
        onLine(line);
        lines.push(line);
        if (lines.length > 5) lines.shift();
      });
    }
    child.once('exit', (code, signal) => {
      if (stopping) return;
      if (!killed) {
        const said = lines.length === 0 ? '' : `: ${lines.join(' | ')}`;
        onProblem(`the forwarder ended with ${signal ?? `exit code ${code}`}; it is started again${said}`);
      }
      restart = setTimeout(start, RESTART_AFTER_MS);
    });
  };
  start();

  return {
    pid: () => child.pid,
    kill() {
      killed = true;
      child.kill('SIGKILL');
    },
    async stop() {
      stopping = true;
      clearTimeout(restart);
      await endChild(child);
    },
  };
}
