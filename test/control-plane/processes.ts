// Child processes that cannot outlive their parent, however it ends.
//
// A watchdog shell, in a process group of its own, reads the children's ids from a pipe that only this process holds.
// When this process is gone, by exit, signal or crash, the pipe closes and the watchdog kills the children and removes
// their directory. A regular stop() makes the watchdog superfluous and ends it last.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A started process. */
export type Running = {
  readonly name: string;
  /** Why it is not running any more; `undefined` while it is. */
  ended(): string | undefined;
  /** The last lines that it wrote. */
  logTail(): Promise<string>;
  /** Asks it to end, then makes it end. Returns when it is gone. */
  stop(): Promise<void>;
  /** `kill -9`. Returns when it is gone. */
  kill(): Promise<void>;
  /** It keeps its connections and answers nothing until it is resumed. */
  pause(): void;
  resume(): void;
};

/** A process that may be gone for a while: each `start` makes another one and returns when it is ready. */
export type Restartable = Pick<Running, 'kill' | 'pause' | 'resume'> & { start(): Promise<void> };

/** Processes that share a temporary directory and an end. */
export type ProcessGroup = {
  readonly directory: string;
  /** @param env added to this process's own */
  start(name: string, file: string, args: readonly string[], env?: Readonly<Record<string, string>>): Running;
  /** Stops all, the last one started first, and removes the directory. Safe to call again. */
  readonly stop: () => Promise<void>;
};

const STOP_GRACE_MS = 2000;
const POLL_PERIOD_MS = 50;
const LOG_TAIL_LINES = 15;
const WATCHDOG = 'pids=; while read -r pid; do pids="$pids $pid"; done; kill -9 $pids; sleep 1; rm -rf -- "$1"';

/** Creates an empty group with its own directory. */
export async function createProcessGroup(): Promise<ProcessGroup> {
  const directory = await mkdtemp(join(tmpdir(), 'curfew-control-plane-'));
  const watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.unref();
  const running: Running[] = [];
  let stopping: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    for (const child of running.toReversed()) await child.stop();
    watchdog.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  };
  return {
    directory,
    start(name, file, args, env = {}) {
      const child = startProcess(name, file, args, env, join(directory, `${name}.log`));
      if (child.pid !== undefined) watchdog.stdin.write(`${child.pid}\n`);
      running.push(child.running);
      return child.running;
    },
    stop: () => (stopping ??= stopAll()),
  };
}

/** Waits until `check` answers true; throws with the log's end when `running` ends before, or after `timeoutMs`. */
export async function waitUntil(running: Running, check: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await check().catch(() => false))) {
    const failure = running.ended() ?? (Date.now() > deadline ? `not ready after ${timeoutMs} ms` : undefined);
    if (failure !== undefined) throw new Error(`${running.name}: ${failure}\n${await running.logTail()}`);
    await sleep(POLL_PERIOD_MS);
  }
}

/** @param start starts a process, and returns it when it is ready */
export async function restartable(start: () => Promise<Running>): Promise<Restartable> {
  let running = await start();
  return {
    async start() {
      running = await start();
    },
    kill: () => running.kill(),
    pause: () => running.pause(),
    resume: () => running.resume(),
  };
}

/** Returns a loopback port that is free now. Someone else may still be faster to take it. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error('the listening server has no port'));
      });
    });
  });
}

function startProcess(
  name: string,
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  logFile: string,
): { readonly pid: number | undefined; readonly running: Running } {
  const log = openSync(logFile, 'a');
  const child = spawn(file, args, { stdio: ['ignore', log, log], env: { ...process.env, ...env } });
  closeSync(log);
  child.unref();
  let end: string | undefined;
  const gone = new Promise<void>(resolve => {
    const settle = (why: string): void => {
      end ??= why;
      resolve();
    };
    child.on('error', error => settle(`could not be started: ${error.message}`));
    child.on('exit', (code, signal) => settle(`ended with ${signal ?? `code ${code}`}`));
  });
  const running: Running = {
    name,
    ended: () => end,
    logTail: async () => (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n'),
    stop: async () => {
      if (end === undefined) await stopProcess(child, gone);
    },
    async kill() {
      child.kill('SIGKILL');
      if (end === undefined) await gone;
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
  return { pid: child.pid, running };
}

async function stopProcess(child: ChildProcess, gone: Promise<void>): Promise<void> {
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
  child.ref();
  child.kill('SIGTERM');
  await gone;
  clearTimeout(force);
}
