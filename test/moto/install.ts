/** moto, an AWS that nobody here wrote. In CI it is installed where it is missing; elsewhere the suite is skipped, with its reason. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { findFreePort, LOOPBACK } from '../../packages/local-aws/src/loopback.ts';

const VERSION = '5.2.5';
const HOME = join(homedir(), '.cache', 'curfew', `moto-${VERSION}`);
/** With its packages, 200 MB. */
const TIMEOUT_MS = 420_000;

const server = (): string => process.env['CURFEW_MOTO_SERVER'] ?? join(HOME, 'bin', 'moto_server');

/** Why the suite cannot run; undefined: it can. */
export function reasonToSkip(): string | undefined {
  if (existsSync(server())) return undefined;
  const how = `python3 -m venv ${HOME} && ${HOME}/bin/pip install 'moto[server,all]==${VERSION}', or set CURFEW_MOTO_SERVER`;
  if (process.env['CI'] !== 'true') return `moto is not installed: ${how}`;
  try {
    mkdirSync(dirname(HOME), { recursive: true });
    execFileSync('python3', ['-m', 'venv', HOME], { stdio: 'pipe', timeout: TIMEOUT_MS });
    execFileSync(join(HOME, 'bin', 'pip'), ['install', '-q', `moto[server,all]==${VERSION}`], {
      stdio: 'pipe',
      timeout: TIMEOUT_MS,
    });
  } catch (error) {
    return `moto cannot be installed (${error instanceof Error ? error.message.split('\n')[0] : ''}): ${how}`;
  }
  return existsSync(server()) ? undefined : `moto has no server: ${how}`;
}

export interface Moto {
  readonly endpoint: string;
  /** Types of which it has made nothing, as it says itself. */
  ignoredTypes(): ReadonlySet<string>;
  stop(): Promise<void>;
}

export async function startMoto(): Promise<Moto> {
  const port = await findFreePort();
  const env = { ...process.env, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const child = spawn(server(), ['-H', LOOPBACK, '-p', String(port)], { stdio: ['ignore', 'pipe', 'pipe'], env });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => void (said += String(chunk)));
  const endpoint = `http://${LOOPBACK}:${port}`;
  await answers(endpoint, child);
  return {
    endpoint,
    ignoredTypes: () =>
      new Set([...said.matchAll(/No Moto CloudFormation support for (\S+)/g)].map(([, type = '']) => type)),
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

/** Python takes some seconds to load. */
async function answers(endpoint: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`moto ended with ${child.exitCode}`);
    const answer = await fetch(`${endpoint}/moto-api/`).catch(() => undefined);
    if (answer !== undefined) return;
    await once(AbortSignal.timeout(200), 'abort');
  }
}
