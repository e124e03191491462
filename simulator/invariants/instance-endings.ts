/** Which instances repair has had ended in their Auto Scaling groups, told from its calls: their Nodes are going, though nothing on them says so. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import type { CheckContext, PortCall } from './invariant.ts';
import { type ActSeen, wasDone } from './ladder-acts.ts';

export interface InstanceEndings {
  note(act: ActSeen, call: PortCall): void;
  /** Since when the instance is being ended, as repair remembers for certain; ms. */
  readonly endedSince: (node: KubernetesObject) => number | undefined;
  /** It was asked for, and whether repair knows that it was done cannot be told. */
  isUnclear(node: KubernetesObject): boolean;
}

export function createInstanceEndings({
  mirror,
  memoryOf,
}: Pick<CheckContext, 'mirror' | 'memoryOf'>): InstanceEndings {
  /** By UID of the node: the first call that was not refused. */
  const endings = new Map<string, PortCall>();
  mirror.follow((resource, uid, object) => {
    if (resource === 'nodes' && object === undefined) endings.delete(uid);
  });
  const isKnown = (call: PortCall): boolean => wasDone(call) && memoryOf(call.time) === 'whole';
  return {
    note({ kind, node: { metadata } }, call) {
      const before = endings.get(metadata.uid);
      if (kind !== 'Terminate' || call.port !== 'instances' || (before !== undefined && wasDone(before))) return;
      endings.set(metadata.uid, call);
    },
    endedSince({ metadata }) {
      const call = endings.get(metadata.uid);
      return call !== undefined && isKnown(call) ? call.time : undefined;
    },
    isUnclear({ metadata }) {
      const call = endings.get(metadata.uid);
      return call !== undefined && !isKnown(call);
    },
  };
}
