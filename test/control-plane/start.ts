// Starts etcd, kube-apiserver and kube-controller-manager on loopback ports, for one test run.
import { request } from 'node:https';
import { join } from 'node:path';

import { type ControlPlaneBinaries, ensureControlPlaneBinaries, type Versions } from './build.ts';
import type { Log } from './cache.ts';
import { compactEtcd, restoreEtcd, snapshotOfEtcd, type EtcdSnapshot, type RestoreSettings } from './etcd.ts';
import { apiserverFlags, type ApiserverSettings, controllerManagerFlags, etcdFlags, type Layout } from './flags.ts';
import { createIdentities, type Identities, type User } from './identities.ts';
import {
  createProcessGroup,
  freePort,
  restartable,
  type ProcessGroup,
  type Restartable,
  type Running,
  waitUntil,
} from './processes.ts';

/** How to start a control plane. Everything has a default. */
export type ControlPlaneOptions = ApiserverSettings & {
  /** Users that get a bearer token. Any other user gets a client certificate when asked for. */
  readonly users?: readonly User[];
  /** The controllers to run; default `DEFAULT_CONTROLLERS`. An empty list runs no kube-controller-manager. */
  readonly controllers?: readonly string[];
  readonly controllerManagerFlags?: readonly string[];
  /** Receives progress lines; default: none. */
  readonly log?: Log;
};

/** A running control plane. */
export type ControlPlane = AsyncDisposable & {
  readonly url: string;
  readonly caPem: string;
  /** Path of a kubeconfig for a member of system:masters. */
  readonly adminKubeconfig: string;
  /** Writes a kubeconfig for any user and groups and returns its path. It is removed by stop(). */
  kubeconfigFor(user: string, groups?: readonly string[]): string;
  /** The bearer token of a user named in the option `users`. */
  tokenFor(user: string): string;
  readonly versions: Versions;
  readonly karpenterCrds: readonly string[];
  readonly kubectl?: string;
  /** Path of kube-scheduler, which does not run by itself. */
  readonly scheduler?: string;
  /** Starts a further process that ends with the control plane; it is ready when `isReady` answers true. */
  run(program: Program, isReady: () => Promise<boolean>): Promise<Running>;
  /** Path of the audit log, one JSON object a line, with the option `audit`. */
  readonly auditLog?: string;
  /** Compacts etcd to its newest revision: what is older is gone, for clients too when the watch cache is off. */
  compact(): Promise<void>;
  /** To be ended and started again. What needs it says so by itself, as in production. */
  readonly apiserver: Restartable;
  readonly etcd: Restartable;
  /** What `etcdctl snapshot save` does. */
  snapshot(): Promise<EtcdSnapshot>;
  /** What the documents of Kubernetes ask for: ends every component, gives etcd the state of the snapshot, starts them again. */
  restore(snapshot: EtcdSnapshot, settings?: RestoreSettings): Promise<void>;
  /** Ends every process and removes every file of this control plane. Safe to call again. */
  stop(): Promise<void>;
};

/** What to run beside the control plane. `env` is added to this process's own. */
export interface Program {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * What a cluster does by itself and the tests rely on. Left out on purpose: node-lifecycle, taint-eviction and
 * pod-garbage-collector, which would act on nodes and pods that have no kubelet behind them, and all workload controllers.
 */
export const DEFAULT_CONTROLLERS: readonly string[] = [
  'disruption-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'clusterrole-aggregation-controller',
  'validatingadmissionpolicy-status-controller',
];

const READY_TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 5000;
const ATTEMPTS = 3;

/** Starts a control plane and returns when it serves requests. Builds the components first when it has to. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = await ensureControlPlaneBinaries(options.log ?? (() => undefined));
  for (let attempt = 1; ; attempt += 1) {
    const group = await createProcessGroup();
    try {
      return await startIn(group, binaries, options);
    } catch (error) {
      await group.stop();
      // A port that was free when asked for may be taken when it is used; nothing else is worth another attempt.
      const isPortTaken = error instanceof Error && error.message.includes('address already in use');
      if (!isPortTaken || attempt === ATTEMPTS) throw error;
    }
  }
}

async function startIn(
  group: ProcessGroup,
  binaries: ControlPlaneBinaries,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const [etcdPort, apiserverPort, controllerManagerPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const layout: Layout = { directory: group.directory, etcdPort, apiserverPort, controllerManagerPort };
  const url = `https://127.0.0.1:${apiserverPort}`;
  const identities = createIdentities(group.directory, url, options.users ?? []);
  const adminKubeconfig = identities.kubeconfigFor(identities.admin.name, identities.admin.groups);

  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const etcd = await restartable(async () => {
    const started = group.start('etcd', binaries.etcd, etcdFlags(layout));
    const isHealthy = async (): Promise<boolean> =>
      (await fetch(`${etcdUrl}/health`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })).ok;
    await waitUntil(started, isHealthy, READY_TIMEOUT_MS);
    return started;
  });

  const flags = apiserverFlags(layout, options, binaries.versions.kubernetes);
  const answers = async (path: string): Promise<boolean> => (await adminGet(url + path, identities)) === 200;
  const apiserver = await restartable(async () => {
    const started = group.start('kube-apiserver', binaries.apiserver, flags);
    await waitUntil(started, () => answers('/readyz'), READY_TIMEOUT_MS);
    await waitUntil(started, () => answers('/api/v1/namespaces/default'), READY_TIMEOUT_MS);
    return started;
  });

  const controllers = options.controllers ?? DEFAULT_CONTROLLERS;
  const components = [etcd, apiserver];
  const { controllerManager } = binaries;
  if (controllerManager !== undefined && controllers.length > 0) {
    const managerFlags = [
      ...controllerManagerFlags(layout, controllers, adminKubeconfig),
      ...(options.controllerManagerFlags ?? []),
    ];
    const healthUrl = `https://127.0.0.1:${controllerManagerPort}/healthz`;
    const manager = await restartable(async () => {
      const started = group.start('kube-controller-manager', controllerManager, managerFlags);
      await waitUntil(started, async () => (await adminGet(healthUrl, identities)) === 200, READY_TIMEOUT_MS);
      return started;
    });
    components.push(manager);
  }

  return {
    url,
    caPem: identities.caPem,
    adminKubeconfig,
    kubeconfigFor: identities.kubeconfigFor,
    tokenFor: identities.tokenFor,
    versions: binaries.versions,
    karpenterCrds: binaries.karpenterCrds,
    ...(binaries.kubectl !== undefined && { kubectl: binaries.kubectl }),
    ...(binaries.scheduler !== undefined && { scheduler: binaries.scheduler }),
    async run({ name, file, args, env }, isReady) {
      const running = group.start(name, file, args, env);
      await waitUntil(running, isReady, READY_TIMEOUT_MS);
      return running;
    },
    ...(options.audit === true && { auditLog: join(group.directory, 'audit.log') }),
    compact: () => compactEtcd(etcdUrl),
    apiserver,
    etcd,
    snapshot: () => snapshotOfEtcd(etcdUrl, layout),
    async restore(snapshot, settings = {}) {
      for (const component of components.toReversed()) await component.kill();
      await restoreEtcd(snapshot, layout, settings);
      for (const component of components) await component.start();
    },
    stop: group.stop,
    [Symbol.asyncDispose]: group.stop,
  };
}

function adminGet(url: string, identities: Identities): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { ...identities.adminTls, agent: false, signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) };
    const outgoing = request(url, options, response => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    outgoing.on('error', reject).end();
  });
}
