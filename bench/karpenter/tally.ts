/** When deletions of NodeClaims were accepted and Nodes were gone, as watches tell of them. */
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { ClusterWatch } from '../../shared/ports/cluster-watch.ts';
import { mirrorCluster } from '../../test/control-plane/end-to-end/remote-cluster.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';

export interface Tally {
  /** By UID of the NodeClaim. Milliseconds since the epoch. */
  readonly deletions: ReadonlyMap<string, number>;
  /** By name of the Node. */
  readonly gone: ReadonlyMap<string, number>;
  /** The NodeClaims that are there. */
  claims(): readonly KubernetesObject[];
}

export async function startTally(kubernetes: KubernetesApi, watch: ClusterWatch): Promise<Tally> {
  const deletions = new Map<string, number>();
  const gone = new Map<string, number>();
  const { api } = await mirrorCluster(kubernetes, watch, [RESOURCES.NodeClaim, RESOURCES.Node]);
  const first = (map: Map<string, number>, key: string): void => void (map.has(key) || map.set(key, Date.now()));
  api.watch(RESOURCES.NodeClaim, {}, event => {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED' && event.type !== 'DELETED') return;
    const { uid, deletionTimestamp } = event.object.metadata;
    if (event.type === 'DELETED' || deletionTimestamp !== undefined) first(deletions, uid);
  });
  api.watch(RESOURCES.Node, {}, event => {
    if (event.type === 'DELETED') first(gone, event.object.metadata.name);
  });
  return { deletions, gone, claims: () => api.list(RESOURCES.NodeClaim).items };
}
