import type { EpochMs } from '../../shared/domain/time.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';

/** A cluster to look at, and what time it is there. */
export interface ExplainedCluster {
  readonly kubernetes: KubernetesApi;
  readonly now: EpochMs;
}

export type Look<Answer> = (cluster: ExplainedCluster) => Promise<Answer>;
