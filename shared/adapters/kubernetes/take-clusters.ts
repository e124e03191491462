/** Clusters as client-go takes them, for the library to work with. */
import { statSync } from 'node:fs';
import type { Cluster, KubeConfig } from '@kubernetes/client-node';

export function takeClusters(config: KubeConfig): void {
  config.clusters = config.clusters.map(({ caFile, proxyUrl, ...cluster }): Cluster => ({
    ...cluster,
    // What is empty says nothing.
    ...(caFile && !isEmpty(caFile) && { caFile }),
    ...(proxyUrl && { proxyUrl }),
    // The library refuses `http:` servers unless told that no certificate is wanted, which there is not.
    ...(cluster.server.startsWith('http:') && { skipTLSVerify: true }),
  }));
}

/** One that is missing is not: that is said when it is read. */
const isEmpty = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.size === 0;
