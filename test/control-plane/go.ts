// The Go side: which versions go.mod pins, how the binaries are built, where Karpenter's CRDs come from.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Log } from './cache.ts';

/** The versions that go.mod pins, each with its leading "v". */
export type Pins = {
  readonly kubernetes: string;
  readonly etcd: string;
  readonly karpenter: string;
  /** The oldest Go that builds the module. */
  readonly go: string;
  /** Changes when anything does that the binaries are made from. */
  readonly digest: string;
};

const MODULE_DIRECTORY = import.meta.dirname;
const KARPENTER_MODULE = 'sigs.k8s.io/karpenter';
const PROGRESS_PERIOD_MS = 30_000;
const ERROR_TAIL_CHARACTERS = 2000;
const BINARIES = [
  { name: 'etcd', package: 'go.etcd.io/etcd/server/v3' },
  { name: 'kube-apiserver', package: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  { name: 'kube-controller-manager', package: 'k8s.io/kubernetes/cmd/kube-controller-manager' },
  { name: 'kubectl', package: 'k8s.io/kubernetes/cmd/kubectl' },
] as const;

/** Reads the pinned versions from go.mod. */
export async function readPins(): Promise<Pins> {
  const goMod = await readFile(join(MODULE_DIRECTORY, 'go.mod'), 'utf8');
  const goSum = await readFile(join(MODULE_DIRECTORY, 'go.sum'), 'utf8');
  const pin = (pattern: RegExp): string => {
    const version = pattern.exec(goMod)?.[1];
    if (version === undefined) throw new Error(`go.mod has no line that matches ${pattern.source}`);
    return version;
  };
  const kubernetes = pin(/^\s*(?:require )?k8s\.io\/kubernetes (v\S+)/m);
  const recipe = JSON.stringify([BINARIES, buildFlags(kubernetes)]);
  return {
    kubernetes,
    etcd: pin(/^\s*(?:require )?go\.etcd\.io\/etcd\/server\/v3 (v\S+)/m),
    karpenter: pin(/^\s*(?:require )?sigs\.k8s\.io\/karpenter (v\S+)/m),
    go: pin(/^go (\S+)/m),
    digest: createHash('sha256').update(goMod).update(goSum).update(recipe).digest('hex').slice(0, 12),
  };
}

/** True when a `go` command can be run. */
export async function isGoAvailable(): Promise<boolean> {
  return go(['version']).then(
    () => true,
    () => false,
  );
}

/** Builds every binary into `directory`. */
export async function buildBinaries(directory: string, pins: Pins, log: Log): Promise<void> {
  for (const [index, binary] of BINARIES.entries()) {
    const what = `${binary.name} (${index + 1} of ${BINARIES.length})`;
    const started = Date.now();
    const elapsed = (): string => `${Math.round((Date.now() - started) / 1000)} s`;
    log(`building ${what}`);
    const progress = setInterval(() => log(`still building ${what}, ${elapsed()}`), PROGRESS_PERIOD_MS);
    try {
      await go(['build', ...buildFlags(pins.kubernetes), '-o', join(directory, binary.name), binary.package]);
    } catch (error) {
      throw new Error(`building ${binary.name} failed`, { cause: error });
    } finally {
      clearInterval(progress);
    }
    log(`built ${what} in ${elapsed()}`);
  }
}

/** Copies the CRDs of the pinned Karpenter into `directory`. */
export async function copyKarpenterCrds(directory: string): Promise<void> {
  const answer: unknown = JSON.parse(await go(['mod', 'download', '-json', KARPENTER_MODULE]));
  if (typeof answer !== 'object' || answer === null || !('Dir' in answer) || typeof answer.Dir !== 'string') {
    throw new Error(`go mod download named no directory for ${KARPENTER_MODULE}`);
  }
  const source = join(answer.Dir, 'pkg', 'apis', 'crds');
  for (const file of await readdir(source)) {
    if (file.endsWith('.yaml')) await copyFile(join(source, file), join(directory, file));
  }
}

/** Static, small, reproducible binaries that report the release they were built from, as the released ones do. */
function buildFlags(kubernetes: string): string[] {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(kubernetes) ?? [];
  const variables = { gitVersion: kubernetes, gitMajor: major, gitMinor: minor };
  const stamps = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap(path =>
    Object.entries(variables).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  return ['-mod=readonly', '-trimpath', '-ldflags', ['-s', '-w', ...stamps].join(' ')];
}

function go(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' };
    const child = spawn('go', args, { cwd: MODULE_DIRECTORY, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-ERROR_TAIL_CHARACTERS)));
    child.on('error', reject);
    child.on('close', code => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`go ${args[0]} ended with code ${code}: ${stderr.trim() || stdout.trim()}`));
    });
  });
}
