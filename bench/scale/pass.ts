/** What one pass over a pool reads: counted, not timed, so in this process, with its reads over HTTP as in production. */
import { startPoolCluster } from './cluster.ts';
import { POOL } from './objects.ts';
import { repairPorts } from '../measure/repair-ports.ts';
import { decide } from '../../functions/repair/decide.ts';
import { decideNode, judgeNode } from '../../functions/repair/node/decide.ts';
import { createPasses, FOR_POOL } from '../../functions/repair/pass-queue.ts';
import { reconcilePool } from '../../functions/repair/reconcile.ts';
import { createKubernetesApi } from '../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { createReporter } from '../../shared/lifecycle/reporter.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';

export interface PassReads {
  readonly nodes: number;
  readonly ill: number;
  /** GET requests to the API server. */
  readonly requests: number;
  readonly objectsListed: number;
  /** NodeClaims whose deletion was accepted. */
  readonly repaired: number;
}

/** One pass over `nodes` nodes of which `ill` are due: all of them blocked by the threshold, or all of them allowed. */
export async function readsOfPass(plan: { nodes: number; ill: number; allowed: boolean }): Promise<PassReads> {
  const { nodes, ill, allowed } = plan;
  let requests = 0;
  let objectsListed = 0;
  let repaired = 0;
  await using parts = new AsyncDisposableStack();
  const cluster = await startPoolCluster({ toleration: '0s', maxUnhealthy: allowed ? '100%' : '0%' }, ({ method }) => {
    if (method === 'GET') requests += 1;
  });
  parts.defer(() => cluster.close());
  for (let index = 0; index < nodes; index += 1) cluster.add(index, isIll(index, nodes, ill) ? 'Unknown' : 'True');
  cluster.core.observe(({ verb, resource }) => {
    if (verb === 'delete' && resource.kind === 'NodeClaim') repaired += 1;
  });
  const transport = createTransport({ server: cluster.url, clock: systemClock, userAgent: 'curfew-bench' });
  parts.defer(() => transport.close());
  const api = createKubernetesApi(transport);
  const kubernetes: KubernetesApi = {
    ...api,
    async list(...query) {
      const answer = await api.list(...query);
      if (answer.kind === 'there') objectsListed += answer.objects.length;
      return answer;
    },
  };
  const ports = repairPorts(kubernetes);
  const reporter = createReporter('repair', ports);
  const repairsChanged = async (): Promise<void> => undefined;
  await createPasses({ ...ports, reporter, decideNode, decide, judgeNode, repairsChanged }, reconcilePool).request(
    POOL,
    FOR_POOL,
  );
  return { nodes, ill, requests, objectsListed, repaired };
}

/** Spread evenly, so that no zone of three has more of them than another. */
export function isIll(index: number, nodes: number, ill: number): boolean {
  return Math.floor(((index + 1) * ill) / nodes) > Math.floor((index * ill) / nodes);
}
