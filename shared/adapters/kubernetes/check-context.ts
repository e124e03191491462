/** Whether a kubeconfig says what a connection needs. */
import { readFileSync } from 'node:fs';
import type { Cluster, KubeConfig } from '@kubernetes/client-node';
import { messageOf } from '../../errors.ts';

/** A failure to reach the cluster, in one line that says what to do. */
export class ClusterAccessError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message.replace(/\s+/g, ' ').trim(), options);
    this.name = 'ClusterAccessError';
  }
}

/** Throws `ClusterAccessError` for what cannot be used in the current context. */
export function checkContext(config: KubeConfig, file: string): void {
  const name = config.currentContext;
  const known = config.getContexts().map(each => each.name);
  if (known.length === 0) throw new ClusterAccessError(`${file} is no kubeconfig: it has no contexts`);
  const contexts = `it has ${known.join(', ')}`;
  if (!name) {
    throw new ClusterAccessError(`kubeconfig ${file} has no current context: choose one with --context, ${contexts}`);
  }
  if (config.getContextObject(name) === null) {
    throw new ClusterAccessError(`kubeconfig ${file} has no context ${name}: ${contexts}`);
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new ClusterAccessError(`kubeconfig ${file}: context ${name} names a cluster that the file does not have`);
  }
  const { server, proxyUrl } = cluster;
  const refuse = (what: string): never => {
    throw new ClusterAccessError(`kubeconfig ${file}: the ${what}`);
  };
  if (!/^https?:$/.test(URL.parse(server)?.protocol ?? ''))
    refuse(`server of context ${name} is ${JSON.stringify(server)}, not an https URL`);
  if (proxyUrl && !/^(https?|socks5?):$/.test(URL.parse(proxyUrl)?.protocol ?? ''))
    refuse(`proxy-url of context ${name} is ${JSON.stringify(proxyUrl)}, not a URL of http, https or socks5`);
  checkAuthority(cluster, name, refuse);
  const provider = config.getCurrentUser()?.authProvider;
  if (provider && provider.config === undefined)
    refuse(`auth-provider ${provider.name} of context ${name} has no config: use a credential plugin (exec)`);
}

/** An empty one says nothing, as with client-go: then the system says whom to trust. */
function checkAuthority({ caFile, caData }: Cluster, context: string, refuse: (what: string) => never): void {
  const what = `${caFile ? 'certificate-authority' : 'certificate-authority-data'} of context ${context}`;
  if (!caFile && !caData) return;
  const text = caFile ? readAuthority(caFile, what, refuse) : Buffer.from(caData ?? '', 'base64').toString();
  if (!text.includes('-----BEGIN')) refuse(`${what} has no certificate in PEM`);
}

function readAuthority(file: string, what: string, refuse: (what: string) => never): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    return refuse(`${what} is ${file}, which cannot be read: ${messageOf(error)}`);
  }
}
