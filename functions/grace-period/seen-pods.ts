/**
 * Pods in the very state in which this process has looked at them, so that the events of a hundred pods that start on one node cost
 * a few looks and not a hundred. Only equality counts: an event of any other state is looked into. Losing the memory costs looks.
 */
import type { PodView } from '../../shared/domain/pod.ts';

/** About 100 bytes each. */
const REMEMBERED_MAX = 20_000;

export interface SeenPods {
  /** The pods were looked at in these states, and what was to be done is done. */
  remember(pods: readonly Pick<PodView, 'uid' | 'resourceVersion'>[]): void;
  has(uid: string, resourceVersion: string): boolean;
}

export function createSeenPods(max: number = REMEMBERED_MAX): SeenPods {
  const versions = new Map<string, string>();
  return {
    remember(pods) {
      for (const { uid, resourceVersion } of pods) {
        // Anew, so that the oldest comes first.
        versions.delete(uid);
        versions.set(uid, resourceVersion);
      }
      for (const uid of versions.keys()) {
        if (versions.size <= max) break;
        versions.delete(uid);
      }
    },
    has: (uid, resourceVersion) => versions.get(uid) === resourceVersion,
  };
}
