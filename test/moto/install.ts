/** moto, an AWS that nobody here wrote. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort, LOOPBACK } from '../../packages/local-aws/src/loopback.ts';
import * as python from './python-packages.ts';

const MOTO = {
  command: 'moto_server',
  name: 'moto-5.2.5',
  requirement: 'moto[server,all]==5.2.5',
  variable: 'CURFEW_MOTO_SERVER',
};

/** Why the suite cannot run; undefined: it can. */
export const reasonToSkip = (): string | undefined => python.reasonToSkip(MOTO);

export interface Moto {
  readonly endpoint: string;
  /** Types of which it has made nothing, as it says itself. */
  ignoredTypes(): ReadonlySet<string>;
  stop(): Promise<void>;
}

export async function startMoto(): Promise<Moto> {
  const port = await findFreePort();
  const env = { ...process.env, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const child = spawn(python.pathOf(MOTO), ['-H', LOOPBACK, '-p', String(port)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  });
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
