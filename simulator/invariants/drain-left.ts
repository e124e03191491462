/** I7: a drain that nobody asks for any more leaves nothing of its own on the Node: no cordon, no mark. */
import type { KubernetesObject } from '../../shared/domain/kubernetes-object.ts';
import { toEpochMs, toIsoText } from '../../shared/domain/time.ts';
import { STATE_LABEL } from './drain-oracle.ts';
import type { DrainRequests } from './drain-requests.ts';
import { LONGEST_DELAY, type CheckContext } from './invariant.ts';
import { annotationOf, labelOf, nameOf } from './reading.ts';

const MARKS: readonly string[] = ['curfew.dev/cordoned-by-drain', 'curfew.dev/drain', 'curfew.dev/watch-pods'];

export function checkDrainLeft(
  { mirror, now, quietSince, lastDenial, memoryOf, violate }: CheckContext,
  requests: DrainRequests,
): () => void {
  /** By UID of the Node. */
  const since = new Map<string, number>();
  const leftOn = (node: KubernetesObject): string | undefined =>
    MARKS.find(mark => annotationOf(node, mark) !== undefined);
  return () => {
    const quiet = quietSince();
    if (quiet === undefined) return since.clear();
    for (const [uid, node] of mirror.all('nodes')) {
      const mark = leftOn(node);
      if (mark === undefined) {
        since.delete(uid);
        continue;
      }
      const isOver = labelOf(node, STATE_LABEL) === undefined && node.metadata.deletionTimestamp === undefined;
      // What a node was drained for stands in the table alone, where no annotation of the Node asks.
      const isForgotten = requests.open(node.metadata.name, 0).some(({ time }) => memoryOf(time) !== 'whole');
      if (!isOver || isForgotten || requests.open(node.metadata.name, Infinity).length > 0) {
        since.delete(uid);
        continue;
      }
      const left = Math.max(since.get(uid) ?? now(), quiet, lastDenial('nodes', node.metadata));
      since.set(uid, left);
      if (now() - left <= LONGEST_DELAY) continue;
      violate(
        'I7',
        `drain left ${mark} on ${nameOf(node)}, of which nobody asks a drain since ${toIsoText(toEpochMs(left))}`,
      );
      since.set(uid, Infinity);
    }
  };
}
