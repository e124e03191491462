/** Karpenter as released, with its kwok provider and kube-scheduler, beside a control plane. */
import { readFileSync, writeFileSync } from 'node:fs';
import { ensureKarpenter } from '../build.ts';
import { freePort, type Running } from '../processes.ts';
import type { ControlPlane } from '../start.ts';

/** Its name in the audit log. */
export const KARPENTER_USER = 'karpenter';
const LOOPBACK = '127.0.0.1';

export interface KarpenterSettings {
  /** Karpenter's own repair. Default: off, as it is by default. */
  readonly nodeRepair?: boolean;
  /** Default: the control plane's own address. */
  readonly server?: string;
}

/** Why there is no Karpenter to run; undefined where there is one. */
export async function missingForKarpenter({ scheduler }: { readonly scheduler?: string }): Promise<string | undefined> {
  if (scheduler === undefined) return 'KUBEBUILDER_ASSETS has no kube-scheduler';
  return (await ensureKarpenter(() => undefined)) === undefined ? 'building Karpenter needs Go' : undefined;
}

/** The definition of the kwok provider's node class, for kubectl. */
export async function kwokCrds(): Promise<readonly string[]> {
  return (await ensureKarpenter(() => undefined))?.kwokCrds ?? [];
}

/** Starts kube-scheduler, which serves nothing. */
export async function startScheduler(plane: ControlPlane): Promise<Running> {
  if (plane.scheduler === undefined) throw new Error('there is no kube-scheduler');
  const args = [
    `--kubeconfig=${plane.adminKubeconfig}`,
    '--leader-elect=false',
    `--bind-address=${LOOPBACK}`,
    '--secure-port=0',
  ];
  return plane.run({ name: 'kube-scheduler', file: plane.scheduler, args }, async () => true);
}

export interface RunningKarpenter extends Running {
  /** How often each of its controllers has looked at an object since it started, by `controller result`. */
  reconciles(): Promise<ReadonlyMap<string, number>>;
}

/** Starts Karpenter, when the CRDs are served; it may be stopped and started again with other settings. */
export async function startKarpenter(
  plane: ControlPlane,
  { nodeRepair = false, server = plane.url }: KarpenterSettings = {},
): Promise<RunningKarpenter> {
  const binaries = await ensureKarpenter(() => undefined);
  if (binaries === undefined) throw new Error('there is no Karpenter');
  const [metricsPort, healthPort] = await Promise.all([freePort(), freePort()]);
  const kubeconfig = plane.kubeconfigFor(KARPENTER_USER, ['system:masters']);
  writeFileSync(kubeconfig, readFileSync(kubeconfig, 'utf8').replace(plane.url, server));
  const env = {
    KUBECONFIG: kubeconfig,
    DISABLE_LEADER_ELECTION: 'true',
    METRICS_PORT: String(metricsPort),
    HEALTH_PROBE_PORT: String(healthPort),
    FEATURE_GATES: `NodeRepair=${nodeRepair},StaticCapacity=true`,
    // A pod that waits is given a node at once.
    BATCH_IDLE_DURATION: '100ms',
  };
  const isReady = async (): Promise<boolean> => (await fetch(`http://${LOOPBACK}:${healthPort}/readyz`)).ok;
  const running = await plane.run({ name: 'karpenter', file: binaries.karpenter, args: [], env }, isReady);
  const reconciles = async (): Promise<ReadonlyMap<string, number>> => {
    const text = await (await fetch(`http://${LOOPBACK}:${metricsPort}/metrics`)).text();
    const counters = text.matchAll(
      /^controller_runtime_reconcile_total\{controller="([^"]+)",result="([^"]+)"\} (\d+)/gm,
    );
    return new Map([...counters].map(([, controller, result, count]) => [`${controller} ${result}`, Number(count)]));
  };
  return { ...running, reconciles };
}
