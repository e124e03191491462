import type { EpochMs } from '../shared/domain/time.ts';
import type { KubernetesApi } from '../shared/ports/kubernetes-api.ts';

/** A cluster that a command works on, a real one or a simulated one, and what time it is there. */
export interface Cluster {
  readonly kubernetes: KubernetesApi;
  readonly now: EpochMs;
}

export type Look<Answer> = (cluster: Cluster) => Promise<Answer>;
