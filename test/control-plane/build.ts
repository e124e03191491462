// Finds the real components, or builds them once. In order: KUBEBUILDER_ASSETS (the envtest convention), the cache, Go.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { cached, type Log } from './cache.ts';
import {
  buildBinaries,
  copyKarpenterCrds,
  copyKwokCrds,
  OTHER_RELEASES,
  type OtherRelease,
  type GoModule,
  type HelmMajor,
  isGoAvailable,
  type Pins,
  readPins,
} from './go.ts';

/** Paths of the real components and of Karpenter's CRDs, and the versions that they report. */
export type ControlPlaneBinaries = {
  readonly apiserver: string;
  readonly etcd: string;
  /** Absent when KUBEBUILDER_ASSETS has none: then no controller runs and, for one, a PDB's status stays empty. */
  readonly controllerManager?: string;
  readonly scheduler?: string;
  readonly kubectl?: string;
  /** YAML files; empty when KUBEBUILDER_ASSETS is in use, the CRDs are not cached yet and there is no Go. */
  readonly karpenterCrds: readonly string[];
  readonly versions: Versions;
};

/** Each with its leading "v". `karpenter` is the release of the CRDs, absent with them. */
export type Versions = { readonly kubernetes: string; readonly etcd: string; readonly karpenter?: string };

/** This machine has no real control plane and cannot build one; the message says what to do. */
export class ControlPlaneUnavailableError extends Error {
  override readonly name = 'ControlPlaneUnavailableError';
}

const run = promisify(execFile);

/** The other release that the suite runs on; undefined: that of `go.mod`. `vitest.control-plane.config.ts` says which do. */
export const OTHER_RELEASE = OTHER_RELEASES.find(release => release === process.env['CURFEW_TEST_RELEASE']);

/** Returns the real components, building them first when they are neither given nor cached. */
export async function ensureControlPlaneBinaries(log: Log): Promise<ControlPlaneBinaries> {
  const pins = await readPins();
  const directory = assetsDirectory() ?? (await builtDirectory(pins, log));
  const release = OTHER_RELEASE === undefined ? directory : await ensureOtherKubernetes(OTHER_RELEASE, log);
  const karpenterCrds = await findKarpenterCrds(pins, log);
  const inPlace = (name: string): string => join(existsSync(join(release, name)) ? release : directory, name);
  const optional = (name: string): string | undefined => (existsSync(inPlace(name)) ? inPlace(name) : undefined);
  const controllerManager = optional('kube-controller-manager');
  const scheduler = optional('kube-scheduler');
  const kubectl = optional('kubectl');
  if (controllerManager === undefined) {
    log(
      `${directory} has no kube-controller-manager: no controller runs, so a PDB gets no status and nothing is collected`,
    );
  }
  const apiserver = inPlace('kube-apiserver');
  const etcd = inPlace('etcd');
  return {
    apiserver,
    etcd,
    ...(controllerManager !== undefined && { controllerManager }),
    ...(scheduler !== undefined && { scheduler }),
    ...(kubectl !== undefined && { kubectl }),
    karpenterCrds,
    versions: {
      kubernetes: await reportedVersion(apiserver),
      etcd: await reportedVersion(etcd),
      ...(karpenterCrds.length > 0 && { karpenter: pins.karpenter }),
    },
  };
}

/** Karpenter with its kwok provider, and the CRD of that one's node class. */
export type KarpenterBinaries = { readonly karpenter: string; readonly kwokCrds: readonly string[] };

/** Returns the pinned Karpenter, building it first when it is not cached; undefined where there is no Go to build it. */
export async function ensureKarpenter(log: Log): Promise<KarpenterBinaries | undefined> {
  const { karpenter, karpenterModule, go } = await readPins();
  const program = {
    title: 'Karpenter',
    name: 'karpenter',
    version: karpenter,
    module: karpenterModule,
    minutes: 'ten',
  };
  const directory = await ensureProgram(program, go, log, copyKwokCrds);
  if (directory === undefined) return undefined;
  const files = (await readdir(directory)).filter(file => file.endsWith('.yaml'));
  return { karpenter: join(directory, 'karpenter'), kwokCrds: files.map(file => join(directory, file)) };
}

