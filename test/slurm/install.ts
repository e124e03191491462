/** Is there a Slurm on this machine? In CI it is installed from Debian's packages; elsewhere the suite is skipped, with its reason. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NEEDED = ['munged', 'slurmctld', 'slurmd', 'slurmrestd', 'scontrol', 'sbatch'];
const PACKAGES = ['slurm-wlm', 'slurmrestd', 'munge', 'slurm-wlm-jwt-plugin'];
/** `apt-get update` and the packages, 4 MB. */
const TIMEOUT_MS = 120_000;

/** The commands that are missing. */
function missing(): readonly string[] {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return NEEDED.filter(name => !folders.some(folder => existsSync(join(folder, name))));
}

/** Why the suite cannot run; undefined: it can. In CI a Slurm that is missing is installed first, where packages can be reached. */
export function reasonToSkip(): string | undefined {
  if (missing().length === 0) return undefined;
  const mayInstall = process.env['CI'] === 'true' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  const failure = mayInstall ? install() : undefined;
  const left = missing();
  if (left.length === 0) return undefined;
  const remedy = failure ?? `as root, apt-get install ${PACKAGES.join(' ')}`;
  return `${left.join(', ')} not installed: ${remedy}`;
}

/** Answers why it failed, when it did: a machine without a way to Debian's packages cannot run the suite. */
function install(): string | undefined {
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, timeout: TIMEOUT_MS } as const;
  const aptGet = (...args: string[]): void =>
    void execFileSync('apt-get', ['-q', ...args], { ...options, stdio: 'pipe' });
  try {
    aptGet('update');
    aptGet('install', '-y', '--no-install-recommends', ...PACKAGES);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
}
