/** Missing nodes of a pool: repairs terminated them, and no node was made in their place. Pure. */
import type { PoolRecord } from '../pool-record.ts';
import type { NodeView } from '../../../shared/domain/node.ts';
import { addDuration, earliest, type EpochMs, isDue, minutes } from '../../../shared/domain/time.ts';

/** A node that was terminated counts as missing after this long. */
const REPLACED_WITHIN = minutes(15);

/**
 * Number of nodes that are gone without one that was made since their terminations began, each counted once.
 * @returns `nextMissingTime`: when the next one may be missing
 */
export function missingNodesOf(
  { terminations }: Pick<PoolRecord, 'terminations'>,
  nodes: readonly Pick<NodeView, 'uid' | 'creationTime'>[],
  now: EpochMs,
): { readonly missing: number; readonly nextMissingTime: EpochMs | undefined } {
  const made = nodes.flatMap(({ creationTime }) => creationTime ?? []).toSorted((a, b) => a - b);
  const present = new Set(nodes.map(({ uid }) => uid));
  let missing = 0;
  let nextMissingTime: EpochMs | undefined;
  for (const { time: ended, node } of terminations
    .filter(({ isReplaced }) => isReplaced !== true)
    .toSorted((a, b) => a.time - b.time)) {
    const index = made.findIndex(each => each >= ended);
    if (index >= 0) made.splice(index, 1);
    // One that is not gone, such as while its pods have time, leaves no place yet. Its end asks for the next pass.
    else if (node !== undefined && present.has(node)) continue;
    else if (isDue(now, addDuration(ended, REPLACED_WITHIN))) missing += 1;
    else nextMissingTime = earliest(nextMissingTime, addDuration(ended, REPLACED_WITHIN));
  }
  return { missing, nextMissingTime };
}
