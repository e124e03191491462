/** An API server with one pool on it. */
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { serveApiServer, type RequestLogEntry, type ServedApi } from '../../packages/kube-apiserver/src/http/server.ts';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { EpochMs } from '../../shared/domain/time.ts';
import { customResourceDefinitions } from '../../simulator/custom-resource-definitions.ts';
import { claimFor, nameOf, nodeFor, settingsObjects, statusOf, type PoolRules } from './objects.ts';

export interface PoolCluster extends ServedApi {
  readonly core: ApiServerCore;
  /** Makes a node and its NodeClaim. */
  add(index: number, ready?: 'True' | 'Unknown'): void;
  /** Its node is ill since then. */
  breakNode(index: number, since: EpochMs): void;
  /** Ends it as Karpenter does: Node and NodeClaim are gone. */
  remove(index: number): void;
}

/** Watches keep so many events, so that a burst is no reason to list again. */
const WATCH_HISTORY = 50_000;
const USER = 'bench';

export async function startPoolCluster(
  rules: PoolRules,
  onRequest: (request: RequestLogEntry) => void,
): Promise<PoolCluster> {
  const core = createApiServer({ clock: systemClock, random: Math.random, watchHistory: WATCH_HISTORY });
  for (const definition of customResourceDefinitions()) core.seed(definition);
  for (const manifest of settingsObjects(rules)) core.seed(manifest);
  const served = await serveApiServer(core, { now: () => systemClock.now(), log: onRequest });
  return {
    ...served,
    core,
    add(index, ready) {
      const { metadata } = core.seed(claimFor(index));
      core.seed(nodeFor(index, metadata.uid, ready));
    },
    breakNode(index, since) {
      const patch = { type: 'merge', body: { status: statusOf('Unknown', since) } } as const;
      core.patch({ type: RESOURCES.Node, name: nameOf(index) }, patch, { user: USER, subresource: 'status' });
    },
    remove(index) {
      const name = nameOf(index);
      core.delete({ type: RESOURCES.Node, name }, { user: USER });
      const claim = { type: RESOURCES.NodeClaim, name };
      core.delete(claim, { user: USER });
      core.patch(claim, { type: 'merge', body: { metadata: { finalizers: null } } }, { user: USER });
    },
  };
}
