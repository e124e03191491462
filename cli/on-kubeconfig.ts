/** A cluster as a kubeconfig describes it. LoadedRecord only when it is needed: reading kubeconfigs costs half a second. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ClusterAccessError, checkReachable, loadKubeconfig } from '../shared/adapters/kubernetes/kubeconfig.ts';
import { createKubernetesApi } from '../shared/adapters/kubernetes/kubernetes-api.ts';
import { warningOn } from '../shared/adapters/kubernetes/server-version.ts';
import { createTransport, type Transport } from '../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../shared/adapters/system-clock.ts';
import type { Cluster } from './cluster.ts';
import { PROCESS_OUTPUT } from './command-output.ts';
import { chooseKubeconfig } from './kubeconfig-files.ts';
import { UsageError } from './usage-error.ts';

/** On the standard error: the standard output is the answer. */
const sayWait = (what: string): void => PROCESS_OUTPUT.error(`waiting for ${what}\n`);

/** Throws `UsageError` when the cluster cannot be reached. */
export async function onKubeconfig<Answer>(
  { kubeconfig, context }: { readonly kubeconfig?: string; readonly context?: string },
  look: (cluster: Cluster, transport: Transport) => Promise<Answer>,
): Promise<Answer> {
  const chosen =
    kubeconfig === undefined
      ? chooseKubeconfig(process.env['KUBECONFIG'] || join(homedir(), '.kube', 'config'), context)
      : { file: kubeconfig, context };
  try {
    const access = await loadKubeconfig(chosen.file, chosen.context, sayWait);
    const transport = createTransport({ ...access.options, clock: systemClock, userAgent: 'curfew-cli' });
    try {
      const warning = warningOn(await checkReachable(transport, access));
      if (warning !== undefined) PROCESS_OUTPUT.error(`${warning}\n`);
      return await look({ kubernetes: createKubernetesApi(transport), now: systemClock.now() }, transport);
    } finally {
      transport.close();
    }
  } catch (error) {
    if (error instanceof ClusterAccessError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
