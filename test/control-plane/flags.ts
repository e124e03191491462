// The command lines of the three components.
import { join } from 'node:path';

/** What all command lines need to know of one control plane. */
export type Layout = {
  /** Holds the files that the flags name: ca.crt, serving.crt and .key, service-accounts.key, tokens.csv. */
  readonly directory: string;
  readonly etcdPort: number;
  readonly apiserverPort: number;
  readonly controllerManagerPort: number;
};

/** The settings of the API server that a test may change. */
export type ApiserverSettings = {
  /** Off: every list and watch reads etcd, so that a compaction shows at once. Default on. */
  readonly watchCache?: boolean;
  /** How often the API server compacts etcd, as a Go duration; "0" is never. Default: the release's, 5m. */
  readonly etcdCompactionInterval?: string;
  /** Records who did what in `ControlPlane.auditLog`. Default off. */
  readonly audit?: boolean;
  /**
   * Admission plugins to do without. Default: ServiceAccount, which refuses a pod until a controller has made its
   * account, and TaintNodesByCondition, whose not-ready taint waits for the node-lifecycle controller to take it off.
   */
  readonly disabledAdmissionPlugins?: readonly string[];
  /** Further flags, given last. */
  readonly apiserverFlags?: readonly string[];
};

const LOOPBACK = '127.0.0.1';
/** Given to Services, used by nothing: the range that RFC 5737 keeps for documentation. */
const SERVICE_ADDRESSES = '192.0.2.0/24';
const DEFAULT_DISABLED_ADMISSION_PLUGINS = ['ServiceAccount', 'TaintNodesByCondition'];

/** Where etcd keeps its data. */
export const etcdDataDirectory = ({ directory }: Pick<Layout, 'directory'>): string => join(directory, 'etcd');

/** etcd on temporary data, which need not survive a power cut. */
export function etcdFlags(layout: Layout): string[] {
  const clientUrl = `http://${LOOPBACK}:${layout.etcdPort}`;
  return [
    `--data-dir=${etcdDataDirectory(layout)}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=http://${LOOPBACK}:0`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

/** kube-apiserver with RBAC, and with the admission policies that `kubernetes` (its version) has. */
export function apiserverFlags(layout: Layout, settings: ApiserverSettings, kubernetes: string): string[] {
  const file = (name: string): string => join(layout.directory, name);
  const disabled = settings.disabledAdmissionPlugins ?? DEFAULT_DISABLED_ADMISSION_PLUGINS;
  const flags = [
    `--etcd-servers=http://${LOOPBACK}:${layout.etcdPort}`,
    `--bind-address=${LOOPBACK}`,
    `--advertise-address=${LOOPBACK}`,
    `--secure-port=${layout.apiserverPort}`,
    `--service-cluster-ip-range=${SERVICE_ADDRESSES}`,
    '--endpoint-reconciler-type=none',
    '--authorization-mode=RBAC',
    '--allow-privileged',
    '--profiling=false',
    `--cert-dir=${layout.directory}`,
    `--tls-cert-file=${file('serving.crt')}`,
    `--tls-private-key-file=${file('serving.key')}`,
    `--client-ca-file=${file('ca.crt')}`,
    `--token-auth-file=${file('tokens.csv')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('service-accounts.key')}`,
    `--service-account-signing-key-file=${file('service-accounts.key')}`,
    ...admissionPolicyFlags(kubernetes),
  ];
  if (disabled.length > 0) flags.push(`--disable-admission-plugins=${disabled.join(',')}`);
  if (settings.watchCache === false) flags.push('--watch-cache=false');
  if (settings.etcdCompactionInterval !== undefined) {
    flags.push(`--etcd-compaction-interval=${settings.etcdCompactionInterval}`);
  }
  if (settings.audit === true) {
    flags.push(`--audit-policy-file=${file('audit-policy.yaml')}`, `--audit-log-path=${file('audit.log')}`);
  }
  return [...flags, ...(settings.apiserverFlags ?? [])];
}

/** kube-controller-manager with exactly the given controllers. */
export function controllerManagerFlags(layout: Layout, controllers: readonly string[], kubeconfig: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${controllers.join(',')}`,
    '--leader-elect=false',
    `--bind-address=${LOOPBACK}`,
    `--secure-port=${layout.controllerManagerPort}`,
    `--tls-cert-file=${join(layout.directory, 'serving.crt')}`,
    `--tls-private-key-file=${join(layout.directory, 'serving.key')}`,
    '--profiling=false',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
    `--root-ca-file=${join(layout.directory, 'ca.crt')}`,
    `--service-account-private-key-file=${join(layout.directory, 'service-accounts.key')}`,
  ];
}

/** ValidatingAdmissionPolicy is on in every supported release; MutatingAdmissionPolicy is v1 and on since 1.36. */
function admissionPolicyFlags(kubernetes: string): string[] {
  const minor = minorOf(kubernetes);
  if (minor < 34) return [];
  const served = '--runtime-config=admissionregistration.k8s.io/v1beta1=true';
  return minor < 36 ? [served, '--feature-gates=MutatingAdmissionPolicy=true'] : [served];
}

/** 36 of `v1.36.3`. */
export function minorOf(kubernetes: string): number {
  return Number(/^v1\.(\d+)/.exec(kubernetes)?.[1] ?? 0);
}
