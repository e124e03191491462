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

/** Why the suite cannot run; undefined: it can. Throws in CI where it could not be installed: there nothing is skipped. */
export function reasonToSkip(): string | undefined {
  if (missing().length === 0) return undefined;
  const isCi = process.env['CI'] === 'true';
  if (isCi && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) install();
  const left = missing();
  if (left.length === 0) return undefined;
  const reason = `${left.join(', ')} not installed: as root, apt-get install ${PACKAGES.join(' ')}`;
  if (isCi) throw new Error(`in CI the Slurm suite must run, and ${reason}`);
  return reason;
}

function install(): void {
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, timeout: TIMEOUT_MS } as const;
  const aptGet = (...args: string[]): void =>
    void execFileSync('apt-get', ['-q', ...args], { ...options, stdio: 'pipe' });
  aptGet('update');
  aptGet('install', '-y', '--no-install-recommends', ...PACKAGES);
}