/** Returns the path of etcdutl of the pinned etcd, building it first when it is not cached; undefined where there is no Go to build it. */
export async function ensureEtcdutl(log: Log): Promise<string | undefined> {
  const { etcd, etcdutlModule, go } = await readPins();
  const program = { title: 'etcdutl', name: 'etcdutl', version: etcd, module: etcdutlModule, minutes: 'two' };
  const directory = await ensureProgram(program, go, log);
  return directory === undefined ? undefined : join(directory, 'etcdutl');
}

/** Returns the path of the pinned Helm, building it first when it is not cached; undefined where there is no Go to build it. */
export async function ensureHelm(log: Log, major: HelmMajor): Promise<string | undefined> {
  const { helm, helmModule, go } = await readPins();
  const program = { title: 'Helm', name: 'helm', version: helm[major], module: helmModule[major], minutes: 'three' };
  const directory = await ensureProgram(program, go, log);
  return directory === undefined ? undefined : join(directory, 'helm');
}

/** What some suites run beside the control plane. */
type Program = {
  readonly title: string;
  readonly name: string;
  readonly version: string;
  readonly module: GoModule;
  readonly minutes: string;
};

/** The directory of a program that is left out where it is neither cached nor can be built. */
async function ensureProgram(
  { title, name, version, module, minutes }: Program,
  goVersion: string,
  log: Log,
  copyFiles: (directory: string) => Promise<void> = async () => undefined,
): Promise<string | undefined> {
  const make = async (directory: string): Promise<void> => {
    log(`building ${title} ${version} once; this may take ${minutes} minutes`);
    await buildBinaries(directory, module, log);
    await copyFiles(directory);
  };
  try {
    return await cached(`${name}-${version}-${process.platform}-${process.arch}-${module.digest}`, log, make);
  } catch (error) {
    if (await isGoAvailable()) throw new Error(`building ${title} failed`, { cause: error });
    log(`${title} is left out: building it needs Go ${goVersion} or newer`);
    return undefined;
  }
}

function assetsDirectory(): string | undefined {
  const directory = process.env['KUBEBUILDER_ASSETS'];
  if (!directory) return undefined;
  const missing = ['kube-apiserver', 'etcd'].filter(name => !existsSync(join(directory, name)));
  if (missing.length > 0) {
    throw new ControlPlaneUnavailableError(
      `KUBEBUILDER_ASSETS is ${directory}, which has no ${missing.join(' and no ')}: correct it, or unset it to build them with Go.`,
    );
  }
  return directory;
}

function builtDirectory({ kubernetes, etcd, controlPlane, go }: Pins, log: Log): Promise<string> {
  return builtOnce(kubernetes, controlPlane, { go, what: `Kubernetes ${kubernetes} and etcd ${etcd}` }, log);
}

/** The directory with the API server, the controllers and the kubectl of another release, built first when they are not cached. */
export async function ensureOtherKubernetes(release: OtherRelease, log: Log): Promise<string> {
  const { others, go } = await readPins();
  const { version, module } = others[release];
  return builtOnce(version, module, { go, what: `Kubernetes ${version}` }, log);
}

function builtOnce(
  version: string,
  module: GoModule,
  { go, what }: { readonly go: string; readonly what: string },
  log: Log,
): Promise<string> {
  return cached(`${version}-${process.platform}-${process.arch}-${module.digest}`, log, async directory => {
    if (!(await isGoAvailable())) {
      throw new ControlPlaneUnavailableError(
        `There is no real control plane on this machine: set KUBEBUILDER_ASSETS to a directory with kube-apiserver and etcd, or install Go ${go} or newer to build it once.`,
      );
    }
    log(`building ${what} once; this may take a quarter of an hour`);
    await buildBinaries(directory, module, log);
  });
}

async function findKarpenterCrds(pins: Pins, log: Log): Promise<string[]> {
  try {
    const directory = await cached(`karpenter-crds-${pins.karpenter}`, log, copyKarpenterCrds);
    return (await readdir(directory)).toSorted().map(file => join(directory, file));
  } catch (error) {
    if (await isGoAvailable()) throw new Error("taking Karpenter's CRDs from their Go module failed", { cause: error });
    log(`Karpenter's CRDs are left out: taking them from their Go module needs Go ${pins.go} or newer`);
    return [];
  }
}

async function reportedVersion(binary: string): Promise<string> {
  const { stdout } = await run(binary, ['--version']);
  const version = /v?(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`${binary} --version printed no version: ${stdout.trim()}`);
  return `v${version}`;
}
