/**
 * Changes nodes by `scontrol`: slurmrestd of Slurm 22.05 cannot (`POST /node/NAME` answers 405). With a token it needs neither munge nor a key.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Change } from './slurm.ts';

const run = promisify(execFile);
const TIMEOUT_MS = 15_000;

export interface ScontrolOptions {
  /** Path of slurm.conf. */
  readonly config: string;
  readonly token: () => Promise<string>;
}

export interface Scontrol {
  drain(node: string, reason: string): Promise<Change>;
  undrain(node: string): Promise<Change>;
}

/** What `scontrol` complains about, and a call above `TIMEOUT_MS`, is `failed`. Rejects when there is no token. */
export function createScontrol({ config, token }: ScontrolOptions): Scontrol {
  /** No shell: a reason is text of others. */
  async function update(node: string, ...settings: string[]): Promise<Change> {
    const env = { PATH: process.env['PATH'], SLURM_CONF: config, SLURM_JWT: await token() };
    try {
      await run('scontrol', ['update', `nodename=${node}`, ...settings], { env, timeout: TIMEOUT_MS });
      return { kind: 'done' };
    } catch (error) {
      return { kind: 'failed', because: complaintOf(error) };
    }
  }
  return {
    drain: (node, reason) => update(node, 'state=drain', `reason=${reason}`),
    // Not `resume`, which would bring a node back that is down.
    undrain: node => update(node, 'state=undrain'),
  };
}

function complaintOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stderr: unknown = 'stderr' in error ? error.stderr : undefined;
  return typeof stderr === 'string' && stderr.trim() !== '' ? stderr.trim() : error.message;
}
