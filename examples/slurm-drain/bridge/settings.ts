/** The bridge's settings, from environment variables. */
import { readFile } from 'node:fs/promises';
import { createScontrol } from './scontrol.ts';
import type { Slurm } from './slurm.ts';
import { createSlurmrestd } from './slurmrestd.ts';

export interface BridgeSettings {
  readonly owner: string;
  readonly namespace: string;
  readonly slurm: {
    /** `SLURMRESTD_URL` */
    readonly url: string;
    /** `SLURM_CONF` */
    readonly config: string;
    /** `SLURM_USER`, whose token it is; an operator or administrator of Slurm. */
    readonly user: string;
    /** `SLURM_TOKEN_FILE`, read at each use. */
    readonly tokenFile: string;
  };
}

/** Throws for a variable that is missing or not usable, with its name. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): BridgeSettings {
  const required = (name: string): string => {
    const value = env[name];
    if (value === undefined || value === '')
      throw new Error(`set ${name}: examples/slurm-drain/README.md says to what`);
    return value;
  };
  const owner = env['BRIDGE_OWNER'] ?? 'curfew';
  if (!/^[a-z0-9-]{1,40}$/.test(owner)) throw new Error(`BRIDGE_OWNER: ${owner} is not made of a-z, 0-9 and -`);
  return {
    owner,
    namespace: env['BRIDGE_NAMESPACE'] ?? 'slurm',
    slurm: {
      url: required('SLURMRESTD_URL'),
      config: required('SLURM_CONF'),
      user: env['SLURM_USER'] ?? 'slurm',
      tokenFile: required('SLURM_TOKEN_FILE'),
    },
  };
}

/** Reads by slurmrestd, changes by scontrol. */
export function connectSlurm({ url, config, user, tokenFile }: BridgeSettings['slurm']): Slurm & { close(): void } {
  const token = async (): Promise<string> => (await readFile(tokenFile, 'utf8')).trim().replace(/^SLURM_JWT=/, '');
  return { ...createSlurmrestd({ url, user, token }), ...createScontrol({ config, token }) };
}
