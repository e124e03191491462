/** The API servers of the react bench, as the bench sees them: it breaks nodes and watches what becomes of their NodeClaims. */
import { spawnSync } from 'node:child_process';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { serveApiServer, type RequestLogEntry } from '../../packages/kube-apiserver/src/http/server.ts';
import { kubeconfigFor } from '../../packages/kube-apiserver/src/http/kubeconfig.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { createInProcessClusterWatch } from '../../runtime/in-process/cluster-watch.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import { createRealScheduler } from '../../runtime/real-scheduler.ts';
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { loadKubeconfig } from '../../shared/adapters/kubernetes/kubeconfig.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import type { ClusterWatch } from '../../shared/ports/cluster-watch.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { startControlPlane } from '../../test/control-plane/start.ts';
import { startProxy } from './proxy.ts';

export interface BenchCluster {
  /** Plain HTTP, for all who react. */
  readonly url: string;
  readonly kubeconfig: string;
  readonly kubernetes: KubernetesApi;
  readonly watch: ClusterWatch;
}

/** `onRequest` hears of every request that is answered. */
export async function startEmbeddedCluster(onRequest: (request: RequestLogEntry) => void): Promise<BenchCluster> {
  const core = createApiServer({ clock: systemClock, random: Math.random });
  for (const definition of customResourceDefinitions()) core.seed(definition);
  const served = await serveApiServer(core, { now: () => systemClock.now(), log: onRequest });
  return {
    url: served.url,
    kubeconfig: served.kubeconfig(),
    kubernetes: createInProcessKubernetesApi(core, 'bench'),
    watch: createInProcessClusterWatch(core, createRealScheduler()),
  };
}

/**
 * A real control plane. The functions know no way to prove who they are but EKS's, so all who react go through a proxy that is the
 * administrator, which costs all of them the same.
 */
export async function startRealCluster(): Promise<BenchCluster> {
  const controlPlane = await startControlPlane();
  const kubectl = (...args: readonly string[]): void => {
    const run = spawnSync(controlPlane.kubectl ?? 'kubectl', ['--kubeconfig', controlPlane.adminKubeconfig, ...args], {
      encoding: 'utf8',
    });
    if (run.status !== 0) throw new Error(`kubectl ${args[0]} failed: ${run.stderr}`);
  };
  kubectl('apply', '--server-side', ...controlPlane.karpenterCrds.flatMap(file => ['-f', file]));
  kubectl('apply', '--server-side', '-f', 'deploy/crds');
  kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  const { options } = await loadKubeconfig(controlPlane.adminKubeconfig);
  const transport = createTransport({ ...options, clock: systemClock, userAgent: 'curfew-bench' });
  const url = await startProxy(options);
  return {
    url,
    kubeconfig: kubeconfigFor(url),
    kubernetes: createKubernetesApi(transport),
    watch: createClusterWatch(transport),
  };
}
