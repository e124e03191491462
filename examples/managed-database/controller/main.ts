/** The controller as a process: in a cluster, or with `KUBECONFIG`. `DATABASE_URL` names the server. */
import { createClusterWatch } from '../../../shared/adapters/kubernetes/cluster-watch.ts';
import { loadInCluster, loadKubeconfig } from '../../../shared/adapters/kubernetes/kubeconfig.ts';
import { createKubernetesApi } from '../../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { createDatabaseServer } from '../database-server.ts';
import { runController } from './controller.ts';

const { DATABASE_URL: url, KUBECONFIG: kubeconfig } = process.env;
if (url === undefined) throw new Error('DATABASE_URL is not set');
const { options } = await (kubeconfig === undefined ? loadInCluster() : loadKubeconfig(kubeconfig, undefined));
const transport = createTransport({ ...options, clock: systemClock, userAgent: 'managed-database' });
const end = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort(new Error(signal)));
await runController(
  {
    kubernetes: createKubernetesApi(transport),
    watch: createClusterWatch(transport),
    server: createDatabaseServer(url),
    address: new URL(url).host,
    clock: systemClock,
    log: message => void process.stdout.write(`${message}\n`),
  },
  end.signal,
);
