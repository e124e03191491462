// The Go side: which versions the go.mod files pin, how the binaries are built, where Karpenter's CRDs come from.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Log } from './cache.ts';

/** The versions that the go.mod files pin, each with its leading "v". */
export type Pins = {
  readonly kubernetes: string;
  readonly others: Readonly<Record<OtherRelease, { readonly version: string; readonly module: GoModule }>>;
  readonly etcd: string;
  readonly karpenter: string;
  readonly helm: Readonly<Record<HelmMajor, string>>;
  /** The oldest Go that builds them. */
  readonly go: string;
  readonly controlPlane: GoModule;
  readonly karpenterModule: GoModule;
  readonly etcdutlModule: GoModule;
  readonly helmModule: Readonly<Record<HelmMajor, GoModule>>;
};

/** Other releases of Kubernetes that some suites run on: the oldest is what Curfew promises to run on. Each has a folder of its name. */
export const OTHER_RELEASES = ['newest', 'between', 'oldest'] as const;
export type OtherRelease = (typeof OTHER_RELEASES)[number];

/**
 * Of those, the ones of this run. `between` takes as long to build and to run as the oldest, so `CURFEW_TEST_BETWEEN=yes` asks for it. With
 * components of one release that are given there is none.
 */
export const releasesInUse = (): readonly OtherRelease[] =>
  process.env['KUBEBUILDER_ASSETS']
    ? []
    : OTHER_RELEASES.filter(release => release !== 'between' || process.env['CURFEW_TEST_BETWEEN'] === 'yes');

/** The releases of Helm that are in use. */
export const HELM_MAJORS = [3, 4] as const;
export type HelmMajor = (typeof HELM_MAJORS)[number];

/** A folder with a go.mod, and what is built from it. */
export type GoModule = {
  readonly directory: string;
  readonly binaries: readonly Binary[];
  readonly flags: readonly string[];
  /** Changes when anything does that the binaries are made from. */
  readonly digest: string;
};

type Binary = { readonly name: string; readonly package: string };

