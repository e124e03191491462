import type { EpochMs } from '../shared/domain/time.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';
import type { RecordStore } from '../shared/ports/record-store.ts';

/** A cluster that a command works on, a real one or a simulated one, and what time it is there. */
export interface Cluster {
  readonly kubernetes: KubernetesApi;
  readonly now: EpochMs;
  /** The records of Curfew's functions; undefined: they are not read. */
  readonly records?: Pick<RecordStore, 'get'> | undefined;
}

export type ClusterQuery<Answer> = (cluster: Cluster) => Promise<Answer>;
