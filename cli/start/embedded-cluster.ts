/** The embedded API server with Curfew's and Karpenter's CRDs, served over HTTP on loopback. */
import { randomInt } from 'node:crypto';
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { serveApiServer, type ServedApi } from '../../packages/kube-apiserver/src/http/server.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { CONFIG_MAP } from '../../shared/contract/names.ts';
import type { Clock } from '../../shared/ports/clock.ts';

export interface EmbeddedCluster extends ServedApi {
  readonly core: ApiServerCore;
}

/** Starts the server, installs the CRDs and makes Curfew's namespace. `port` 0 takes a free one. */
export async function startEmbeddedCluster(clock: Clock, port: number): Promise<EmbeddedCluster> {
  const core = createApiServer({ clock, random: () => randomInt(2 ** 32) / 2 ** 32 });
  core.seed({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONFIG_MAP.namespace } });
  for (const definition of customResourceDefinitions()) core.seed(definition);
  const served = await serveApiServer(core, { port, now: () => clock.now(), bookmarkIntervalMs: 15_000 });
  return { ...served, core };
}
