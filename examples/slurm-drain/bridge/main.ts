/** The bridge as a process: in a cluster as its ServiceAccount, elsewhere with `--kubeconfig FILE`. */
import { parseArgs } from 'node:util';
import { createClusterWatch } from '../../../shared/adapters/kubernetes/cluster-watch.ts';
import { loadInCluster, loadKubeconfig } from '../../../shared/adapters/kubernetes/kubeconfig.ts';
import { createKubernetesApi } from '../../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { messageOf } from '../../../shared/errors.ts';
import { runLoop } from '../../loop.ts';
import { runPass } from './pass.ts';
import { REQUESTS } from './request.ts';
import { connectSlurm, readSettings } from './settings.ts';

/** The design's: jobs are asked for every 30 seconds. */
const PERIOD_MS = 30_000;

async function main(): Promise<void> {
  const { kubeconfig } = parseArgs({ options: { kubeconfig: { type: 'string' } } }).values;
  const { owner, namespace, slurm: access } = readSettings(process.env);
  const { options } = await (kubeconfig === undefined ? loadInCluster() : loadKubeconfig(kubeconfig));
  const transport = createTransport({ ...options, clock: systemClock, userAgent: 'slurm-bridge' });
  const slurm = connectSlurm(access);
  const ended = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => ended.abort());
  const log = (message: string, fields: Readonly<Record<string, unknown>>): void => {
    process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), message, ...fields })}\n`);
  };
  log('started', { owner, namespace, server: options.server });
  const kubernetes = createKubernetesApi(transport);
  const watch = createClusterWatch(transport);
  const pass = () => runPass({ kubernetes, slurm, clock: systemClock, owner, namespace, log });
  await runLoop({ watch, type: REQUESTS, namespace, pass, period: PERIOD_MS, log }, ended.signal);
  slurm.close();
  transport.close();
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 2;
});
