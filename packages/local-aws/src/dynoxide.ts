/** Dynoxide as a child process with its data in a file. */
import type { ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../shared/errors.ts';
import { endChild, startChild } from './child-processes.ts';
import type { DynamoDbServer } from './dynamodb-server.ts';
import { findFreePort, LOOPBACK } from './loopback.ts';

const READY_WITHIN_MS = 10_000;
const POLL_PERIOD_MS = 10;
const RESTART_AFTER_MS = 500;

/** The binary's path, undefined where npm has none for this platform. */
export function findDynoxide(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('@dynoxide/linux-x64/dynoxide');
  } catch {
    return undefined;
  }
}

/**
 * @param onProblem hears of an end that nobody asked for; it is started again on the same endpoint with the same data
 */
export async function startDynoxide(
  binary: string,
  dataDir: string,
  onProblem: (message: string) => void = () => undefined,
): Promise<DynamoDbServer> {
  const port = await findFreePort();
  const args = ['serve', '--host', LOOPBACK, '--port', String(port), '--db-path', join(dataDir, 'dynamodb.sqlite')];
  let child: ChildProcess | undefined;
  /** Asked to end, and not to start again by itself. */
  let ending = false;
  let restart: NodeJS.Timeout | undefined;

  async function start(): Promise<void> {
    if (child !== undefined) throw new Error('Dynoxide is running');
    const started = startChild(binary, args, { stdio: ['ignore', 'ignore', 'pipe'], env: {} });
    child = started;
    ending = false;
    let ready = false;
    started.once('exit', (code, signal) => {
      if (child === started) child = undefined;
      if (ending || !ready) return;
      onProblem(`DynamoDB ended with ${signal ?? `exit code ${code}`}; it is started again with its data`);
      startAgain();
    });
    await untilReady(started, port);
    ready = true;
  }

  function startAgain(): void {
    restart = setTimeout(() => {
      if (ending || child !== undefined) return;
      start().catch((error: unknown) => {
        onProblem(`DynamoDB cannot be started again: ${messageOf(error)}`);
        if (!ending) startAgain();
      });
    }, RESTART_AFTER_MS);
  }

  async function end(): Promise<void> {
    ending = true;
    clearTimeout(restart);
    if (child !== undefined) await endChild(child);
  }

  await start();
  return {
    endpoint: `http://${LOOPBACK}:${port}`,
    implementation: 'dynoxide',
    start,
    kill: end,
    // What was acknowledged is in the file already; there is nothing to say good-bye to.
    stop: end,
  };
}

async function untilReady(child: ChildProcess, port: number): Promise<void> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  let failure: Error | undefined;
  child.once('error', error => (failure = error));
  for (let waited = 0; waited < READY_WITHIN_MS; waited += POLL_PERIOD_MS) {
    if (failure !== undefined) throw new Error('starting Dynoxide', { cause: failure });
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`Dynoxide ended: ${said.trim()}`);
    if (await accepts(port)) return;
    await sleep(POLL_PERIOD_MS);
  }
  await endChild(child);
  throw new Error(`Dynoxide does not listen after ${READY_WITHIN_MS / 1000} s: ${said.trim()}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, LOOPBACK);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