const MODULE_DIRECTORY = import.meta.dirname;
const KARPENTER = 'sigs.k8s.io/karpenter';
/** `CURFEW_TEST_KARPENTER=before` runs the suites with the release before. */
const KARPENTER_DIRECTORY = join(
  MODULE_DIRECTORY,
  'karpenter',
  ...(process.env['CURFEW_TEST_KARPENTER'] === 'before' ? ['before'] : []),
);
const HELM = { 3: 'helm.sh/helm/v3', 4: 'helm.sh/helm/v4' } as const;
const HELM_DIRECTORY = { 3: join(MODULE_DIRECTORY, 'helm'), 4: join(MODULE_DIRECTORY, 'helm4') } as const;
const KUBERNETES_PIN = /^\s*(?:require )?k8s\.io\/kubernetes (v\S+)/m;
const PROGRESS_PERIOD_MS = 30_000;
const ERROR_TAIL_CHARACTERS = 2000;
const CONTROL_PLANE_BINARIES: readonly Binary[] = [
  { name: 'etcd', package: 'go.etcd.io/etcd/server/v3' },
  { name: 'kube-apiserver', package: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  { name: 'kube-controller-manager', package: 'k8s.io/kubernetes/cmd/kube-controller-manager' },
  { name: 'kube-scheduler', package: 'k8s.io/kubernetes/cmd/kube-scheduler' },
  { name: 'kubectl', package: 'k8s.io/kubernetes/cmd/kubectl' },
];
/** etcd and kube-scheduler do not depend on the release of the API server; `kubectl apply -k` does. */
const OLDEST_BINARIES = CONTROL_PLANE_BINARIES.filter(({ name }) =>
  ['kube-apiserver', 'kube-controller-manager', 'kubectl'].includes(name),
);
const ETCDUTL_DIRECTORY = join(MODULE_DIRECTORY, 'etcdutl');
const ETCDUTL_BINARIES: readonly Binary[] = [{ name: 'etcdutl', package: 'go.etcd.io/etcd/etcdutl/v3' }];
const KARPENTER_BINARIES: readonly Binary[] = [{ name: 'karpenter', package: `${KARPENTER}/kwok` }];

/** Reads the pinned versions. */
export async function readPins(): Promise<Pins> {
  const controlPlane = await readModule(MODULE_DIRECTORY);
  const karpenter = await readModule(KARPENTER_DIRECTORY);
  const etcdutl = await readModule(ETCDUTL_DIRECTORY);
  const helm3 = await readHelm(3);
  const helm4 = await readHelm(4);
  const kubernetes = controlPlane.pin(KUBERNETES_PIN);
  const karpenterVersion = karpenter.pin(/^\s*(?:require )?sigs\.k8s\.io\/karpenter (v\S+)/m);
  return {
    kubernetes,
    others: {
      newest: await readOther('newest', CONTROL_PLANE_BINARIES),
      between: await readOther('between', OLDEST_BINARIES),
      // What was cut out of Kubernetes later.
      oldest: await readOther('oldest', OLDEST_BINARIES, ['providerless']),
    },
    etcd: controlPlane.pin(/^\s*(?:require )?go\.etcd\.io\/etcd\/server\/v3 (v\S+)/m),
    karpenter: karpenterVersion,
    helm: { 3: helm3.version, 4: helm4.version },
    go: controlPlane.pin(/^go (\S+)/m),
    controlPlane: controlPlane.building(CONTROL_PLANE_BINARIES, kubernetesStamps(kubernetes)),
    karpenterModule: karpenter.building(KARPENTER_BINARIES, [`${KARPENTER}/pkg/operator.Version=${karpenterVersion}`]),
    etcdutlModule: etcdutl.building(ETCDUTL_BINARIES, []),
    helmModule: { 3: helm3.module, 4: helm4.module },
  };
}

async function readOther(
  release: OtherRelease,
  binaries: readonly Binary[],
  tags: readonly string[] = [],
): Promise<Pins['others'][OtherRelease]> {
  const read = await readModule(join(MODULE_DIRECTORY, release));
  const version = read.pin(KUBERNETES_PIN);
  return { version, module: read.building(binaries, kubernetesStamps(version), tags) };
}

async function readHelm(major: HelmMajor): Promise<{ readonly version: string; readonly module: GoModule }> {
  const read = await readModule(HELM_DIRECTORY[major]);
  const version = read.pin(new RegExp(`^\\s*(?:require )?${HELM[major].replaceAll('.', '\\.')} (v\\S+)`, 'm'));
  const kubernetesMinor = read.pin(/^\s*k8s\.io\/client-go v0\.(\d+)/m);
  const binaries = [{ name: 'helm', package: `${HELM[major]}/cmd/helm` }];
  return { version, module: read.building(binaries, stampsOfHelm(major, version, kubernetesMinor)) };
}

async function readModule(directory: string): Promise<{
  pin(pattern: RegExp): string;
  building(binaries: readonly Binary[], stamps: readonly string[], tags?: readonly string[]): GoModule;
}> {
  const goMod = await readFile(join(directory, 'go.mod'), 'utf8');
  const goSum = await readFile(join(directory, 'go.sum'), 'utf8');
  return {
    pin(pattern) {
      const version = pattern.exec(goMod)?.[1];
      if (version === undefined) throw new Error(`${directory}/go.mod has no line that matches ${pattern.source}`);
      return version;
    },
    building(binaries, stamps, tags = []) {
      const flags = buildFlags(stamps, tags);
      const recipe = JSON.stringify([binaries, flags]);
      const digest = createHash('sha256').update(goMod).update(goSum).update(recipe).digest('hex').slice(0, 12);
      return { directory, binaries, flags, digest };
    },
  };
}

/** True when a `go` command can be run. */
export async function isGoAvailable(): Promise<boolean> {
  return go(['version'], MODULE_DIRECTORY).then(
    () => true,
    () => false,
  );
}

/** Builds every binary of the module into `directory`. */
export async function buildBinaries(directory: string, module: GoModule, log: Log): Promise<void> {
  for (const [index, binary] of module.binaries.entries()) {
    const what = `${binary.name} (${index + 1} of ${module.binaries.length})`;
    const started = Date.now();
    const elapsed = (): string => `${Math.round((Date.now() - started) / 1000)} s`;
    log(`building ${what}`);
    const progress = setInterval(() => log(`still building ${what}, ${elapsed()}`), PROGRESS_PERIOD_MS);
    try {
      await go(['build', ...module.flags, '-o', join(directory, binary.name), binary.package], module.directory);
    } catch (error) {
      throw new Error(`building ${binary.name} failed`, { cause: error });
    } finally {
      clearInterval(progress);
    }
    log(`built ${what} in ${elapsed()}`);
  }
}

/** Copies the CRDs of the pinned Karpenter into `directory`. */
export function copyKarpenterCrds(directory: string): Promise<void> {
  return copyFromKarpenter(join('pkg', 'apis', 'crds'), directory);
}

/** Copies the CRD of the kwok provider's node class into `directory`. */
export function copyKwokCrds(directory: string): Promise<void> {
  return copyFromKarpenter(join('kwok', 'apis', 'crds'), directory);
}

async function copyFromKarpenter(folder: string, directory: string): Promise<void> {
  const answer: unknown = JSON.parse(await go(['mod', 'download', '-json', KARPENTER], KARPENTER_DIRECTORY));
  if (typeof answer !== 'object' || answer === null || !('Dir' in answer) || typeof answer.Dir !== 'string') {
    throw new Error(`go mod download named no directory for ${KARPENTER}`);
  }
  const source = join(answer.Dir, folder);
  for (const file of await readdir(source)) {
    if (file.endsWith('.yaml')) await copyFile(join(source, file), join(directory, file));
  }
}

/** kube-* report the release that they were built from, as the released ones do. */
function kubernetesStamps(kubernetes: string): string[] {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(kubernetes) ?? [];
  const variables = { gitVersion: kubernetes, gitMajor: major, gitMinor: minor };
  return ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap(path =>
    Object.entries(variables).map(([name, value]) => `${path}.${name}=${value}`),
  );
}

/** Helm takes the release of its client for the cluster's where it asks none, as the released ones do; Helm 4 knows it by itself. */
function stampsOfHelm(major: HelmMajor, version: string, kubernetesMinor: string): string[] {
  const packages = major === 3 ? ['pkg/chartutil', 'pkg/lint/rules'].map(path => `${HELM[3]}/${path}`) : [];
  return [
    `${HELM[major]}/internal/version.version=${version}`,
    ...packages.flatMap(path => [`${path}.k8sVersionMajor=1`, `${path}.k8sVersionMinor=${kubernetesMinor}`]),
  ];
}

/** Static, small, reproducible binaries. */
function buildFlags(stamps: readonly string[], tags: readonly string[]): string[] {
  const variables = stamps.map(stamp => `-X ${stamp}`);
  const tagged = tags.length === 0 ? [] : [`-tags=${tags.join(',')}`];
  return ['-mod=readonly', '-trimpath', ...tagged, '-ldflags', ['-s', '-w', ...variables].join(' ')];
}

function go(args: readonly string[], directory: string): Promise<string> {
  return new Promise((resolve, reject) => {
    // `auto`: a go.mod that asks for a newer Go gets it, as a module.
    const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOTOOLCHAIN: 'auto' };
    const child = spawn('go', args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] });
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
