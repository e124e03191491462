/**
 * Connects to a cluster by a kubeconfig, or from inside a pod: for the forwarder and the command line only. It loads
 * `@kubernetes/client-node` for its reading of kubeconfigs (credential plugins, tokens, certificates), which no
 * function may carry.
 */
import { X509Certificate } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { messageOf, RetryableError } from '../../errors.ts';
import { adviceOn } from './access-advice.ts';
import { parseApiFailure } from './api-failure.ts';
import { checkContext, ClusterAccessError } from './check-context.ts';
import { takeExecPlugins } from './exec-plugin.ts';
import { impersonationOf } from './impersonation.ts';
import { takeClusters } from './take-clusters.ts';
import { takeTokenFiles } from './token-file.ts';
import { versionIn } from './server-version.ts';
import type { Authenticator, Transport, TransportOptions } from './transport.ts';

export { ClusterAccessError };

export interface ClusterAccess {
  readonly context: string;
  /** `proxy-url` of the cluster. */
  readonly proxy: string | undefined;
  /** For `createTransport`. */
  readonly options: Pick<TransportOptions, 'server' | 'authenticator' | 'tls' | 'agent'>;
}

/**
 * Reads a kubeconfig file. Runs its credential plugin, if the context has one. Throws `ClusterAccessError`.
 * @param context default: the file's current context
 * @param onWait what it waits for, when that takes long
 */
export async function loadKubeconfig(
  file: string,
  context?: string,
  onWait?: (what: string) => void,
): Promise<ClusterAccess> {
  const load = (): KubeConfig => {
    const config = new KubeConfig();
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
      throw new ClusterAccessError(`kubeconfig ${file} is a folder: give the path of a file with --kubeconfig`);
    }
    try {
      config.loadFromFile(file);
    } catch (error) {
      throw new ClusterAccessError(
        existsSync(file)
          ? `kubeconfig ${file} cannot be read: ${messageOf(error).split('\n')[0] ?? ''}`
          : `kubeconfig ${file} does not exist: give the path of one with --kubeconfig`,
        { cause: error },
      );
    }
    takeClusters(config);
    takeExecPlugins(config, file, onWait);
    takeTokenFiles(config, file);
    config.setCurrentContext(context ?? config.currentContext);
    return config;
  };
  const config = load();
  checkContext(config, file);
  const user = config.getCurrentUser();
  return access(load, config, user === null ? {} : impersonationOf(file, user));
}

/** The API server of the cluster that this process runs in, with the service account of its pod. Throws `ClusterAccessError`. */
export async function loadInCluster(): Promise<ClusterAccess> {
  if (!process.env['KUBERNETES_SERVICE_HOST']) {
    throw new ClusterAccessError('not inside a cluster (KUBERNETES_SERVICE_HOST is not set): give a kubeconfig');
  }
  const load = (): KubeConfig => {
    const config = new KubeConfig();
    config.loadFromCluster();
    takeClusters(config);
    return config;
  };
  return access(load, load());
}

/** The server's version, which anybody may ask for. Throws `ClusterAccessError` when it does not answer or does not know us. */
export async function checkReachable(
  transport: Transport,
  { options, context, proxy }: ClusterAccess,
): Promise<string> {
  const where = `${options.server} (context ${context}${proxy === undefined ? '' : `, through the proxy ${proxy}`})`;
  try {
    const answer = await transport.request({ method: 'GET', path: '/version', doing: 'asking for the version' });
    if (answer.status === 200) {
      const version = versionIn(answer.body);
      if (version !== undefined) return version;
      throw new ClusterAccessError(`${where} is no Kubernetes API server: check the address in the kubeconfig`);
    }
    const { message } = parseApiFailure(answer.status, answer.body);
    const advice = answer.status === 401 ? adviceOnCredentials(options) : 'check the address in the kubeconfig';
    throw new ClusterAccessError(`${where} answered ${answer.status} ${message}: ${advice}`);
  } catch (error) {
    if (error instanceof ClusterAccessError) throw error;
    const why =
      error instanceof RetryableError && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
    throw new ClusterAccessError(
      `${where} cannot be reached: ${why.trim().replace(/:$/, '')}${adviceOn(error, proxy)}`,
      {
        cause: error,
      },
    );
  }
}

/** A client certificate that has expired is refused without a word about it. */
function adviceOnCredentials({ tls }: ClusterAccess['options']): string {
  const [cert] = [tls?.cert].flat();
  const expiry = cert === undefined ? undefined : new X509Certificate(cert).validToDate;
  if (expiry === undefined || expiry.getTime() > Date.now()) return 'check the credentials in the kubeconfig';
  return `the client certificate in the kubeconfig expired at ${expiry.toISOString()}, renew it`;
}

async function access(
  load: () => KubeConfig,
  loaded: KubeConfig,
  impersonation: Readonly<Record<string, readonly string[]>> = {},
): Promise<ClusterAccess> {
  let config = loaded;
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new ClusterAccessError('no cluster is configured');
  let options: RequestOptions;
  try {
    options = await optionsOf(config);
  } catch (error) {
    throw new ClusterAccessError(`cannot get credentials for context ${config.currentContext}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const authenticator: Authenticator = {
    async headers() {
      try {
        return { ...headersIn(await optionsOf(config)), ...impersonation };
      } catch (error) {
        throw new RetryableError(`getting credentials: ${messageOf(error)}`, { cause: error, reason: 'Credentials' });
      }
    },
    invalidate() {
      // A fresh one has cached no credential.
      config = load();
    },
  };
  // Client certificates are read once: a plugin that rotates them needs a restart.
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  return {
    context: config.currentContext,
    proxy: cluster.proxyUrl,
    options: {
      server: cluster.server,
      authenticator,
      tls: {
        ...(ca === undefined ? {} : { ca }),
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
        ...(servername === undefined ? {} : { servername }),
        ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
      },
      // Only a proxy needs the library's agent; it keeps no connections.
      ...(cluster.proxyUrl !== undefined && typeof options.agent === 'object' ? { agent: options.agent } : {}),
    },
  };
}

async function optionsOf(config: KubeConfig): Promise<RequestOptions> {
  const options: RequestOptions = { headers: {} };
  await config.applyToHTTPSOptions(options);
  return options;
}

function headersIn({ headers = {}, auth }: RequestOptions): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') found[name.toLowerCase()] = value;
  }
  if (typeof auth === 'string') found['authorization'] = `Basic ${Buffer.from(auth).toString('base64')}`;
  return found;
}
