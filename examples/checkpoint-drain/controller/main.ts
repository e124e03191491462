/** The controller as a process: in a cluster as its ServiceAccount, elsewhere with `--kubeconfig FILE`. */
import { parseArgs } from 'node:util';
import { createClusterWatch } from '../../../shared/adapters/kubernetes/cluster-watch.ts';
import { loadInCluster, loadKubeconfig } from '../../../shared/adapters/kubernetes/kubeconfig.ts';
import { createKubernetesApi } from '../../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { messageOf } from '../../../shared/errors.ts';
import { runLoop } from '../../loop.ts';
import { REQUESTS, runPass } from './pass.ts';

const PERIOD_MS = 5_000;

async function main(): Promise<void> {
  const { kubeconfig } = parseArgs({ options: { kubeconfig: { type: 'string' } } }).values;
  const { options } = await (kubeconfig === undefined ? loadInCluster() : loadKubeconfig(kubeconfig));
  const transport = createTransport({ ...options, clock: systemClock, userAgent: 'checkpoint-controller' });
  const deps = { kubernetes: createKubernetesApi(transport), clock: systemClock, namespace: 'checkpoint' };
  const ended = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => ended.abort());
  const log = (message: string, fields: object): void =>
    void process.stdout.write(`${JSON.stringify({ message, ...fields })}\n`);
  log('started', { server: options.server });
  const watch = createClusterWatch(transport);
  await runLoop(
    { watch, type: REQUESTS, namespace: deps.namespace, pass: () => runPass(deps), period: PERIOD_MS, log },
    ended.signal,
  );
  transport.close();
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 2;
});
